"""Which files of a tree a run adds, changes, deletes and keeps."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops.changes import DesiredTree, compute_changes
from kalypso_actions.gitops.mass_removals import mass_removal
from kalypso_actions.gitops.preserved_folders import PreservedFolders
from kalypso_actions.model.layout import README_TEXT, gitops_folder
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges
from tests.breaks import breaks, returning, turned, value
from tests.builders import HERE, entry

COMMIT = "4a0821c4376423b6a9e6b010bac8fe96616bd6e7"
OURS = {"reconciler.yaml": b"r\n", "namespace.yaml": b"n\n"}
README = README_TEXT.decode()


def base(
    files: Mapping[str, str], path: str = "", modes: Mapping[str, str] | None = None
) -> BaseTree:
    return BaseTree(
        repository="gitops",
        branch="dev",
        path=path,
        entries={
            name: entry(name, blob_id(text.encode()), (modes or {}).get(name, "100644"))
            for name, text in files.items()
        },
    )


def changes(
    existing: BaseTree | None,
    folders: Mapping[str, Mapping[str, bytes]] | None = None,
    preserved: PreservedFolders | None = None,
    commit: str | None = None,
) -> TreeChanges:
    desired = DesiredTree(
        cluster_types=("large", "small"),
        folders=folders if folders is not None else {"large/app-web": OURS},
        promoted_commit=commit,
        sources=b"{}\n",
        preserved=preserved or PreservedFolders(),
    )
    return compute_changes(desired, existing)


TREE = {
    "large/README.md": README,
    "small/README.md": README,
    "large/app-web/reconciler.yaml": "r\n",
    "large/app-web/namespace.yaml": "n\n",
}


def test_onto_nothing() -> None:
    result = changes(None, commit=COMMIT)
    assert result.files == {
        "large/README.md": README_TEXT,
        "small/README.md": README_TEXT,
        "large/app-web/reconciler.yaml": b"r\n",
        "large/app-web/namespace.yaml": b"n\n",
        ".github/tracking/Promoted_Commit_Id": COMMIT.encode(),
        ".github/tracking/sources.json": b"{}\n",
    }
    assert result.added == (
        ".github/tracking/Promoted_Commit_Id",
        "large/README.md",
        "large/app-web/namespace.yaml",
        "large/app-web/reconciler.yaml",
        "small/README.md",
    )
    assert (result.modified, result.deleted, result.unchanged) == ((), (), ())


def test_onto_itself() -> None:
    result = changes(base(TREE))
    assert (result.added, result.modified, result.deleted) == ((), (), ())
    assert set(result.unchanged) == set(TREE)
    assert not result.warnings


def test_sources_alone_is_no_change() -> None:
    result = changes(base({**TREE, ".github/tracking/sources.json": "old"}))
    assert not (result.added or result.modified)
    assert result.files[".github/tracking/sources.json"] == b"{}\n"


@pytest.mark.parametrize(
    ("existing", "mode"),
    [("other\n", "100644"), ("r\n", "100755"), ("r\n", "120000")],
    ids=["content", "executable", "symlink"],
)
def test_modified(existing: str, mode: str) -> None:
    path = "large/app-web/reconciler.yaml"
    assert changes(base({**TREE, path: existing}, modes={path: mode})).modified == (path,)


def test_without_a_commit_the_tracking_file_stays() -> None:
    tracking = ".github/tracking/Promoted_Commit_Id"
    assert changes(base({**TREE, tracking: "old"})).deleted == ()
    assert changes(base({**TREE, tracking: "old"}), commit=COMMIT).modified == (tracking,)
    assert changes(base({**TREE, tracking: COMMIT}), commit=COMMIT).modified == ()
    assert changes(base({**TREE, tracking: COMMIT + "\n"}), commit=COMMIT).modified == (tracking,)


@pytest.mark.parametrize("stale", ["config.yaml", "platform-config.yaml", "platform-config.sh"])
def test_our_files_that_are_no_longer_produced_are_deleted(stale: str) -> None:
    result = changes(base({**TREE, f"large/app-web/{stale}": "x", "large/app-web/notes.md": "x"}))
    assert result.deleted == (f"large/app-web/{stale}",)
    assert not result.foreign_deleted
    assert not result.removed_folders


def test_the_whole_folder_of_an_unassigned_target_is_deleted() -> None:
    gone = {"small/app-old/reconciler.yaml": "x", "small/app-old/notes/a.md": "x"}
    result = changes(base({**TREE, **gone}))
    assert result.deleted == tuple(sorted(gone))
    assert result.foreign_deleted == ("small/app-old/notes/a.md",)
    assert result.removed_folders == ("small/app-old",)
    assert result.existing_folders == 2


@breaks(
    "files beside ours are deleted",
    turned(
        "kalypso_actions.gitops.changes._Survey._find_target_folders",
        "path.rpartition('/')[2] in own_names",
        "True",
    ),
)
def test_files_of_others_stay() -> None:
    foreign = {
        "LICENSE": "x",
        ".github/workflows/check-promote.yaml": "x",
        "large/loose.txt": "x",
        "large/by-hand/deployment.yaml": "x",
        "elsewhere/a.yaml": "x",
    }
    result = changes(base({**TREE, **foreign}))
    assert result.deleted == ()
    assert [str(w) for w in result.warnings] == [
        f"gitops: {place}: the {what} {place!r} in the GitOps repository is not ours; it is kept "
        "(remove it if it is not wanted)"
        for place, what in [
            ("elsewhere", "folder"),
            ("large/by-hand", "folder"),
            ("large/loose.txt", "file"),
        ]
    ]


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
@pytest.mark.parametrize("folder", ["large", "large/app-web"])
def test_a_kustomization_of_others_hides_files(folder: str, name: str) -> None:
    result = changes(base({**TREE, f"{folder}/{name}": "resources: []", f"docs/{name}": "x"}))
    told = [item for item in result.warnings if item.where and item.where.path.endswith(name)]
    assert [(str(item.where), item.advice.partition(",")[0]) for item in told] == [
        (f"gitops: {folder}/{name}", "remove it")
    ]
    assert f"of {folder}, only what it lists is applied" in told[0].message


def test_a_removed_cluster_type_is_known_by_its_readme() -> None:
    gone = {"edge/README.md": README, "edge/app-web/reconciler.yaml": "x", "edge/loose": "x"}
    result = changes(base({**TREE, **gone}))
    assert result.deleted == ("edge/README.md", "edge/app-web/reconciler.yaml")
    assert [w.where.path for w in result.warnings if w.where] == ["edge/loose"]


@breaks(
    "a foreign folder is one of ours",
    turned(
        "kalypso_actions.gitops.changes._Survey._find_target_folders",
        "top not in self._top_folders",
        "False",
    ),
)
def test_a_foreign_folder_with_a_readme_of_its_own_stays() -> None:
    foreign = {"edge/README.md": "mine", "edge/app/reconciler.yaml": "x"}
    assert changes(base({**TREE, **foreign})).deleted == ()


@breaks(
    "preserved folders are deleted",
    returning("kalypso_actions.gitops.preserved_folders.PreservedFolders.includes", False),
)
@pytest.mark.parametrize(
    "preserved",
    [
        PreservedFolders(folders=frozenset({"large/app-old"})),
        PreservedFolders(targets=frozenset({"app-old"})),
        PreservedFolders(all_but=frozenset()),
    ],
    ids=["folder", "target", "everything"],
)
def test_preserved_folders_stay_as_they_are(preserved: PreservedFolders) -> None:
    old = {"large/app-old/reconciler.yaml": "old", "large/app-old/config.yaml": "old"}
    result = changes(base({**TREE, **old}), preserved=preserved)
    assert result.deleted == ()
    assert result.removed_folders == ()


def test_preserved_folders_of_a_removed_cluster_type_are_deleted() -> None:
    old = {"edge/README.md": README, "edge/app-old/reconciler.yaml": "old"}
    result = changes(
        base({**TREE, **old}), preserved=PreservedFolders(targets=frozenset({"app-old"}))
    )
    assert result.removed_folders == ("edge/app-old",)


def test_a_tree_below_a_path() -> None:
    prefixed = {f"fleet/{path}": text for path, text in TREE.items()}
    outside = {"other/app/reconciler.yaml": "x", "fleet/small/app-old/reconciler.yaml": "x"}
    result = changes(base({**prefixed, **outside}, path="fleet"), commit=COMMIT)
    assert result.added == ("fleet/.github/tracking/Promoted_Commit_Id",)
    assert result.deleted == ("fleet/small/app-old/reconciler.yaml",)
    assert set(result.unchanged) == set(prefixed)
    assert not result.problems


def test_a_tree_at_the_root_while_the_path_says_otherwise() -> None:
    (problem,) = changes(base(TREE, path="fleet")).problems
    assert problem.message == (
        "the GitOpsRepo names the path 'fleet', but the cluster type folder 'large' (and 1 "
        "other) stands at the root"
    )


@pytest.mark.parametrize(
    ("existing", "path", "fault"),
    [
        ({"large": "x"}, "large", "a file stands where a folder is needed"),
        ({"large/README.md/x": "x"}, "large/README.md", "a folder stands where a file is needed"),
    ],
)
def test_in_the_way(existing: dict[str, str], path: str, fault: str) -> None:
    (problem,) = changes(base(existing)).problems
    assert problem.where is not None
    assert (problem.message, problem.where.path) == (fault, path)


@breaks(
    "a small removal is a mass removal",
    value("kalypso_actions.gitops.mass_removals.SMALL_REMOVAL", 0),
)
@breaks(
    "no removal is a mass removal",
    turned(
        "kalypso_actions.gitops.mass_removals.mass_removal",
        "removed * 100 <= changes.existing_folders * percent",
        "True",
    ),
)
def test_mass_removal() -> None:
    old = {f"small/app-{n}/reconciler.yaml": "x" for n in range(9)}
    result = changes(base({**TREE, **old}))
    assert mass_removal(result, 30).startswith(
        "9 of 10 assignments would be removed, which is more than 30%: small/app-0, "
    )
    assert mass_removal(result, 90) == ""
    stores = {f"small/app-{n}/reconciler.yaml": "x" for n in range(500)}
    assert mass_removal(changes(base({**TREE, **stores})), 30).endswith(" and 490 more")
    few = {f"small/app-{n}/reconciler.yaml": "x" for n in range(5)}
    assert mass_removal(changes(base({**TREE, **few})), 30) == ""


@pytest.mark.parametrize(
    ("path", "folder"),
    [(".", ""), ("", ""), ("./", ""), ("/", ""), ("./a/b/", "a/b"), ("/a", "a"), ("a/../b", "b")],
)
def test_the_folder_of_a_path(path: str, folder: str) -> None:
    assert gitops_folder(path, HERE) == folder


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", ".git/hooks"])
def test_a_path_that_leaves_the_repository(path: str) -> None:
    with pytest.raises(KalypsoError, match="leaves the repository"):
        gitops_folder(path, HERE)
