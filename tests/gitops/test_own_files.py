from __future__ import annotations

import pytest

from kalypso_actions.gitops.own_files import (
    assigned_cluster_types,
    cluster_type_folders,
    own_content,
    touches,
)
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.model.object_ids import blob_id
from tests.breaks import breaks, returning
from tests.builders import entry

OURS = blob_id(README_TEXT)


def entries(*paths: str, **ids: str) -> dict[str, FileEntry]:
    return {path: entry(path, ids.get(path, OURS)) for path in paths}


def test_cluster_types_are_known_by_name_or_readme() -> None:
    tree = entries("old/README.md", "other/app/reconciler.yaml", ".odd/README.md", "README.md")
    tree["mine/README.md"] = entry("mine/README.md", blob_id(b"mine"))
    assert cluster_type_folders(tree, "", {"large"}) == {"large", "old"}


@pytest.mark.parametrize(
    ("path", "ours"),
    [
        ("large/README.md", True),
        ("large/app-web/reconciler.yaml", True),
        ("large/app-web/config.yaml", True),
        (".github/tracking/Promoted_Commit_Id", True),
        # `sources.json` alone is no change.
        (".github/tracking/sources.json", False),
        (".github/workflows/check-promote.yaml", False),
        ("large/notes.txt", False),
        ("large/app-web/notes.txt", False),
        ("large/app-web/more/reconciler.yaml", False),
        ("elsewhere/app-web/reconciler.yaml", False),
        ("reconciler.yaml", False),
    ],
)
@pytest.mark.parametrize("folder", ["", "fleet"])
def test_which_files_are_ours(path: str, ours: bool, folder: str) -> None:
    place = f"{folder}/{path}" if folder else path
    assert (place in own_content(entries(place), folder, {"large"})) == ours
    assert own_content(entries(place), "else", {"large"}) == {}


@pytest.mark.parametrize("folder", ["", "fleet"])
def test_cluster_types_with_assignments(folder: str) -> None:
    prefix = f"{folder}/" if folder else ""
    tree = entries(
        *(f"{prefix}{path}" for path in ("old/README.md", "old/app/namespace.yaml")),
        *(f"{prefix}{path}" for path in ("large/README.md", "large/app/notes.txt")),
        *(f"{prefix}{path}" for path in ("drone/app/reconciler.yaml", "docs/app/config.yaml")),
    )
    assert assigned_cluster_types(tree, folder, {"large", "drone"}) == {"old", "drone"}


def versions(**files: str) -> dict[str, FileEntry]:
    return {path: entry(path, object_id) for path, object_id in files.items()}


TREE = {
    ".github/tracking/Promoted_Commit_Id": "1",
    ".github/tracking/sources.json": "1",
    ".github/workflows/check-promote.yaml": "1",
    "README.md": "1",
    "large/README.md": "1",
    "large/shop-web/reconciler.yaml": "1",
}


@breaks(
    "a change that clusters do not read starts a check",
    returning("kalypso_actions.gitops.own_files._is_deployed", True),
)
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
def test_which_changes_a_push_deploys(path: str, counts: bool, folder: str) -> None:
    prefix = f"{folder}/" if folder else ""
    before = {f"{prefix}{place}": object_id for place, object_id in TREE.items()}
    changed = {**before, f"{prefix}{path}": "2"}
    without = {place: id_ for place, id_ in changed.items() if place != f"{prefix}{path}"}
    assert touches(versions(**before), versions(**changed), folder) == counts
    assert touches(versions(**changed), versions(**without), folder) == counts
    assert not touches(versions(**changed), versions(**changed), folder)
    assert not touches(versions(**before), versions(**changed), "elsewhere")


def test_a_push_of_a_new_branch() -> None:
    assert touches(None, versions(**TREE), "")
    assert not touches(None, versions(**{"README.md": "1", ".github/dependabot.yml": "1"}), "")


def test_a_push_that_changes_a_mode() -> None:
    before = versions(**{"large/run.sh": "1"})
    after = {path: FileEntry(path, "100755", file.object_id, 1) for path, file in before.items()}
    assert touches(before, after, "")
