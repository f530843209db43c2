"""The files of a working tree, as git sees them, and the branches of its remotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository
from kalypso_actions.clients.git.local import WorkingTree, local_files
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import EXECUTABLE_MODE, SYMLINK_MODE
from tests.git_repositories import commit_branch, git, programs

COMMITTED = {
    ".gitignore": "node_modules/\n*.log\n",
    "a.yaml": "a",
    "team/b.yaml": "b",
    "team/deep/c.yaml": "c",
    "kept.log": "tracked before it was ignored",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    commit_branch(folder, {path: COMMITTED[path] for path in COMMITTED if path != "kept.log"})
    (folder / "kept.log").write_text(COMMITTED["kept.log"])
    git(folder, "add", "--force", "kept.log")
    git(folder, "commit", "--quiet", "-m", "keep")
    return folder


def contents(folder: Path) -> dict[str, str]:
    files = local_files(folder, programs())
    return {path: content.decode() for path, content in files.read(files.entries()).items()}


def write(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x")


def test_tracked_files_as_they_are_on_disk_and_new_ones(clone: Path) -> None:
    (clone / "a.yaml").write_text("edited")
    (clone / "team/b.yaml").unlink()
    write(clone, "new.yaml", "team/new.yaml")
    expected = {**COMMITTED, "a.yaml": "edited", "new.yaml": "x", "team/new.yaml": "x"}
    del expected["team/b.yaml"]
    assert contents(clone) == expected


def test_ignored_files_and_those_of_nested_trees_are_left_out(clone: Path, tmp_path: Path) -> None:
    write(clone, "node_modules/p/t.yaml", "x.log", "excluded.yaml", "team/local.yaml")
    (clone / ".git/info/exclude").write_text("excluded.yaml\n")
    (clone / "team/.gitignore").write_text("local.yaml\n")
    git(clone, "worktree", "add", "--quiet", "-b", "other", "trees/other")
    write(clone, "trees/other/new.yaml")
    nested = clone / "vendor/lib"
    commit_branch(nested, {"d.yaml": "d"})
    assert contents(clone) == {**COMMITTED, "team/.gitignore": "local.yaml\n"}
    assert contents(clone / "trees/other") == {**COMMITTED, "new.yaml": "x"}
    assert contents(nested) == {"d.yaml": "d"}


def test_a_file_that_the_user_ignores(clone: Path, tmp_path: Path) -> None:
    write(tmp_path, "home/.config/git/ignore")
    (tmp_path / "home/.config/git/ignore").write_text("scratch.yaml\n")
    write(clone, "scratch.yaml")
    user = programs(HOME=str(tmp_path / "home"), GIT_CONFIG_GLOBAL="")
    assert "scratch.yaml" not in WorkingTree(clone, user).entries()


@pytest.mark.parametrize("where", ["", "team", "team/deep"])
def test_a_folder_below_the_top(clone: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The current folder, which may be inside or outside of the clone, does not matter."""
    prefix = f"{where}/" if where else ""
    expected = {
        path.removeprefix(prefix): content
        for path, content in COMMITTED.items()
        if path.startswith(prefix)
    }
    for here in (clone, clone / "team", clone.parent):
        monkeypatch.chdir(here)
        assert contents(clone / where) == expected


def test_a_folder_that_git_ignores_is_read_as_it_is(clone: Path) -> None:
    write(clone, "node_modules/p/t.yaml")
    assert contents(clone / "node_modules") == {"p/t.yaml": "x"}


def test_a_folder_in_no_clone_is_read_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "plain/.git/config", "plain/a.log")
    assert type(local_files(tmp_path / "plain", programs())) is FolderFiles
    assert contents(tmp_path / "plain") == {"a.log": "x"}


def test_a_sparse_checkout_has_the_other_files_of_the_index(clone: Path) -> None:
    git(clone, "sparse-checkout", "set", "--cone", "other")
    assert not (clone / "team").exists()
    assert contents(clone) == COMMITTED
    assert contents(clone)["team/b.yaml"] == "b"
    git(clone, "sparse-checkout", "set", "--no-cone", "/*", "!/team/deep/")
    (clone / "team/b.yaml").write_text("edited")
    assert contents(clone) == {**COMMITTED, "team/b.yaml": "edited"}


