"""Go's fmt beyond the oracle's cases: values of all Go types, and any format."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget, FunctionError
from kalypso_go.gotemplate.printf import sprint, sprintf, sprintln
from kalypso_go.gotemplate.values import (
    ANY_MAP,
    INT32,
    INT64,
    STRING_SLICE,
    UINT8,
    UINT64,
    YAML_MAP,
    GoInt,
    GoMap,
    GoSlice,
    slice_of,
    sorted_keys,
)
from tests.go.gotemplate.data import point

BYTES = GoSlice(slice_of(UINT8), [GoInt(UINT8, code) for code in b"hi\xff"])


def printed(format_: str, *values: object) -> str:
    return sprintf(format_, values, Budget(DEFAULT_LIMITS))


@pytest.mark.parametrize(
    ("format_", "values", "text"),
    [
        ("%v %s %x %q", (BYTES,) * 4, '[104 105 255] hi\udcff 6869ff "hi\\xff"'),
        ("%#v %T %d", (BYTES,) * 3, "[]byte{0x68, 0x69, 0xff} []uint8 [104 105 255]"),
        ("%#v", ([BYTES],), "[]interface {}{[]uint8{0x68, 0x69, 0xff}}"),
        ("%w", (BYTES,), "[%!w(uint8=104) %!w(uint8=105) %!w(uint8=255)]"),
        ("%v %#v", (GoMap(ANY_MAP, nil=True),) * 2, "map[] map[string]interface {}(nil)"),
        ("%v %#v %p", (GoSlice(STRING_SLICE, nil=True),) * 3, "[] []string(nil) 0x0"),
        ("%#v %#v %v", (GoInt(UINT64, 255), GoInt(INT64, 255), GoInt(UINT64, 255)), "0xff 255 255"),
        ("%c %U %q", (GoInt(INT32, 0x1F600),) * 3, "😀 U+1F600 '😀'"),
        ("%v %+v %#v", (point(1, 2),) * 3, "{1 2 1} {X:1 Y:2 secret:1} shapes.Point{X:1, Y:2, secret:1}"),
        ("%v %s %d %#v", (point(1, 2, pointer=True),) * 4, "<1,2> <1,2> &{1 2 1} &shapes.Point{X:1, Y:2, secret:1}"),
        ("%v", ([point(1, 2, pointer=True), point(3, 4)],), "[<1,2> {3 4 1}]"),
        ("%t %d", (point(1, 2), "a"), "{%!t(int=1) %!t(int=2) %!t(int=1)} %!d(string=a)"),
        ("%6.2f|%-8q|%+d", ([1.5, 2.25], ["a"], [1, -2]), "[  1.50   2.25]|[\"a\"     ]|[+1 -2]"),
        ("%v", ({"b": [None], "a": {"c": None}},), "map[a:map[c:<nil>] b:[<nil>]]"),
        ("%#v", ({"a": None},), 'map[string]interface {}{"a":interface {}(nil)}'),
        ("%", (), "%!(NOVERB)"),
        ("%!", (1,), "%!!(int=1)"),
        ("%é", (1,), "%!é(int=1)"),
        ("%\udcff", (1,), "%!�(int=1)"),
        ("%[5]d %[1]*.[2]*[3]f|", (1, 2, 3.0), "%!d(BADINDEX) 3.00|"),
    ],
)  # fmt: skip
def test_sprintf(format_: str, values: tuple[object, ...], text: str) -> None:
    assert printed(format_, *values) == text


@pytest.mark.parametrize("value", [{}, [], point(1, 2, pointer=True)])
def test_addresses_are_not_printed(value: object) -> None:
    with pytest.raises(FunctionError, match="differs in every run"):
        printed("%p", value)


def test_sprint_and_sprintln() -> None:
    values = ("a", 1, 2, "b", None, 1.5)
    assert sprint(values, Budget(DEFAULT_LIMITS)) == "a1 2b<nil> 1.5"
    assert sprintln(values, Budget(DEFAULT_LIMITS)) == "a 1 2 b <nil> 1.5\n"


@pytest.mark.parametrize(
    ("keys", "ordered"),
    [
        (["b", "B", "10", "9", "é", "", "～", "😀"], ["", "10", "9", "B", "b", "é", "～", "😀"]),
        (["\udcff", "é", "z"], ["z", "é", "\udcff"]),
        ([3, -1, 2], [-1, 2, 3]),
        ([True, False], [False, True]),
        ([2.5, float("-inf"), 0.0], [float("-inf"), 0.0, 2.5]),
        ([True, 2, None, "a", 1.5], [None, "a", 2, 1.5, True]),
        ([GoInt(UINT64, 9), 5, "a"], ["a", 9, 5]),
    ],
    ids=["texts", "bytes", "integers", "booleans", "floats", "types", "integer types"],
)
def test_keys_are_ordered(keys: list[object], ordered: list[object]) -> None:
    assert sorted_keys(GoMap(YAML_MAP, dict.fromkeys(keys))) == ordered


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FORMATS = st.lists(
    st.sampled_from(list("%%%%%%+-# 0123.*[]vTtbcdoOqxXUeEfFgGsw!é")) | st.text(max_size=2)
).map("".join)


@given(FORMATS, st.lists(VALUES, max_size=3))
def test_any_format_prints_any_values(format_: str, values: list[object]) -> None:
    assume("p" not in format_)  # addresses are refused
    assert isinstance(printed(format_, *values), str)


@given(st.lists(st.text() | st.integers(), max_size=4))
def test_plain_verbs_print_as_with_flags(values: list[object]) -> None:
    plain = printed("-".join(["%v"] * len(values)), *values)
    assert plain == printed("-".join(["%0v"] * len(values)), *values)
