"""Repositories on this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kalypso_actions.clients.git import (
    GitRepository,
    Signature,
    WritableRepository,
    enclosing_clone,
    is_repository,
)
from kalypso_actions.clients.git.local import WorkingClone
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.sources.limits import Limits
from tests.git_repositories import commit, git, programs, repository


def opened(path: Path) -> GitRepository:
    return GitRepository(path, programs())


def test_files_of_a_branch_and_of_a_commit(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    first = commit(path, {"a/x.yaml": "one\n", "b.yaml": ""})
    second = commit(path, {"a/x.yaml": "two\n"})
    (path / "a" / "x.yaml").write_text("not committed")
    now, before = opened(path).at_branch("main"), opened(path).at_commit(first)
    assert (now.commit, before.commit) == (second, first)
    assert now.repository == str(path)
    assert list(now.entries()) == ["a/x.yaml", "b.yaml"]
    entry = before.entries()["a/x.yaml"]
    assert entry == FileEntry("a/x.yaml", "100644", git(path, "rev-parse", f"{first}:a/x.yaml"), 4)
    assert now.read(["b.yaml", "a/x.yaml"]) == {"b.yaml": b"", "a/x.yaml": b"two\n"}
    assert before.read(["a/x.yaml"]) == {"a/x.yaml": b"one\n"}
    assert now.read([]) == {}


def test_tree_ids(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"a/b/x.yaml": "x"})
    files = opened(path).at_branch("main")
    for folder in ("", "a", "a/b"):
        assert files.tree_id(folder) == git(path, "rev-parse", f"HEAD:{folder}")
    assert files.tree_id(".") == files.tree_id("")
    assert files.tree_id("a/b/x.yaml") is None
    assert files.tree_id("nowhere") is None


def test_commit_without_files(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {})
    files = opened(path).at_branch("main")
    assert files.entries() == {}
    assert files.tree_id("") == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_any_names_and_contents(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    names = ["a b.yaml", "tab\t.yaml", "new\nline.yaml", "ü.yaml", '"quoted".yaml', "-dash", "a\\b"]
    contents = {name: name.encode() + b"\x00\n\xff" for name in names}
    commit(path, contents)
    odd = git(path, "hash-object", "-w", "--stdin", stdin=b"odd")
    entry = f"100644 blob {odd}\t".encode() + b"\xff.yaml\x00"
    tree = git(path, "mktree", "-z", stdin=entry)
    bare = git(path, "commit-tree", tree, "-m", "odd")
    assert opened(path).at_branch("main").read(names) == contents
    assert opened(path).at_commit(bare).read(["\udcff.yaml"]) == {"\udcff.yaml": b"odd"}


def test_submodules_and_links_are_entries(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    (path / "link").symlink_to("../../etc/passwd")
    head = commit(path, {"x": "x"})
    git(path, "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    git(path, "commit", "--quiet", "-m", "module")
    files = opened(path).at_branch("main")
    assert {name: entry.mode for name, entry in files.entries().items()} == {
        "link": "120000",
        "module": "160000",
        "x": "100644",
    }
    assert files.read(["link"]) == {"link": b"../../etc/passwd"}


@pytest.mark.parametrize("name", [b"..", b".", b".git", b".GIT"])
def test_tree_that_no_checkout_would_write_is_refused(tmp_path: Path, name: bytes) -> None:
    path = repository(tmp_path / "repo")
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"x")
    inner = b"100644 x\x00" + bytes.fromhex(blob)
    tree = git(path, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=inner)
    outer = b"40000 " + name + b"\x00" + bytes.fromhex(tree)
    top = git(path, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=outer)
    evil = git(path, "commit-tree", top, "-m", "evil")
    with pytest.raises(KalypsoError, match="a path that no checkout would write") as caught:
        opened(path).at_commit(evil).entries()
    where = caught.value.problem.where
    assert where is not None
    assert where.path == repr(name.decode())  # the outermost folder, as git lists it first


def test_a_few_folders_that_unfold_into_billions_are_refused(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"x")
    tree = git(path, "mktree", stdin=f"100644 blob {blob}\tfile\n".encode())
    for _ in range(10):
        lines = "".join(f"040000 tree {tree}\t{name}\n" for name in "0123456789")
        tree = git(path, "mktree", stdin=lines.encode())
    bomb = git(path, "commit-tree", tree, "-m", "bomb")
    with pytest.raises(KalypsoError, match=f"the commit {bomb} has too many files"):
        opened(path).at_commit(bomb).entries(1 << 20)


@pytest.mark.slow
def test_the_tree_of_120000_assignments_is_listed(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"x")
    names = ("namespace.yaml", "platform-config.yaml", "reconciler.yaml")
    tree = git(
        path, "mktree", stdin="".join(f"100644 blob {blob}\t{name}\n" for name in names).encode()
    )
    for name, count in (
        ("payments-service-functional-test", 200),
        ("store-eu-west-production", 600),
    ):
        lines = (f"040000 tree {tree}\t{name}-{number:04}\n" for number in range(count))
        tree = git(path, "mktree", stdin="".join(lines).encode())
    commit_id = git(path, "commit-tree", tree, "-m", "large")
    entries = opened(path).at_commit(commit_id).entries()
    assert len(entries) == 360_000
    with pytest.raises(KalypsoError, match="has too many files"):
        opened(path).at_commit(commit_id).entries(Limits().listing_bytes)


def test_files_that_memory_would_not_bear_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"large": "x" * (3 << 20), "small": "x"})
    files = opened(path).at_branch("main")
    monkeypatch.setattr("kalypso_actions.clients.git.files.MAX_TOTAL", 2 << 20)
    with pytest.raises(KalypsoError, match="the files to read have more than 2 MiB") as caught:
        files.read(["large", "small"])
    assert caught.value.problem.advice == "exclude large files by .sourceignore"
    assert files.read(["small"]) == {"small": b"x"}


def test_a_lost_object_is_named(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"x": "x", "y": "y"})
    files = opened(path).at_branch("main")
    lost = files.entries()["x"].object_id
    (path / ".git/objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(KalypsoError, match=f"the repository lacks the object {lost}") as caught:
        files.read(["x", "y"])
    assert caught.value.problem.advice == "clone it again"


def test_clone_has_its_own_branches_and_origins(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    main = commit(origin, {"x": "main"})
    git(origin, "checkout", "--quiet", "-b", "dev")
    dev = commit(origin, {"x": "dev"})
    git(origin, "checkout", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    clone = tmp_path / "clone"
    git(clone, "checkout", "--quiet", "-b", "feature")
    own = commit(clone, {"x": "own"})
    assert opened(clone).at_branch("dev").commit == dev
    assert opened(clone).at_branch("feature").commit == own
    git(clone, "branch", "--force", "dev", own)
    assert opened(clone).at_branch("dev").commit == own
    assert opened(clone).default_branch() == "main"
    assert opened(clone).at_branch("main").commit == main
    assert opened(clone).has_branch("dev")
    assert not opened(clone).has_branch("prod")
    assert not opened(clone).has_branch("-x")


def test_default_branch(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo", branch="trunk")
    assert opened(path).default_branch() == "trunk"
    commit(path, {"x": "x"})
    git(path, "checkout", "--quiet", "--detach")
    with pytest.raises(KalypsoError, match="its default branch is not known"):
        opened(path).default_branch()


def test_bare_repositories_and_worktrees(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    head = commit(path, {"x": "x"})
    git(tmp_path, "clone", "--quiet", "--bare", str(path), "bare")
    git(path, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "worktree"))
    for other in ("bare", "worktree"):
        assert is_repository(tmp_path / other)
        assert opened(tmp_path / other).at_branch("main").commit == head
    assert opened(tmp_path / "worktree").default_branch() == "side"


def test_folder_inside_a_repository_is_none(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"a/x": "x"})
    assert is_repository(path)
    assert not is_repository(path / "a")
    assert not is_repository(tmp_path / "nowhere")
    with pytest.raises(KalypsoError, match="not a git repository"):
        opened(path / "a")


@pytest.mark.parametrize(
    "branch",
    [
        *("", "-x", "--all", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a\nb"),
        *("@{u}", "@", "a.lock", "a/", "/a", "a//b", ".a", "a/.b", "a.", "a@{1}", "a.lock/b"),
        *("\ud800", "a\udfff"),
    ],
)
def test_names_that_no_branch_can_have(tmp_path: Path, branch: str) -> None:
    path = repository(tmp_path / "repo")
    with pytest.raises(KalypsoError, match="is not the name of a branch"):
        opened(path).at_branch(branch)


def test_missing_branch_names_one_that_is_near(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"x": "x"})
    git(path, "branch", "stage/east")
    with pytest.raises(KalypsoError, match="there is no branch 'stage/eest'") as caught:
        opened(path).at_branch("stage/eest")
    assert caught.value.problem.advice == "is 'stage/east' meant?"


@pytest.mark.parametrize(
    "commit_id", ["", "HEAD", "abc1234", "g" * 40, "A" * 40, "a" * 41, "-" * 40]
)
def test_commit_has_to_be_a_full_id(tmp_path: Path, commit_id: str) -> None:
    path = repository(tmp_path / "repo")
    with pytest.raises(KalypsoError, match="is not a commit id"):
        opened(path).at_commit(commit_id)


@pytest.mark.parametrize("commit_id", ["a" * 40, "a" * 64])
def test_missing_commit(tmp_path: Path, commit_id: str) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"x": "x"})
    with pytest.raises(KalypsoError, match="is not in the repository"):
        opened(path).at_commit(commit_id)


def test_id_of_something_else_is_no_commit(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"x": "x"})
    git(path, "tag", "-a", "v1", "-m", "v1")
    for revision in ("HEAD^{tree}", "HEAD:x", "refs/tags/v1"):
        with pytest.raises(KalypsoError, match="is not in the repository"):
            opened(path).at_commit(git(path, "rev-parse", revision))


def test_sha256_repository(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo", object_format="sha256")
    head = commit(path, {"x": "hello"})
    assert len(head) == 64
    assert opened(path).at_commit(head).read(["x"]) == {"x": b"hello"}


def test_replaced_objects_have_no_effect(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    first = commit(path, {"x": "one"})
    second = commit(path, {"x": "two"})
    git(path, "replace", second, first)
    assert opened(path).at_branch("main").read(["x"]) == {"x": b"two"}


def test_clone_without_its_files_is_an_error_and_fetches_nothing(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    commit(origin, {"x": "x"})
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{origin}", "clone")
    with pytest.raises(KalypsoError, match="cannot be read") as caught:
        opened(tmp_path / "clone").at_branch("main").entries()
    assert "clone it again without --filter" in caught.value.problem.advice


def test_configuration_of_the_repository_starts_nothing(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    commit(path, {"x.yaml": "x", ".gitattributes": "*.yaml diff=evil filter=evil\n"})
    trap = f"touch {tmp_path / 'trapped'}; cat"
    for name in ("core.fsmonitor", "core.pager", "diff.evil.textconv", "filter.evil.smudge"):
        git(path, "config", name, trap)
    hook = path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{trap}\n")
    hook.chmod(0o755)
    assert opened(path).at_branch("main").read(["x.yaml"]) == {"x.yaml": b"x"}
    assert not (tmp_path / "trapped").exists()


def test_a_revision_is_a_branch_a_tag_or_an_id(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    first = commit(path, {"a": "1"})
    git(path, "tag", "--annotate", "v1", "--message", "one")
    second = commit(path, {"a": "2"})
    opened_repository = opened(path)
    expected = {"main": second, "v1": first, first: first, first[:7]: first}
    expected |= {"HEAD": second, "HEAD~1": first, "main^": first, "main~1^0": first}
    assert {revision: opened_repository.resolve(revision) for revision in expected} == expected
    for revision in ("mian", "HEAD~2", "main~x", "--all", "v1^{}", "~1", "0" * 40):
        with pytest.raises(KalypsoError, match="there is no branch, tag or commit"):
            opened_repository.resolve(revision)


def test_head_is_the_checked_out_commit(tmp_path: Path) -> None:
    """A clone has refs/remotes/origin/HEAD, too."""
    path = repository(tmp_path / "repo")
    commit(path, {"a": "1"})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(path), str(clone))
    git(clone, "checkout", "--quiet", "-b", "change")
    second = commit(clone, {"a": "2"})
    assert opened(clone).resolve("HEAD") == second


def test_how_far_a_branch_is_ahead(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    first = commit(path, {"a": "1"})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(path), str(clone))
    commit(path, {"a": "2"})
    git(clone, "fetch", "--quiet")
    beside = commit(repository(tmp_path / "other"), {"b": "1"})
    git(clone, "fetch", "--quiet", str(tmp_path / "other"), "main")
    opened_clone = opened(clone)
    assert opened_clone.ahead("main", first) == 1
    assert opened_clone.ahead("main", git(path, "rev-parse", "main")) == 0
    assert opened_clone.ahead("main", beside) is None
    assert opened_clone.subject(first) == git(path, "log", "-1", "--format=%s", first)


def test_the_history_of_a_shallow_clone(tmp_path: Path) -> None:
    path = repository(tmp_path / "origin")
    commits = [commit(path, {"a": str(n), f"b{n}": ""}, f"change {n}") for n in range(3)]
    newest, *older = opened(path).history(commits[2], 2)
    assert (newest.id, newest.subject, newest.author) == (commits[2], "change 2", "n")
    assert newest.changes.keys() == {"a", "b2"}
    assert [each.id for each in older] == [commits[1]]
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "2", path.as_uri(), str(clone))
    assert [each.id for each in opened(clone).history(commits[2], 9)] == [commits[2]]


def test_the_clone_around_a_folder(tmp_path: Path) -> None:
    path = repository(tmp_path / "repo")
    (path / "a" / "b").mkdir(parents=True)
    assert enclosing_clone(path / "a" / "b") == path
    assert enclosing_clone(tmp_path) is None
    git(path, "remote", "add", "backup", "https://git.test/b")
    git(path, "remote", "add", "origin", "https://git.test/o")
    assert opened(path).remotes() == ("https://git.test/o", "https://git.test/b")


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
