"""What stands in a branch, held against an earlier proposal."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_actions.gitops import (
    Kept,
    Proposal,
    compute_changes,
    fits,
    kept_files,
    only_tracks,
    tracked_commit,
)
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges
from tests.builders import entry

TRACKING = ".github/tracking/Promoted_Commit_Id"
SOURCES = ".github/tracking/sources.json"
TREE = {
    "large/README.md": README_TEXT.decode(),
    "large/app-web/reconciler.yaml": "r\n",
    TRACKING: "0" * 40,
    SOURCES: "{}\n",
}
DRIFT = {"large/app-web/reconciler.yaml": "drift\n"}


def entries(files: Mapping[str, str | None]) -> dict[str, FileEntry]:
    return {
        path: entry(path, blob_id(text.encode()))
        for path, text in files.items()
        if text is not None
    }


def tree(files: Mapping[str, str | None], path: str = "") -> BaseTree:
    return BaseTree("gitops", "dev", path, entries(files))


def proposed(base: BaseTree, kept: Kept | None = None, commit: str = "1" * 40) -> TreeChanges:
    """large/app-web alone, with the file `r`, at a commit."""
    folders = {"large/app-web": {"reconciler.yaml": b"r\n"}}
    return compute_changes(Proposal(("large",), folders, commit, b"{}\n", kept or Kept()), base)


@pytest.mark.parametrize(
    ("content", "commit"), [(None, None), (b"", None), (b"abc", "abc"), (b"abc\n", "abc")]
)
def test_the_commit_that_a_tracking_file_names(content: bytes | None, commit: str | None) -> None:
    assert tracked_commit(content) == commit


HEAD: dict[str, str | None] = {**TREE, TRACKING: "1" * 40}
"""What a commit on top of TREE makes of it, for the proposal of these tests."""


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        # Nothing has moved, or something that it does not touch.
        ({}, {}, True),
        ({"LICENSE": "x", "large/app-web/notes": "x"}, {}, True),
        # What it changes has changed there, also where it alone would be no change.
        ({TRACKING: "2" * 40}, {}, False),
        ({SOURCES: "other"}, {SOURCES: "new"}, False),
        ({}, {SOURCES: "new"}, True),
        # There is more to change now than it changes, or less.
        ({"large/gone/reconciler.yaml": "x"}, {}, False),
        (DRIFT, {}, False),
        ({}, {"large/more/reconciler.yaml": "x"}, False),
        # It changes just that, but to something else.
        ({}, {TRACKING: "2" * 40}, False),
        ({}, {TRACKING: None}, False),
    ],
)
def test_whether_a_commit_still_fits(
    base: dict[str, str | None], head: dict[str, str | None], expected: bool
) -> None:
    now = tree(TREE | base)
    assert fits(entries(TREE), entries(HEAD | head), now, proposed(now)) == expected


def test_a_deletion_that_is_to_be_kept_now_does_not_fit() -> None:
    old = {**TREE, "large/lost/reconciler.yaml": "x"}
    base = tree(old)
    kept = Kept(targets=frozenset({"lost"}))
    assert fits(entries(old), entries(HEAD), base, proposed(base))
    assert not fits(entries(old), entries(HEAD), base, proposed(base, kept))


def test_the_files_that_are_kept() -> None:
    lost = {f"large/lost/{name}": "x" for name in ("reconciler.yaml", "config.yaml", "notes.md")}
    base = tree({**TREE, **lost})
    kept = kept_files(proposed(base, Kept(targets=frozenset({"lost"}))), base)
    assert [one.path for one in kept] == ["large/lost/config.yaml", "large/lost/reconciler.yaml"]
    assert list(kept_files(proposed(base), base)) == []


def test_what_only_tracks() -> None:
    assert only_tracks(proposed(tree(TREE)), "")
    assert only_tracks(proposed(tree({**TREE, SOURCES: "old"}), commit="0" * 40), "")
    assert not only_tracks(proposed(tree(TREE | DRIFT)), "")
    # Below a folder, the root's tracking files are content like any other.
    assert not only_tracks(proposed(tree(TREE)), "fleet")
