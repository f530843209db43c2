"""Hostile schemas and configurations end soon, with advice."""

from __future__ import annotations

import json
import socket

import pytest

from kalypso_actions.config_schemas import schema_fault, validate

LETTERS = "a" * 100_000


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels):
        value = {"child": value}
    return value


def doubling(levels: int) -> str:
    """Return a schema whose work doubles with every level."""
    definitions: dict[str, object] = {"d0": {"minProperties": 0}}
    for level in range(1, levels):
        definitions[f"d{level}"] = {"allOf": [{"$ref": f"#/definitions/d{level - 1}"}] * 2}
    return json.dumps({"$ref": f"#/definitions/d{levels - 1}", "definitions": definitions})


@pytest.mark.parametrize(
    ("schema", "advice"),
    [
        ('{"$ref": "#"}', "a $ref for (root) leads back to itself: remove it"),
        ('{"allOf": [{"$ref": "#"}]}', "a $ref leads back to itself"),
        ('{"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}', "a $ref leads back to itself"),
        ('{"not": {"if": {"$ref": "#"}}}', "a $ref leads back to itself"),
        (doubling(40), "simplify their combinations of schemas"),
    ],
    ids=["itself", "allOf", "anyOf", "not-if", "doubling"],
)
def test_endless_schemas(schema: str, advice: str) -> None:
    assert schema_fault(schema) is None
    assert advice in validate({"A": "x"}, [schema])


@pytest.mark.parametrize(
    ("schema", "advice"),
    [
        ("[" * 100_000, "move the inner ones into `definitions`"),
        ('{"not":' * 5_000, "move the inner ones into `definitions`"),
        (json.dumps({"title": "x" * 1_100_000}), "split it into several schemas"),
        ('{"allOf":[' + ",".join(["{}"] * 51_000) + "]}", "simplify it"),
        ('{"minimum": 1e999999999}', "write a smaller or rounder one"),
        ('{"enum": [' + "9" * 10_000 + "]}", "write a smaller or rounder one"),
        ('{"pattern": "\\\\pL{1,1000}"}', "lower the counts of its repetitions"),
        (json.dumps({"allOf": [{"pattern": f"a{i}"} for i in range(300)]}), "join some with |"),
        (
            json.dumps({"allOf": [{"pattern": f"\\pL{{1,100}}{i}"} for i in range(20)]}),
            "lower the counts of their repetitions",
        ),
        (json.dumps({"$ref": "#/" + "a/" * 2_000}), "move its target to `definitions`"),
    ],
    ids=[
        "brackets", "nots", "length", "schemas", "exponent", "digits", "pattern", "patterns",
        "pattern-sizes", "reference",
    ],
)  # fmt: skip
def test_schemas_beyond_a_bound(schema: str, advice: str) -> None:
    fault = schema_fault(schema)
    assert fault
    assert advice in fault.message


@pytest.mark.parametrize(
    ("value", "schema", "advice"),
    [
        (LETTERS, {"allOf": [{"pattern": "(a|b)*c"}] * 2_000}, "simplify their combinations"),
        (LETTERS, {"allOf": [{"format": "email"}] * 2_000}, "simplify their combinations"),
        pytest.param(
            [[i] for i in range(20_000)],
            {"allOf": [{"uniqueItems": True}] * 200},
            "simplify their combinations",
            marks=pytest.mark.slow,
        ),
        (
            {f"k{i}": 1 for i in range(10_000)},
            {"patternProperties": {".": {"const": LETTERS}}},
            "check whether the schema belongs to this configuration",
        ),
    ],
    ids=["pattern", "format", "unique", "violations"],
)
def test_work_beyond_a_bound(value: object, schema: object, advice: str) -> None:
    assert advice in validate({"A": value}, [json.dumps({"properties": {"A": schema}})])


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (nested(5_000), "nested more than 100 levels deep"),
        ([[0] * 1_000] * 1_000, "more than 200,000 values: shorten the lists"),
    ],
    ids=["deep", "wide"],
)
def test_values_beyond_a_bound(value: object, advice: str) -> None:
    assert advice in validate({"A": value}, ["{}"])


def test_deep_values_within_the_bound_are_checked() -> None:
    schema = '{"properties": {"child": {"$ref": "#"}}, "additionalProperties": false}'
    value = nested(97)

    assert validate({"child": value}, [schema]) == ""


def test_other_schemas_are_checked_beside_an_endless_one() -> None:
    message = validate({}, ['{"$ref": "#"}', '{"required": ["A"]}'])

    assert message.endswith("remove it\n- A is required\n")


@pytest.mark.parametrize(
    "reference",
    ["http://example.test/s.json", "https://example.test/s#/a", "file:///etc/passwd",
     "http://json-schema.org/draft-07/schema#"],
)  # fmt: skip
def test_nothing_is_fetched(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)

    problem = schema_fault(json.dumps({"not": {"$ref": reference}}))

    assert problem is not None
    assert problem.message.endswith(
        "leads out of the schema, which Kalypso never follows: copy its target to `definitions`"
    )
