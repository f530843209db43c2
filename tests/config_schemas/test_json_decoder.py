"""JSON as Go reads it; the oracle's cases hold its errors."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_actions.config_schemas.json_decoder import decode
from kalypso_actions.config_schemas.json_values import Json, canonical_text
from kalypso_actions.config_schemas.numbers import Number

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def plain(value: Json) -> object:
    if isinstance(value, Number):
        return int(value.value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_values_come_back(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert plain(decode(text)) == value


@given(st.text() | st.text(alphabet='{}[]",:0123456789.-+eEtrufalsn \\/u'))
@example('"\\ud800\\u0041"')
@example('"\\ud800\\ud800\\udc00"')
def test_every_text_ends_with_a_value_or_an_error(text: str) -> None:
    try:
        outcome = canonical_text(decode(text))
    except SchemaError as error:
        outcome = str(error)

    assert outcome


@pytest.mark.parametrize(
    "text", [lambda n: "[" * n + "]" * n, lambda n: '{"a":' * n + "1" + "}" * n]
)
def test_nesting_is_bounded(text: Callable[[int], str]) -> None:
    decode(text(100))

    with pytest.raises(SchemaError, match="nested more than 100 levels deep"):
        decode(text(102))
