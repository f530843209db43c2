"""An earlier proposal compared with the branch."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_actions.gitops.changes import DesiredTree, compute_changes
from kalypso_actions.gitops.preserved_folders import PreservedFolders
from kalypso_actions.gitops.proposed_commit import (
    fits,
    only_tracks,
    preserved_files,
    tracked_commit,
)
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges
from tests.breaks import breaks, returning, turned
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


def proposed(
    base: BaseTree, preserved: PreservedFolders | None = None, commit: str = "1" * 40
) -> TreeChanges:
    """Propose large/app-web alone, with the file `r`, at a commit."""
    folders = {"large/app-web": {"reconciler.yaml": b"r\n"}}
    return compute_changes(
        DesiredTree(("large",), folders, commit, b"{}\n", preserved or PreservedFolders()), base
    )


@pytest.mark.parametrize(
    ("content", "commit"), [(None, None), (b"", None), (b"abc", "abc"), (b"abc\n", "abc")]
)
def test_the_commit_that_a_tracking_file_names(content: bytes | None, commit: str | None) -> None:
    assert tracked_commit(content) == commit


HEAD: dict[str, str | None] = {**TREE, TRACKING: "1" * 40}
"""The tree of a commit on top of TREE with the proposal of these tests."""


@breaks(
    "a proposal fits although its branch has changed",
    turned(
        "kalypso_actions.gitops.proposed_commit.fits",
        "all((version_of(parent, path) == version_of(base.entries, path) for path in touched))",
        "True",
    ),
)
@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        # The branch has not changed, or only in other files.
        ({}, {}, True),
        ({"LICENSE": "x", "large/app-web/notes": "x"}, {}, True),
        # The branch has changed the same files, or `sources.json`, which alone is no change.
        ({TRACKING: "2" * 40}, {}, False),
        ({SOURCES: "other"}, {SOURCES: "new"}, False),
        ({}, {SOURCES: "new"}, True),
        # The proposal needs more changes now, or fewer.
        ({"large/gone/reconciler.yaml": "x"}, {}, False),
        (DRIFT, {}, False),
        ({}, {"large/more/reconciler.yaml": "x"}, False),
        # The commit changes the same files to another content.
        ({}, {TRACKING: "2" * 40}, False),
        ({}, {TRACKING: None}, False),
    ],
)
def test_whether_a_commit_fits(
    base: dict[str, str | None], head: dict[str, str | None], expected: bool
) -> None:
    now = tree(TREE | base)
    assert fits(entries(TREE), entries(HEAD | head), now, proposed(now)) == expected


def test_the_deletion_of_a_preserved_file_does_not_fit() -> None:
    old = {**TREE, "large/lost/reconciler.yaml": "x"}
    base = tree(old)
    preserved = PreservedFolders(targets=frozenset({"lost"}))
    assert fits(entries(old), entries(HEAD), base, proposed(base))
    assert not fits(entries(old), entries(HEAD), base, proposed(base, preserved))


def test_preserved_files() -> None:
    lost = {f"large/lost/{name}": "x" for name in ("reconciler.yaml", "config.yaml", "notes.md")}
    base = tree({**TREE, **lost})
    changes = proposed(base, PreservedFolders(targets=frozenset({"lost"})))
    assert [entry.path for entry in preserved_files(changes, base)] == [
        "large/lost/config.yaml",
        "large/lost/reconciler.yaml",
    ]
    assert list(preserved_files(proposed(base), base)) == []


@breaks(
    "every proposal counts as tracking only",
    returning("kalypso_actions.gitops.proposed_commit.only_tracks", True),
)
def test_proposals_that_only_track() -> None:
    assert only_tracks(proposed(tree(TREE)), "")
    assert only_tracks(proposed(tree({**TREE, SOURCES: "old"}), commit="0" * 40), "")
    assert not only_tracks(proposed(tree(TREE | DRIFT)), "")
    # If the tree lies in a folder, the root's tracking files are normal content.
    assert not only_tracks(proposed(tree(TREE)), "fleet")
