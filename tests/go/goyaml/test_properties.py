"""Properties: written values read back, and reading ends with a value or an error."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kalypso_go.goyaml import YAMLError, dump_v2, dump_v3, parse
from kalypso_go.goyaml.keys import distinct_key

BREAKS = "\n\u2028\u2029"
PIECES = st.sampled_from(
    [
        *("a", "b c", " ", "\n", "\t", ":", ": ", "#", " #", "-", "- ", "?", "? ", ",", "[", "]"),
        *("{", "}", "&a", "*a", "!", "!!str ", "|", ">", "'", '"', "\\", "%", "@", "`", "<<", "~"),
        *("yes", "null", "1", "0x1F", "1:20", "2001-1-1", "1e3", ".5", "---", "...", "\r", "\x85"),
        *("é", "\U0001f600", "\u2028", "\ufeff", "\x00", "\x1b", "\xa0", "\n  ", "\n- ", "key: "),
    ]
)
PIECED = st.lists(PIECES, max_size=12).map("".join)
TEXTS = PIECED | st.text(max_size=30)
BYTES = st.binary(max_size=100).map(lambda data: data.decode("utf-8", "surrogateescape"))
INTEGERS = st.integers(-(2**63), 2**64 - 1)
FRACTIONS = st.floats(allow_nan=False).filter(lambda number: not number.is_integer())
SCALARS = st.none() | st.booleans() | INTEGERS | FRACTIONS | TEXTS | BYTES
KEYS = SCALARS.filter(lambda key: key != "<<").map(distinct_key)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def comes_back_from_v3(value: object, *, aligned: bool = True) -> bool:
    """Return whether the output of yaml.v3 reads back as the same value.

    Its literal blocks lose a leading line break, and a leading tab reads as indentation. If a text
    begins with a space, the block's header announces four columns; but in a list, and in a mapping
    that is an element of a list (not `aligned`), the block is indented by two.
    """
    if isinstance(value, str):
        return "\n" not in value or not value.startswith((*BREAKS, "\t", "\n" if aligned else " "))
    if isinstance(value, list):
        return all(comes_back_from_v3(item, aligned=False) for item in value)
    if isinstance(value, dict):
        return all(
            comes_back_from_v3(key, aligned=aligned)
            and comes_back_from_v3(inner, aligned=aligned or isinstance(inner, dict))
            for key, inner in value.items()
        )
    return True


@given(VALUES)
@example({"k": ["l1\nl2\n", {"a": "l1\nl2", "b": {"c": " l1\nl2"}}]})
@example({"a" * 200: {"b": ["c"]}, "x\ny": "z"})
def test_yaml_v3_reads_back(value: object) -> None:
    assume(comes_back_from_v3(value))
    assert parse(dump_v3(value)) == value


@given(VALUES)
@example({"k": " ".join(["word"] * 60)})
def test_yaml_v2_reads_back(value: object) -> None:
    assert parse(dump_v2(value)) == value


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("\nfoo\nbar", "foo\nbar"),
        ("\n", ""),
        ("\n\n", "\n"),
        ([" a\nb"], None),
        ([{"k": " a\nb"}], None),
        (["\na"], None),
        ("\ta\nb", None),
        ({"<<": "x"}, None),
        (1.0, 1),
        ("<<", "<<"),
    ],
)
def test_some_output_of_yaml_v3_does_not_read_back(value: object, read: object) -> None:
    text = dump_v3(value)
    if read is None:
        with pytest.raises(YAMLError):
            parse(text)
    else:
        assert parse(text) == read


def test_infinities_and_nan_read_back() -> None:
    assert parse(dump_v3([math.inf, -math.inf])) == [math.inf, -math.inf]
    assert isinstance(number := parse(dump_v3(math.nan)), float)
    assert math.isnan(number)


@given(
    TEXTS | BYTES | VALUES.map(dump_v3) | st.lists(PIECES, min_size=10, max_size=60).map("".join)
)
@example("[" * 3000)
@example("- " * 3000)
@example("{a: " * 3000)
@example("&a [*a]")
@example("!!binary /w==")
def test_reading_ends_with_a_value_or_an_error(text: str) -> None:
    try:
        value = parse(text)
    except YAMLError:
        return
    assert value is None or isinstance(value, bool | int | float | str | list | dict)


@pytest.mark.parametrize("dump", [dump_v2, dump_v3])
@given(VALUES)
def test_writing_is_repeatable(dump: Callable[[object], str], value: object) -> None:
    assert dump(value) == dump(value)
    assert dump(value).endswith(("\n", "\u2028", "\u2029"))
