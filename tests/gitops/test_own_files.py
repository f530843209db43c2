from __future__ import annotations

import pytest

from kalypso_actions.gitops.own_files import (
    assigned_cluster_types,
    cluster_type_folders,
    own_content,
)
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.model.object_ids import blob_id
from tests.builders import entry

OURS = blob_id(README_TEXT)


def entries(*paths: str, **ids: str) -> dict[str, FileEntry]:
    return {path: entry(path, ids.get(path, OURS)) for path in paths}


def test_folders_of_cluster_types_are_known_by_name_and_by_their_readme() -> None:
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
        # It alone is no change.
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
def test_what_is_ours(path: str, ours: bool, folder: str) -> None:
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
