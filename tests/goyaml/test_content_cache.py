"""What is remembered by content: never mixed up, never of values that only look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.goyaml import ContentCache, InOrder, content_key, dump_v2, dump_v3
from kalypso_actions.goyaml.emitter import _Writer


@pytest.mark.parametrize(
    ("one", "other"),
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
)
def test_values_that_are_written_differently_have_different_keys(
    one: object, other: object
) -> None:
    assert content_key(one) != content_key(other) or content_key(one) is None


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
def test_a_remembered_text_is_what_would_be_written(value: object) -> None:
    for version, dump in ((2, dump_v2), (3, dump_v3)):
        fresh = _Writer(version, 1 << 20, None).document(value)
        assert dump(value) == fresh
        assert dump(value) == fresh


def test_it_forgets_when_it_is_full() -> None:
    remembered: ContentCache[int] = ContentCache(2)
    for number in range(3):
        remembered.put(number, number)
    assert [remembered.get(number) for number in range(3)] == [None, None, 2]
    remembered.put(None, 7)
    assert remembered.get(None) is None
