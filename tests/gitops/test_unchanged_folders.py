"""The folders that have nothing but unchanged files, by the lines of git."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kalypso_actions.gitops import InputsRecord, UnchangedFolders, unchanged_folders
from kalypso_actions.gitops.own_files import README_ID
from kalypso_actions.gitops.provenance import SCHEMA
from kalypso_actions.model.layout import README_FILE
from kalypso_actions.model.tree import BaseTree
from tests.builders import entry
from tests.listings import listed

NOW = InputsRecord(cluster_types={"large": "1", "small": "2"}, targets={"web": "3", "api": "4"})
ASSIGNED = {"large": ["web", "api"], "small": ["web"]}
NAMES = ("reconciler.yaml", "namespace.yaml")
TREE = {
    "large/README.md",
    "small/README.md",
    *(f"large/{target}/{name}" for target in ("web", "api") for name in NAMES),
    *(f"small/web/{name}" for name in NAMES),
}
FILES = {"large/web": NAMES, "large/api": NAMES, "small/web": NAMES}


def base(paths: set[str], *, path: str = "", inputs: InputsRecord = NOW) -> BaseTree:
    """Return a tree as a run has written it, as git lists it."""
    prefix = f"{path}/" if path else ""
    record = inputs.model_dump(by_alias=True)
    sources = json.dumps({"schema": SCHEMA, "environment": "dev", "inputs": record})
    entries = {
        f"{prefix}{name}": entry(
            f"{prefix}{name}", README_ID if name.endswith(README_FILE) else "1" * 40
        )
        for name in sorted(paths)
    }
    return listed(
        BaseTree(
            "gitops",
            "dev",
            path,
            entries,
            sources=sources.encode(),
            is_as_written=True,
        )
    )


def found(*bases: BaseTree) -> UnchangedFolders:
    return unchanged_folders(bases, "dev", ASSIGNED, NOW)


@pytest.mark.parametrize("path", ["", "fleet", "clusters/dev"])
def test_unchanged_cluster_types_are_whole(path: str) -> None:
    assert found(base(TREE | {"LICENSE", "other/README.md"}, path=path)) == UnchangedFolders(
        FILES, frozenset({"large", "small"})
    )


def test_targets_may_have_no_file_of_a_kind() -> None:
    paths = {path for path in TREE if path != "small/web/namespace.yaml"}
    result = found(base(paths))
    assert result.whole == {"large", "small"}
    assert result.files["small/web"] == ("reconciler.yaml",)


@pytest.mark.parametrize(
    "changed",
    [
        {"large/web/notes.md"},
        {"large/web/reconciler.yaml/x"},
        {"large/web/deep/reconciler.yaml"},
        {"large/web/namespace.yaml"},
        {"large/api/namespace.yaml", "large/namespace.yaml"},
        {"large/web/reconciler.yaml", "large/web/namespace.yaml"},
        {f"large/{target}/{name}" for target in ("api", "old") for name in NAMES},
        {"large/web/ blob x"},
        {"large/web/reconciler.yaml", "large/web/reconciler.yaml.bak"},
        {"large/we\tb/reconciler.yaml", "large/web/reconciler.yaml", "large/web/namespace.yaml"},
    ],
)
def test_folders_with_anything_else_are_looked_at(changed: set[str]) -> None:
    """Every path is added to the tree, or removed from it."""
    result = found(base(TREE ^ changed))
    assert (result.whole, result.partly) == (frozenset({"small"}), frozenset())
    assert result.files.keys() == FILES.keys()


@pytest.mark.parametrize(
    "changed",
    [
        {"large/notes.md"},
        {"large/reconciler.yaml"},
        {"large/old/reconciler.yaml"},
        {"large/README.md"},
        {"large/README.md", "large/README.md.bak"},
    ],
)
def test_a_cluster_type_with_anything_else_is_partly_unchanged(changed: set[str]) -> None:
    expected = UnchangedFolders(FILES, frozenset({"small"}), frozenset({"large"}))
    assert found(base(TREE ^ changed)) == expected


@pytest.mark.parametrize(("mode", "object_id"), [("100644", "1" * 40), ("100755", README_ID)])
def test_a_cluster_type_with_another_readme_is_partly_unchanged(mode: str, object_id: str) -> None:
    path = "large/README.md"
    made = base(TREE)
    readme = made.entries[path]._replace(mode=mode, object_id=object_id)
    result = found(listed(replace(made, entries={**made.entries, path: readme})))
    assert result == UnchangedFolders(FILES, frozenset({"small"}), frozenset({"large"}))


def test_a_changed_cluster_type_has_unchanged_targets() -> None:
    before = NOW.model_copy(update={"cluster_types": {"large": None, "small": "2"}})
    result = found(base(TREE, inputs=before))
    assert result == UnchangedFolders(FILES, frozenset({"large", "small"}))
    both = before.model_copy(update={"targets": {"web": "3"}})
    files = {"large/web": NAMES, "small/web": NAMES}
    assert found(base(TREE, inputs=both)) == UnchangedFolders(
        files, frozenset({"small"}), frozenset({"large"})
    )
    new = found(base({path for path in TREE if "api" not in path}, inputs=both))
    assert new == UnchangedFolders(files, frozenset({"small"}), frozenset({"large"}))


def test_a_cluster_type_is_whole_in_every_tree() -> None:
    first, other = base(TREE), base(TREE | {"large/notes.md"}, path="fleet")
    assert found(first, first).whole == {"large", "small"}
    expected = UnchangedFolders(FILES, frozenset({"small"}), frozenset({"large"}))
    assert found(first, other) == found(other, first) == expected
    assert found(first, replace(first, is_as_written=False)) == UnchangedFolders()


def test_files_that_git_has_not_listed_are_not_whole() -> None:
    plain = replace(base(TREE), entries=dict(base(TREE).entries))
    assert found(plain) == UnchangedFolders(FILES)
