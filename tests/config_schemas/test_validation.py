"""The message about a configuration and its schemas."""

from __future__ import annotations

import copy

import pytest

from kalypso_actions.config_schemas import schema_fault, validate
from kalypso_actions.config_schemas.compiler import compile_schema

PREFIX = "Config data validation failed: \n "
NEEDS_A = '{"required": ["A"]}'
NEEDS_B = '{"required": ["B"]}'


def test_no_message_if_all_schemas_accept() -> None:
    assert validate({"A": "x", "B": "y"}, [NEEDS_A, NEEDS_B]) == ""


def test_no_message_without_schemas() -> None:
    assert validate({"A": "inf"}, []) == ""


def test_schemas_are_joined_in_their_order() -> None:
    assert validate({}, [NEEDS_B, NEEDS_A]) == f"{PREFIX}- B is required\n\n- A is required\n"


def test_a_broken_schema_shows_its_error_and_hides_no_other() -> None:
    assert validate({}, ["{", NEEDS_A]) == f"{PREFIX}unexpected EOF\n- A is required\n"


def test_violations_of_a_schema_are_sorted_whatever_the_order_of_the_configuration() -> None:
    config = {"C": "x", "A": "x", "B": "x"}
    schema = '{"additionalProperties": {"type": "integer"}, "required": ["Z"]}'

    message = validate(config, [schema])

    assert message == validate(dict(sorted(config.items())), [schema])
    assert message == (
        f"{PREFIX}- A: Invalid type. Expected: integer, given: string\n"
        "- B: Invalid type. Expected: integer, given: string\n"
        "- C: Invalid type. Expected: integer, given: string\n"
        "- Z is required\n"
    )


def test_validation_leaves_the_configuration_unchanged() -> None:
    config = {"PORT": "8080", "LOG": {"sinks": [{"name": "a"}], 1: None}}
    before = copy.deepcopy(config)

    validate(config, ['{"properties": {"LOG": {"required": ["x"]}}}'])

    assert config == before


TYPED = '{\n "properties": {"A": {"title": "x"},\n  "B": {"type": "text"}}}'

FAULTS = {
    "nothing": ("", "EOF", "", "it is empty"),
    "no JSON": ('{"a": 1,\n }', "invalid character '}'", "}", "the schema is not JSON"),
    "a type": (TYPED, "has a primitive type that is NOT VALID", '"type": "text"', "no type 'text'"),
    "misspelled": (
        '{"items": [{}, {"not": {"type": ["null", "strng"]}}]}',
        "given: /strng/ Expected valid values are:[array boolean integer number null object string]",
        '"type": ["null"',
        "did you mean string?",
    ),
    "a keyword": (
        '{"allOf": [{"required": []}, {"required": "A"}]}',
        "required must be of an array",
        '"required": "A"',
        "correct allOf.1.required of the schema",
    ),
    "a definition": (
        '{"definitions": {"d": {"minimum": "1"}}, "$ref": "#/definitions/d"}',
        "minimum must be of a number",
        '"minimum"',
        "correct definitions.d.minimum",
    ),
    "a schema": (
        '{"patternProperties": {"^a": 1}}',
        "Expected: valid schema",
        '"^a"',
        "correct patternProperties.^a",
    ),
    "a whole text": ("[]", "schema is invalid", "[", ""),
}


@pytest.mark.parametrize(("text", "message", "place", "advice"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_of_a_schema_has_its_place(
    text: str, message: str, place: str, advice: str
) -> None:
    fault = schema_fault(text)
    assert fault
    assert message in fault.message
    assert text[fault.position :].startswith(place)
    assert advice in fault.advice


def test_a_good_schema_has_no_fault() -> None:
    assert schema_fault(NEEDS_A) is None


def test_equal_texts_are_compiled_once() -> None:
    assert compile_schema(NEEDS_A) is compile_schema(str(NEEDS_A))


def test_a_null_key_is_explained() -> None:
    assert (
        validate({"A": {None: 1}}, ["{}"]) == f"{PREFIX}a key of a mapping is null: give it a name"
    )


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    config = {"A\udcff": {"\udcfe": "\udcfd"}}
    schema = (
        '{"properties": {"A\\ufffd": {"const": {"\\ufffd": "\\ufffd"}}}, "required": ["A\\ufffd"]}'
    )

    assert validate(config, [schema]) == ""


@pytest.mark.parametrize(
    ("schema", "advice"),
    [
        ('{"pattern": "^(?!trace)[a-z]+$"}', "which has no lookahead"),
        ('{"pattern": "(?<=a)b"}', "which has no lookahead"),
        (r'{"pattern": "^(a)\\1$"}', "back-reference"),
        ('{"properties": {"K": {"required": true}}}', '"required": ["REGION"]'),
    ],
)
def test_advice_on_the_form_of_a_keyword(schema: str, advice: str) -> None:
    fault = schema_fault(schema)
    assert fault is not None
    assert advice in fault.advice


def test_a_pattern_that_is_broken_in_every_dialect() -> None:
    fault = schema_fault('{"pattern": "(a"}')
    assert fault is not None
    assert fault.advice == "correct pattern of the schema"
