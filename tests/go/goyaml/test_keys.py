"""The order of keys: the comparison of Go's libraries, and equivalent sort keys."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.goyaml.keys import (
    FloatKey,
    IntKey,
    distinct_key,
    natural_key,
    natural_less,
    ordered,
)
from kalypso_go.goyaml.scalars import Scalar

NAMES = st.text("aAzZé_-. /0129", max_size=8)
ASCII_NAMES = st.text("aAzZ_-. /0129~", max_size=8)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("", "a"), ("a", "ab"), ("A", "a"), ("Z", "a"), ("_", "a"), ("1", "a"), ("-", "1")),
        *(("a2", "a10"), ("a1", "a01"), ("a1b", "a01"), ("a9", "a10b"), ("z", "é"), ("a-", "a1")),
        *(("a1b", "a1-"), ("a1b", "a12"), ("a1-", "a12"), ("a100", "a1001"), ("a101", "a1001")),
    ],
)
def test_yaml_v3_order(first: str, second: str) -> None:
    assert natural_less(first, second, 3)
    assert not natural_less(second, first, 3)


@pytest.mark.parametrize(("first", "second"), [("a1-", "a1b"), ("a12", "a1b"), ("a2", "a10")])
def test_yaml_v2_puts_letters_last_behind_digits_too(first: str, second: str) -> None:
    assert natural_less(first, second, 2)
    assert not natural_less(second, first, 2)


@given(NAMES, NAMES, NAMES)
def test_yaml_v3_order_is_total(a: str, b: str, c: str) -> None:
    assert natural_less(a, b, 3) + natural_less(b, a, 3) + (a == b) == 1
    if natural_less(a, b, 3) and natural_less(b, c, 3):
        assert natural_less(a, c, 3)


@given(ASCII_NAMES, ASCII_NAMES)
def test_sort_keys_say_the_same_as_the_comparison(a: str, b: str) -> None:
    key_a, key_b = natural_key(a, 3), natural_key(b, 3)
    assert key_a is not None
    assert key_b is not None
    assert (key_a < key_b) == natural_less(a, b, 3)
    key_a, key_b = natural_key(a, 2), natural_key(b, 2)
    if key_a is not None and key_b is not None:
        assert (key_a < key_b) == natural_less(a, b, 2)


@given(st.lists(NAMES, unique=True), st.randoms())
def test_the_order_does_not_depend_on_where_a_key_stood(names: list[str], chance: Random) -> None:
    shuffled = sorted(names, key=lambda _: chance.random())
    once = ordered(dict.fromkeys(names), version=3)
    assert once == ordered(dict.fromkeys(shuffled), version=3)


@pytest.mark.parametrize("name", ["é", "a" + "1" * 19, "a1b"])
def test_unusual_names_have_no_sort_key(name: str) -> None:
    assert natural_key(name, 2) is None


def test_kinds() -> None:
    keys = ["b", "a", None, 2.5, 2, True, False, -1, 2**64 - 1]
    mapping: dict[object, object] = dict.fromkeys(keys)
    assert [key for key, _ in ordered(mapping, version=3)] == [
        *(-1, False, True, 2, 2.5, 2**64 - 1, None, "a", "b")
    ]


def test_distinct_keys() -> None:
    keys: list[Scalar] = [
        True,
        False,
        1,
        0,
        1.0,
        0.0,
        2,
        2.0,
        2.5,
        "1",
        None,
        float("nan"),
        float("nan"),
    ]
    assert len(dict.fromkeys(map(distinct_key, keys))) == len(keys)
    assert distinct_key(1) == distinct_key(1)
    assert distinct_key(-0.0) == distinct_key(0.0)


def test_distinct_keys_are_still_numbers() -> None:
    assert isinstance(distinct_key(1), int)
    assert str(distinct_key(1)) == "1"
    assert isinstance(distinct_key(2.0), float)
    assert str(distinct_key(2.0)) == "2.0"
    assert IntKey(1) != 1
    assert FloatKey(2) != 2
    assert FloatKey(2) == 2.0
