"""A user's clone gets commits, and loses no changes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kalypso_actions.clients.git import Signature, WritableRepository
from kalypso_actions.clients.git.local import WorkingClone
from kalypso_actions.errors import KalypsoError, UsageError
from tests.git_repositories import commit, git, programs, repository

AUTHOR = Signature("Kalypso", "kalypso@example.com")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A clone of a repository with main and dev; main is checked out."""
    origin = repository(tmp_path / "origin")
    commit(origin, {"a.txt": "a\n"})
    git(origin, "branch", "dev")
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    return tmp_path / "clone"


def clone_at(folder: Path) -> WorkingClone:
    return WorkingClone(folder, programs(HOME=str(folder.parent)))


def made(clone: WorkingClone, parent: str, **files: str) -> str:
    changes: dict[str, bytes | None] = {name: text.encode() for name, text in files.items()}
    return clone.commit(parent, changes, "Change", AUTHOR, NOON)


def test_the_branch_that_is_checked_out_moves_with_its_files(folder: Path) -> None:
    clone = clone_at(folder)
    head = clone.head("main")
    new = made(clone, head, b="b\n")
    assert git(folder, "rev-parse", "HEAD") == head
    clone.move("main", new, head)
    assert git(folder, "rev-parse", "main") == new
    assert git(folder, "status", "--porcelain") == ""
    assert (folder / "b").read_text(encoding="utf-8") == "b\n"
    assert git(folder, "for-each-ref", "refs/kalypso") == ""


def test_another_branch_moves_and_the_work_tree_stays(folder: Path) -> None:
    clone = clone_at(folder)
    head = clone.head("dev")
    assert head == git(folder, "rev-parse", "origin/dev")
    new = made(clone, head, b="b\n")
    clone.move("dev", new, head)
    assert git(folder, "rev-parse", "dev") == new
    assert git(folder, "branch", "--show-current") == "main"
    assert not (folder / "b").exists()
    assert clone.files(new).read(["b"]) == {"b": b"b\n"}


def test_a_branch_of_nothing(folder: Path) -> None:
    clone = clone_at(folder)
    new = made(clone, "", b="b\n")
    clone.move("prod", new, "")
    assert git(folder, "ls-tree", "--name-only", "prod") == "b"
    assert git(folder, "rev-list", "--count", "prod") == "1"


def test_a_clone_of_an_empty_repository(tmp_path: Path) -> None:
    repository(tmp_path / "origin")
    git(tmp_path, "clone", "--quiet", str(tmp_path / "origin"), "clone")
    clone = clone_at(tmp_path / "clone")
    clone.check_clean()
    assert clone.main_branch("main") == "main"
    assert clone.head("main") == ""
    new = made(clone, "", b="b\n")
    clone.move("main", new, "")
    assert git(clone.folder, "log", "--format=%H %s") == f"{new} Change"
    assert git(clone.folder, "status", "--porcelain") == ""


def test_commits_are_by_the_owner_of_the_clone(folder: Path) -> None:
    clone = clone_at(folder)
    by_us = made(clone, "", a="a")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.com")
    by_ann = made(clone, "", a="a")
    log = [git(folder, "log", "-1", "--format=%an <%ae>", commit) for commit in (by_us, by_ann)]
    assert log == ["Kalypso <kalypso@example.com>", "Ann <ann@example.com>"]


def test_the_origin_of_a_clone(folder: Path) -> None:
    clone = clone_at(folder)
    assert clone.origin == str(folder.parent / "origin")
    git(folder, "remote", "remove", "origin")
    assert clone.origin == ""


def test_the_default_branch_is_that_of_origin(folder: Path) -> None:
    clone = clone_at(folder)
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev")
    assert clone.main_branch("main") == "dev"
    git(folder, "remote", "remove", "origin")
    assert clone.main_branch("main") == "main"
    git(folder, "branch", "--quiet", "-m", "trunk")
    assert clone.main_branch("main") == "trunk"
    git(folder, "switch", "--quiet", "--detach")
    with pytest.raises(UsageError, match="no branch is checked out"):
        clone.main_branch("main")


def test_changes_that_are_not_committed_are_reported(folder: Path) -> None:
    clone = clone_at(folder)
    (folder / "new.txt").write_text("nobody's", encoding="utf-8")
    clone.check_clean()
    (folder / "a.txt").write_text("changed", encoding="utf-8")
    with pytest.raises(UsageError, match="uncommitted"):
        clone.check_clean()


def test_a_file_that_git_does_not_know_is_not_overwritten(folder: Path) -> None:
    clone = clone_at(folder)
    head = clone.head("main")
    (folder / "b").write_text("mine", encoding="utf-8")
    with pytest.raises(KalypsoError, match="would be overwritten"):
        clone.move("main", made(clone, head, b="b\n"), head)
    assert git(folder, "rev-parse", "main") == head
    assert (folder / "b").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("branch", ["main", "dev"])
def test_a_branch_that_has_moved_since_is_not_lost(folder: Path, branch: str) -> None:
    clone = clone_at(folder)
    git(folder, "branch", "--force", "dev", "origin/dev") if branch == "dev" else None
    head = clone.head(branch)
    git(folder, "switch", "--quiet", branch)
    moved = commit(folder, {"theirs": "x"})
    git(folder, "switch", "--quiet", "main")
    with pytest.raises(KalypsoError):
        clone.move(branch, made(clone, head, b="b\n"), head)
    assert git(folder, "rev-parse", branch) == moved


def test_a_branch_of_another_work_tree_is_left_alone(folder: Path) -> None:
    clone = clone_at(folder)
    git(folder, "worktree", "add", "--quiet", str(folder.parent / "other"), "dev")
    head = clone.head("dev")
    with pytest.raises(KalypsoError, match="checked out in a work tree"):
        clone.move("dev", made(clone, head, b="b\n"), head)
    # The other work tree can move dev, but not main, which is checked out here.
    other = clone_at(folder.parent / "other")
    new = made(other, head, b="b\n")
    other.move("dev", new, head)
    assert (other.folder / "b").is_file()


@pytest.mark.parametrize("kind", ["nothing", "bare"])
def test_folders_that_are_no_clones(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if kind == "bare":
        git(folder, "init", "--quiet", "--bare")
    with pytest.raises(UsageError, match="is not a clone of a repository"):
        clone_at(folder)


def test_a_branch_that_has_moved_is_left_alone(tmp_path: Path) -> None:
    """The branch of a bare repository is compared and set at once."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    target = WritableRepository(bare, programs())
    first = target.commit("", {"a": b"a\n"}, "First", AUTHOR, NOON)
    target.move("dev", first, "")
    second = target.commit(first, {"a": b"b\n"}, "Second", AUTHOR, NOON)
    for expected in ("", second):
        with pytest.raises(KalypsoError, match="has moved during this run"):
            target.move("dev", second, expected)
    assert git(bare, "rev-parse", "dev") == first
    target.move("dev", second, first)
    assert git(bare, "rev-list", "dev").split() == [second, first]
