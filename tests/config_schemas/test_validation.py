"""The message about a configuration and its schemas."""

from __future__ import annotations

import copy

from kalypso_actions.config_schemas import check, compile_schema, problems_of

PREFIX = "Config data validation failed: \n "
NEEDS_A = '{"required": ["A"]}'
NEEDS_B = '{"required": ["B"]}'


def test_nothing_to_say_where_all_hold() -> None:
    assert check({"A": "x", "B": "y"}, [NEEDS_A, NEEDS_B]) == ""


def test_nothing_to_say_without_schemas_whatever_the_values() -> None:
    assert check({"A": "inf"}, []) == ""


def test_schemas_are_joined_in_their_order() -> None:
    assert check({}, [NEEDS_B, NEEDS_A]) == f"{PREFIX}- B is required\n\n- A is required\n"


def test_a_broken_schema_shows_its_error_and_hides_no_other() -> None:
    assert check({}, ["{", NEEDS_A]) == f"{PREFIX}unexpected EOF\n- A is required\n"


def test_violations_of_a_schema_are_sorted_whatever_the_order_of_the_configuration() -> None:
    config = {"C": "x", "A": "x", "B": "x"}
    schema = '{"additionalProperties": {"type": "integer"}, "required": ["Z"]}'

    message = check(config, [schema])

    assert message == check(dict(sorted(config.items())), [schema])
    assert message == (
        f"{PREFIX}- A: Invalid type. Expected: integer, given: string\n"
        "- B: Invalid type. Expected: integer, given: string\n"
        "- C: Invalid type. Expected: integer, given: string\n"
        "- Z is required\n"
    )


def test_the_configuration_stays_as_it_was() -> None:
    config = {"PORT": "8080", "LOG": {"sinks": [{"name": "a"}], 1: None}}
    before = copy.deepcopy(config)

    check(config, ['{"properties": {"LOG": {"required": ["x"]}}}'])

    assert config == before


def test_problems_of_names_what_is_wrong_with_a_schema() -> None:
    assert problems_of("") == "EOF"
    assert problems_of('{"type": "text"}') == (
        "has a primitive type that is NOT VALID -- given: /text/ Expected valid values are:"
        "[array boolean integer number null object string]"
    )


def test_problems_of_a_good_schema_are_none() -> None:
    assert problems_of(NEEDS_A) is None


def test_equal_texts_are_compiled_once() -> None:
    assert compile_schema(NEEDS_A) is compile_schema(str(NEEDS_A))


def test_a_null_key_is_explained() -> None:
    assert check({"A": {None: 1}}, ["{}"]) == f"{PREFIX}a key of a mapping is null: give it a name"


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    config = {"A\udcff": {"\udcfe": "\udcfd"}}
    schema = (
        '{"properties": {"A\\ufffd": {"const": {"\\ufffd": "\\ufffd"}}}, "required": ["A\\ufffd"]}'
    )

    assert check(config, [schema]) == ""
