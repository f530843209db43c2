"""The ancestors of a branch's head."""

from __future__ import annotations

import pytest

from kalypso_actions.model.history import Ancestry

MERGED = Ancestry("m", {"m": ("b", "s"), "b": ("a",), "s": ("a",), "a": ("root",), "root": ()})
"""root - a - b - m, and a - s - m."""


@pytest.mark.parametrize(
    ("commit", "since"),
    [
        ("m", set()),
        ("b", {"m", "s"}),
        ("a", {"m", "b", "s"}),
        ("elsewhere", None),
    ],
)
def test_the_commits_since_one(commit: str, since: set[str] | None) -> None:
    commits = MERGED.since(commit)
    assert (None if commits is None else set(commits)) == since
