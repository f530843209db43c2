"""Which pushes to a GitOps branch change anything."""

from __future__ import annotations

import pytest

from kalypso_actions.gitops.touched import touches
from kalypso_actions.model.documents import FileEntry
from tests.builders import entry


def entries(**files: str) -> dict[str, FileEntry]:
    return {path: entry(path, object_id) for path, object_id in files.items()}


TREE = {
    ".github/tracking/Promoted_Commit_Id": "1",
    ".github/tracking/sources.json": "1",
    ".github/workflows/check-promote.yaml": "1",
    "README.md": "1",
    "large/README.md": "1",
    "large/shop-web/reconciler.yaml": "1",
}


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        (".github/tracking/Promoted_Commit_Id", True),
        ("large/shop-web/reconciler.yaml", True),
        ("large/README.md", True),
        ("by-hand/app.yaml", True),
        (".github/tracking/sources.json", False),
        (".github/workflows/check-promote.yaml", False),
        ("README.md", False),
    ],
)
@pytest.mark.parametrize("folder", ["", "fleet"])
def test_what_counts(path: str, counts: bool, folder: str) -> None:
    prefix = f"{folder}/" if folder else ""
    before = {f"{prefix}{one}": object_id for one, object_id in TREE.items()}
    changed = {**before, f"{prefix}{path}": "2"}
    without = {one: object_id for one, object_id in changed.items() if one != f"{prefix}{path}"}
    assert touches(entries(**before), entries(**changed), folder) == counts
    assert touches(entries(**changed), entries(**without), folder) == counts
    assert not touches(entries(**changed), entries(**changed), folder)
    assert not touches(entries(**before), entries(**changed), "elsewhere")


def test_a_new_branch() -> None:
    assert touches(None, entries(**TREE), "")
    assert not touches(None, entries(**{"README.md": "1", ".github/dependabot.yml": "1"}), "")


def test_a_change_of_mode_counts() -> None:
    before = entries(**{"large/run.sh": "1"})
    after = {path: FileEntry(path, "100755", one.object_id, 1) for path, one in before.items()}
    assert touches(before, after, "")
