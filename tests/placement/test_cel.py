"""CEL expressions: values, errors, costs, and refusals of the checker."""

from __future__ import annotations

import pytest

from kalypso_placement.cel import CelExpressions, ExpressionError, UnsupportedExpressionError
from kalypso_placement.cel.values import UInt
from tests.placement.hubs import cluster, read, score

pytest.importorskip("cel_expr_python", reason="the extra placement is not installed")

FLEET = read(
    cluster("c1", {"env": "prod", "n": "5"}, cpu="3500m", claims={"json": '{"count": 12}'}),
    score("load", "c1", cpu=90),
)
C1 = FLEET.clusters[0]


def matches(expression: str) -> bool:
    return CelExpressions(FLEET.hub()).matcher([expression])(C1)


@pytest.mark.parametrize(
    "expression",
    [
        'managedCluster.metadata.labels.env == "prod"',
        '"env" in managedCluster.metadata.labels && !has(managedCluster.metadata.labels.tier)',
        'managedCluster.metadata.labels.nope == "x" || true',
        '!(managedCluster.metadata.labels.nope == "x" && false)',
        "int(managedCluster.metadata.labels.n) == 5",
        "managedCluster.metadata.labels.n != 5",
        "-7 / 2 == -3 && -7 % 3 == -1 && 7u / 2u == 3u",
        "string(1234567.0) == '1.234567e+06' && string(true) == 'true'",
        "[1, 2, 3].map(x, x * 2).filter(y, y > 2).exists_one(z, z == 4)",
        "{'a': 1, 'b': 2} == {'b': 2, 'a': 1} && [1, [2]] == [1, [2]]",
        "{true: 1, 1: 2}[true] == 1",
        "managedCluster.metadata.?labels.?tier.orValue('none') == 'none'",
        "optional.of(2).optMap(x, x + 1).value() == 3",
        "[1, 2].first().value() == 1 && ![].last().hasValue()",
        "quantity(managedCluster.status.allocatable.cpu).isLessThan(quantity('4'))",
        "quantity('1500m').add(quantity('500m')).compareTo(quantity('2')) == 0",
        "semver('1.30.0-rc.1').isLessThan(semver('1.30.0')) && !isSemver('v1.30.0')",
        "url('https://u:p@h.example:81/a%20b?k=1&k=2').getQuery()['k'] == ['1', '2']",
        "string(ip('::ffff')) == '::ffff' && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "format.dns1123Label().validate('My_name').hasValue()",
        "'hello'.substring(1, 3) == 'el' && 'a,b'.split(',').join('-') == 'a-b'",
        "'%s is %d, %.2f'.format(['x', 7, 1.5]) == 'x is 7, 1.50'",
        "'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "timestamp('2026-01-01T05:00:00Z').getHours('+01:00') == 6",
        "timestamp('2026-01-01T00:00:00Z') + duration('24h') == timestamp('2026-01-02T00:00:00Z')",
        "managedCluster.scores('load').exists(s, s.name == 'cpu' && s.value > 80)",
        "managedCluster.status.clusterClaims.exists(c, c.value.parseJSON().count == 12)",
        "has(managedCluster.status.conditions) && managedCluster.status.conditions == null",
        "!has(managedCluster.kind) && managedCluster.spec.hubAcceptsClient == false",
        "size('héé') == 3 && size(b'héé') == 5",
    ],
)
def test_matches(expression: str) -> None:
    assert matches(expression)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("managedCluster.metadata.labels.nope != 'x'", id="missing-key"),
        pytest.param("1 / 0 == 1", id="division-by-zero"),
        pytest.param("9223372036854775807 + 1 > 0", id="overflow"),
        pytest.param("managedCluster.metadata.labels.n > 3", id="text-against-number"),
        pytest.param("managedCluster.metadata.name", id="no-boolean"),
        pytest.param("managedCluster.metadata.name.matches('[')", id="invalid-pattern"),
        pytest.param("managedCluster.scores('nope').all(s, true)", id="no-scores"),
        pytest.param("'x'.parseJSON() == null", id="no-json"),
    ],
)
def test_an_expression_without_a_value_does_not_match(expression: str) -> None:
    assert not matches(expression)


@pytest.mark.parametrize(
    "expression",
    ["", "nope(", "a = b", "object.metadata.name == 'c1'", "1 < 2.5", "1 == '1'", "now > now",
     "cel.bind(x, 1, x == 1)", "math.greatest(1, 2) == 2", "[1].indexOf('a') == 0",
     "quantity('1').sign() == 1", "managedCluster.scores(1).size() > 0"],
)  # fmt: skip
def test_an_ill_typed_expression_does_not_compile(expression: str) -> None:
    with pytest.raises(ExpressionError):
        matches(expression)


def test_too_costly_an_expression_does_not_match() -> None:
    numbers = f"[{', '.join(map(str, range(60)))}]"
    assert matches(f"{numbers}.all(a, {numbers}.all(b, a + b >= 0))")
    assert not matches(f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c >= 0)))")


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("[[1]]" + ".map(a, a + a)" * 24 + ".size() > 0", id="lists"),
        pytest.param("[[1]]" + ".map(a, [a, a])" * 24 + ".all(a, a == a)", id="nested"),
        pytest.param("[{1: 1}]" + ".map(a, {1: a, 2: a})" * 24 + " == []", id="maps"),
        pytest.param("[['a', 'b']]" + ".map(a, [a.join(), a.join()])" * 24 + " == []", id="join"),
        pytest.param("['a']" + ".map(a, '%s%s'.format([a, a]))" * 24 + " == []", id="format"),
        pytest.param("['a']" + ".map(a, a.replace('', 'aaaa'))" * 12 + " == []", id="replace"),
        pytest.param("'%.2000000000f'.format([1.0]) == ''", id="precision"),
        pytest.param("'%.99999999999999999999f'.format([1.0]) == ''", id="long precision"),
        pytest.param(
            "[[1]]" + ".map(a, [a, a])" * 14 + f".all(a, {list(range(99))}.all(b, a == a))",
            id="work",
        ),
    ],
)
def test_an_expression_beyond_the_bounds_is_an_error(expression: str) -> None:
    with pytest.raises(UnsupportedExpressionError, match="too large"):
        matches(f"false || {expression}")


def test_all_expressions_of_a_fleet_have_a_budget() -> None:
    """A different expression for each Placement, and many clusters: the same one fails each time."""
    numbers = f"[{', '.join(map(str, range(30)))}]"
    for _ in range(2):
        expressions = CelExpressions(FLEET.hub(), budget=1_000)
        for number in range(1_000):  # ordinary expressions cost nothing, however many there are
            assert expressions.matcher([f"managedCluster.metadata.name != 'd{number}'"])(C1)
        with pytest.raises(
            UnsupportedExpressionError, match="more than 1,000 beyond 100"
        ) as caught:
            expressions.matcher([f"{numbers}.all(a, {numbers}.all(b, a + b >= 0))"])(C1)
        assert str(caught.value).startswith("1001 CEL expressions of Placements cost too much for")


def test_an_unsupported_expression_is_an_error() -> None:
    with pytest.raises(UnsupportedExpressionError, match="existsOne"):
        matches("[1].existsOne(x, x == 1)")
    with pytest.raises(UnsupportedExpressionError, match="32 levels"):
        matches(" + ".join(["1"] * 40) + " > 0")
    assert matches(" || ".join(["false"] * 200 + ["true"]))  # these are balanced


def test_uint_is_a_type_of_its_own() -> None:
    assert matches("uint(3) == 3u && type(3u) != type(3)")
    assert isinstance(UInt(3), int)
