"""Kubernetes' LabelSelector: validation, matching and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.scheduling import RequirementMatch, compile_selector
from tests.builders import selector

LABELS = {"size": "large", "edge": "", "region": "west"}


def matches(
    labels: Mapping[str, str], *expressions: tuple[str, str, Sequence[str]], **pairs: str
) -> bool:
    compiled, problems = compile_selector(selector(*expressions, **pairs), "policy")
    assert not problems
    assert compiled is not None
    return compiled.matches(labels)


@pytest.mark.parametrize(
    ("expressions", "pairs", "expected"),
    [
        pytest.param([], {}, True, id="empty matches everything"),
        pytest.param([], {"size": "large"}, True, id="equal"),
        pytest.param([], {"size": "small"}, False, id="other value"),
        pytest.param([], {"absent": ""}, False, id="empty value does not match an absent key"),
        pytest.param([], {"edge": ""}, True, id="empty value matches an empty label"),
        pytest.param([], {"size": "large", "region": "east"}, False, id="all pairs must match"),
        pytest.param([("size", "In", ["small", "large"])], {}, True, id="In"),
        pytest.param([("absent", "In", ["x"])], {}, False, id="In, absent"),
        pytest.param([("size", "NotIn", ["large"])], {}, False, id="NotIn"),
        pytest.param([("absent", "NotIn", ["x"])], {}, True, id="NotIn matches an absent key"),
        pytest.param([("edge", "Exists", [])], {}, True, id="Exists, empty value"),
        pytest.param([("absent", "Exists", [])], {}, False, id="Exists, absent"),
        pytest.param([("absent", "DoesNotExist", [])], {}, True, id="DoesNotExist"),
        pytest.param([("edge", "DoesNotExist", [])], {}, False, id="DoesNotExist, present"),
        pytest.param([("size", "Exists", [])], {"region": "west"}, True, id="both kinds"),
        pytest.param([("size", "DoesNotExist", [])], {"region": "west"}, False, id="one fails"),
    ],
)
def test_matches(
    expressions: list[tuple[str, str, list[str]]], pairs: dict[str, str], expected: bool
) -> None:
    assert matches(LABELS, *expressions, **pairs) is expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (("size", "in", ["x"]), "'in' is not a selector operator"),
        (("size", "In", []), "In on 'size' needs at least one value"),
        (("size", "NotIn", []), "NotIn on 'size' needs at least one value"),
        (("size", "Exists", ["x"]), "Exists on 'size' takes no values"),
        (("size", "DoesNotExist", ["x"]), "DoesNotExist on 'size' takes no values"),
        (("-size", "Exists", []), "the label key '-size' may hold letters"),
        (("UPPER.example/size", "Exists", []), "has a prefix that may hold lower-case letters"),
        (("example.com/", "Exists", []), "the label key 'example.com/' has no name part"),
        (("k" * 64, "Exists", []), "has a name part of 64 characters, at most 63"),
        (("size", "In", ["not a value"]), "the value 'not a value' for label 'size' may hold"),
        (("size", "In", ["v" * 64]), "has 64 characters, at most 63 are allowed"),
    ],
)
def test_refused(expression: tuple[str, str, list[str]], message: str) -> None:
    compiled, problems = compile_selector(selector(expression), "SchedulingPolicy 'p': side")
    assert compiled is None
    assert len(problems) == 1
    assert problems[0].message.startswith("SchedulingPolicy 'p': side: ")
    assert message in problems[0].message


def test_all_faults_are_reported() -> None:
    _, problems = compile_selector(selector(("a", "Is", []), ("b", "In", []), **{"c-": "x"}), "p")
    assert len(problems) == 3


def test_reasons() -> None:
    compiled, _ = compile_selector(
        selector(
            ("region", "NotIn", ["west", "east"]),
            ("gpu", "Exists", []),
            ("size", "DoesNotExist", []),
            size="large",
        ),
        "p",
    )
    assert compiled is not None
    assert compiled.explain(LABELS) == (
        RequirementMatch("size = large", "large", matched=True),
        RequirementMatch("region not in (east, west)", "west", matched=False),
        RequirementMatch("gpu exists", None, matched=False),
        RequirementMatch("no label size", "large", matched=False),
    )


def documented(
    labels: Mapping[str, str],
    pairs: Mapping[str, str],
    expressions: Sequence[tuple[str, str, Sequence[str]]],
) -> bool:
    """Match as the Kubernetes documentation says, sentence by sentence."""
    for key, value in pairs.items():
        if key not in labels or labels[key] != value:
            return False
    for key, operator, values in expressions:
        if operator == "In" and not (key in labels and any(labels[key] == v for v in values)):
            return False
        if operator == "NotIn" and key in labels and any(labels[key] == v for v in values):
            return False
        if operator == "Exists" and key not in labels:
            return False
        if operator == "DoesNotExist" and key in labels:
            return False
    return True


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["", "x", "y"])
EXPRESSIONS: st.SearchStrategy[tuple[str, str, list[str]]] = st.one_of(
    st.tuples(KEYS, st.sampled_from(["In", "NotIn"]), st.lists(VALUES, min_size=1, max_size=3)),
    st.tuples(KEYS, st.sampled_from(["Exists", "DoesNotExist"]), st.just([])),
)


@given(
    labels=st.dictionaries(KEYS, VALUES),
    pairs=st.dictionaries(KEYS, VALUES),
    expressions=st.lists(EXPRESSIONS, max_size=3),
)
def test_as_documented(
    labels: dict[str, str], pairs: dict[str, str], expressions: list[tuple[str, str, list[str]]]
) -> None:
    compiled, problems = compile_selector(selector(*expressions, **pairs), "p")
    assert not problems
    assert compiled is not None
    expected = documented(labels, pairs, expressions)
    assert compiled.matches(labels) is expected
    assert all(match.matched for match in compiled.explain(labels)) is expected