def test_a_sparse_clone_without_the_content_names_the_file(clone: Path, tmp_path: Path) -> None:
    git(clone, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    options = ("--quiet", "--filter=blob:none", "--sparse", "--no-local")
    git(tmp_path, "clone", *options, f"file://{clone}", str(partial))
    files = local_files(partial, programs())
    assert files.read(["a.yaml"]) == {"a.yaml": b"a"}
    with pytest.raises(KalypsoError, match=r"team/b\.yaml: a sparse checkout leaves") as raised:
        files.read(["team/b.yaml"])
    assert raised.value.problem.advice == "git sparse-checkout disable restores all files"


def test_links_and_programs(clone: Path) -> None:
    """A tracked file below a link to a folder is absent, as for git."""
    (clone / "run").write_text("x")
    (clone / "run").chmod(0o755)
    (clone / "link").symlink_to("a.yaml")
    (clone / "elsewhere").mkdir()
    (clone / "team").rename(clone.parent / "team")
    (clone / "team").symlink_to(clone.parent / "team")
    entries = local_files(clone, programs()).entries()
    modes = {path: entries[path].mode for path in ("run", "link", "team")}
    assert modes == {"run": EXECUTABLE_MODE, "link": SYMLINK_MODE, "team": SYMLINK_MODE}
    assert not any(path.startswith("team/") for path in entries)


def test_submodules_are_left_out(clone: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    commit_branch(library, {"d.yaml": "d"})
    allow = ("-c", "protocol.file.allow=always")
    git(clone, *allow, "submodule", "--quiet", "add", str(library), "lib")
    assert sorted(contents(clone)) == sorted({*COMMITTED, ".gitmodules"})


@pytest.mark.parametrize("name", ["origin", "upstream", "team/fork"])
def test_a_remote_of_any_name(tmp_path: Path, name: str) -> None:
    source, folder = tmp_path / "source", tmp_path / "clone"
    commit_branch(source, {"a": "1"})
    dev = commit_branch(source, {"a": "2"}, "dev")
    git(source, "checkout", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", "--origin", name, "-b", "main", str(source), str(folder))
    git(folder, "checkout", "--quiet", "--detach")
    git(folder, "branch", "-D", "main")
    clone = GitRepository(folder, programs())
    assert (clone.default_branch(), sorted(clone.branches())) == ("main", ["dev", "main"])
    assert clone.at_branch("dev").commit == clone.resolve("dev") == dev
    assert clone.resolve(f"{name}/dev") == dev
    assert clone.remotes() == (str(source),)
    assert clone.ahead("dev", dev) == 0


def test_several_remotes(tmp_path: Path) -> None:
    """`origin` counts first, else the remote of the branch; others only for a branch of one."""
    source, folder = tmp_path / "source", tmp_path / "clone"
    first = commit_branch(source, {"a": "1"})
    git(tmp_path, "clone", "--quiet", str(source), str(folder))
    second = commit_branch(source, {"a": "2"})
    other = commit_branch(source, {"a": "3"}, "dev")
    for name in ("zeta", "upstream"):
        git(folder, "remote", "add", name, str(source))
    git(folder, "fetch", "--quiet", "upstream")
    git(folder, "checkout", "--quiet", "--detach")
    git(folder, "branch", "-D", "main")
    clone = GitRepository(folder, programs())
    assert clone.remote_names == ("origin", "zeta", "upstream")
    assert (clone.resolve("main"), clone.resolve("dev")) == (first, other)
    git(folder, "fetch", "--quiet", "zeta")
    assert not GitRepository(folder, programs()).has_branch("dev")
    git(folder, "remote", "remove", "origin")
    git(folder, "checkout", "--quiet", "-b", "main", "upstream/main")
    clone = GitRepository(folder, programs())
    assert clone.remote_names == ("upstream", "zeta")
    assert (clone.resolve("main"), clone.resolve("dev")) == (second, other)


def test_a_clone_of_a_single_branch_names_the_command_that_fetches_another(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "clone"
    commit_branch(source, {"a": "1"})
    dev = commit_branch(source, {"a": "2"}, "dev")
    options = ("--quiet", "--single-branch", "-b", "main", "--origin", "hub")
    git(tmp_path, "clone", *options, str(source), str(folder))
    with pytest.raises(KalypsoError, match="there is no branch 'dev'") as raised:
        GitRepository(folder, programs()).at_branch("dev")
    command = "git fetch hub dev:refs/remotes/hub/dev"
    assert raised.value.problem.advice == f"fetch it first ({command}), or check its name"
    git(folder, *command.split()[1:])
    assert GitRepository(folder, programs()).at_branch("dev").commit == dev
    whole = tmp_path / "whole"
    git(tmp_path, "clone", "--quiet", str(source), str(whole))
    assert GitRepository(whole, programs()).fetch_command("next") == "git fetch origin next"


def test_ignored_files_of_a_pattern_count_if_wanted(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    commit_branch(root, {".gitignore": "*.tgz\n/out/\n", "app/Chart.yaml": "name: a\n"})
    for path in ("app/charts/b.tgz", "c.tgz", "out/d.yaml"):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    tracked = {".gitignore", "app/Chart.yaml"}
    also = (":(glob)**/charts/**",)
    assert set(local_files(root, programs()).entries()) == tracked
    assert set(local_files(root, programs(), also=also).entries()) == tracked | {"app/charts/b.tgz"}
    inner = local_files(root / "app", programs(), also=also)
    assert set(inner.entries()) == {"Chart.yaml", "charts/b.tgz"}
