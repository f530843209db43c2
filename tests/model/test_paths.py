"""The order of paths."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.model.paths import bytewise

PATHS = st.binary(max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@given(st.lists(PATHS | st.text("ab/-.", max_size=6)))
def test_paths_are_sorted_by_their_bytes(paths: list[str]) -> None:
    raw = sorted(path.encode("utf-8", "surrogateescape") for path in paths)
    assert [path.encode("utf-8", "surrogateescape") for path in bytewise(paths)] == raw
