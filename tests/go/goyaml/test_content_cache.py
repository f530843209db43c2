"""The cache by content never confuses values that compare equal but are written differently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.goyaml import ContentCache, InOrder, content_key, dump_v2, dump_v3
from kalypso_go.goyaml.content_cache import MAX_CHARACTERS
from kalypso_go.goyaml.emitter import _Writer


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1], [True]),
        ([0], [False]),
        ({"a": 1}, {"a": True}),
        ({1: "a"}, {True: "a"}),
        ({"a": "b"}, [("a", "b")]),
        ([], {}),
        ({"a": "1"}, {"a": 1}),
        ([None], ["None"]),
        ([["a"], "b"], ["a", ["b"]]),
    ],
    ids=[
        *("true", "false", "boolean value", "boolean key", "pairs", "empty", "digits", "nil"),
        "nesting",
    ],
)
def test_values_that_are_written_differently_have_different_keys(
    first: object, second: object
) -> None:
    assert content_key(first) != content_key(second) or content_key(first) is None


@pytest.mark.parametrize(
    "value",
    [
        "text",
        1,
        [1.0],
        {"a": 0.0},
        InOrder({"b": "x", "a": "y"}),
        ["x"] * 300,
        [[[[[[[["deep"]]]]]]]],
        [object()],
    ],
    ids=["text", "number", "float in a list", "float", "struct", "large", "deep", "unknown"],
)
def test_no_key(value: object) -> None:
    assert content_key(value) is None


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "1", "true", "a\nb"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(SCALARS, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_cached_text_equals_a_new_one(value: object) -> None:
    for version, dump in ((2, dump_v2), (3, dump_v3)):
        fresh = _Writer(version, 1 << 20, None).document(value)
        assert dump(value) == fresh
        assert dump(value) == fresh


def test_a_full_cache_is_emptied() -> None:
    cache: ContentCache[int] = ContentCache(2)
    for number in range(3):
        cache.put(number, number, 1)
    assert [cache.get(number) for number in range(3)] == [None, None, 2]
    cache.put(None, 7, 1)
    assert cache.get(None) is None


def test_a_cache_with_many_characters_is_emptied() -> None:
    cache: ContentCache[str] = ContentCache(100)
    cache.put("a", "first", MAX_CHARACTERS)
    cache.put("b", "second", 1)
    assert [cache.get("a"), cache.get("b")] == [None, "second"]
    cache.put("c", "too large", MAX_CHARACTERS + 1)
    assert cache.get("c") is None
