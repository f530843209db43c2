"""Bare repositories: the endpoints' operations, histories with merges, changed files; git agrees."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.objects import FileChange, Person
from kalypso_sandbox.git.repositories import MAX_CACHED_TREES, BareRepository
from tests.git_repositories import git, programs

ANNA = Person("Anna", "anna@example.com", datetime(2026, 3, 1, 12, 0, tzinfo=UTC))


@pytest.fixture
def repository(tmp_path: Path) -> BareRepository:
    made = BareRepository(tmp_path / "acme" / "fleet.git", programs())
    made.create("main")
    return made


def commit(
    repository: BareRepository, files: dict[str, str | bytes | None], branch: str = "main"
) -> str:
    return repository.commit_files(branch, files, "change", ANNA)


def branched(repository: BareRepository, branch: str, at: str) -> None:
    assert repository.update_ref(f"refs/heads/{branch}", at, None)


def test_files_of_a_commit(repository: BareRepository) -> None:
    assert repository.head("main") is None
    first = commit(repository, {"a/b.yaml": "x\n", 'a/"odd"\\ and\nlong': b"\x00\xff", "c": ""})
    assert repository.files("main") == {
        "a/b.yaml": b"x\n",
        'a/"odd"\\ and\nlong': b"\x00\xff",
        "c": b"",
    }
    second = commit(repository, {"c": None, "a/b.yaml": b"y"})
    assert repository.files(second) == {"a/b.yaml": b"y", 'a/"odd"\\ and\nlong': b"\x00\xff"}
    assert repository.head("main") == second
    assert repository.commit(second).parents == (first,)
    assert repository.changed_paths(first, second) == ["a/b.yaml", "c"]


@pytest.mark.parametrize("packed", [False, True])
def test_folders_come_and_go_with_their_files(repository: BareRepository, packed: bool) -> None:
    """Names have git's order: `a-b`, then the folder `a`, then `a0`."""
    commit(repository, {"a/b/c": "1", "a/d": "2", "a-b": "3", "a0": "4", "f": "5"})
    if packed:
        git(repository.git_dir, "repack", "-a", "-d", "-q")
    commit(repository, {"a/b/c": None, "a/e": "6", "f": None, "f/g": "7", "a0/absent": None})
    last = commit(repository, {"f/g/h": "8", "absent": None})
    assert repository.files(last) == {
        "a-b": b"3",
        "a/d": b"2",
        "a/e": b"6",
        "a0": b"4",
        "f/g/h": b"8",
    }
    assert repository.files(commit(repository, {"a": None, "f": None})) == {"a-b": b"3", "a0": b"4"}
    assert git(repository.git_dir, "fsck", "--strict", "--no-dangling") == ""


def test_reads_of_commits_are_cached_and_those_of_branches_are_not(
    repository: BareRepository,
) -> None:
    made = [commit(repository, {"n": str(number)}) for number in range(MAX_CACHED_TREES + 2)]
    for _ in range(2):
        for number, path in enumerate(made):
            assert repository.files(path) == {"n": str(number).encode()}
            assert repository.commit(path) is repository.commit(path[:12])
    assert repository.files(made[-1]) is repository.files("main")
    newest = commit(repository, {"n": "new"})
    assert repository.commit("main").id == newest
    assert repository.files("main") == {"n": b"new"}


def test_comparisons_are_cached(repository: BareRepository) -> None:
    first = commit(repository, {"a": "1"})
    branched(repository, "side", first)
    main, side = commit(repository, {"a": "2"}), commit(repository, {"a": "3"}, "side")

    def compared() -> list[object]:
        return [
            repository.merge_base(main, side),
            repository.is_ancestor(first, side),
            repository.is_ancestor(main, side),
            repository.commits_between(first, main),
            repository.changed_paths(first, main),
            repository.diff(first, main),
            repository.merge_tree(main, side),
        ]

    before = compared()
    assert before[:3] == [first, True, False]
    assert before[-1] is None, "they conflict"
    shutil.rmtree(repository.git_dir / "objects")
    assert compared() == before


def test_a_ref_wherever_git_keeps_it(repository: BareRepository) -> None:
    first = commit(repository, {"a": "1"})
    for branch in ("packed", "moved", "below/packed"):
        branched(repository, branch, first)
    git(repository.git_dir, "pack-refs", "--all")
    second = commit(repository, {"a": "2"}, "moved")
    git(repository.git_dir, "symbolic-ref", "refs/heads/other", "refs/heads/moved")
    heads = {
        "main": first,
        "packed": first,
        "below/packed": first,
        "moved": second,
        "other": second,
        "below": None,
        "packed/more": None,
        "absent": None,
    }
    assert {branch: repository.head(branch) for branch in heads} == heads
    assert repository.update_ref("refs/heads/moved", None, second)
    assert repository.head("moved") is None


def test_a_commit_as_git_has_it(repository: BareRepository) -> None:
    parent = commit(repository, {"a": "1"})
    tree = repository.commit(parent).tree
    west = timezone(-timedelta(hours=9, minutes=30))
    author = Person("Ånna <x>\n", "anna@example.com", ANNA.date.astimezone(west))
    made = repository.make_commit(tree, [parent], "Title\n\nbody\n", author, ANNA)
    read = repository.commit(made)
    assert (read.tree, read.parents, read.message) == (tree, (parent,), "Title\n\nbody\n")
    assert read.author == Person("Ånna x", "anna@example.com", ANNA.date)
    assert read.author.date.utcoffset() == -timedelta(hours=9, minutes=30)
    assert read.committer == ANNA
    assert git(repository.git_dir, "fsck", "--strict") == f"dangling commit {made}"


def test_valid_revisions(repository: BareRepository) -> None:
    first = commit(repository, {"a": "1"})
    second = commit(repository, {"a": "2"})
    branched(repository, "feat/a", first)
    git(repository.git_dir, "-c", "user.name=n", "tag", "-m", "one", "v1", first)
    for name in ("feat/a", "heads/feat/a", "refs/heads/feat/a", "v1", "tags/v1", first, first[:9]):
        assert repository.commit(name).id == first, name
    assert repository.commit("HEAD").id == second
    assert set(repository.refs()) == {"refs/heads/main", "refs/heads/feat/a", "refs/tags/v1"}
    assert repository.object_type(repository.refs()["refs/tags/v1"]) == "tag"
    assert repository.object_type(first) == "commit"
    assert repository.object_type("f" * 40) is None


@pytest.mark.parametrize(
    "revision",
    ["", "absent", "main~1", "main^", "main@{0}", "main:a", "-h", "f" * 40, "a\nb", "..", "^main"],
)
def test_no_revision(repository: BareRepository, revision: str) -> None:
    commit(repository, {"a": "1"})
    with pytest.raises(LookupError):
        repository.commit(revision)
    with pytest.raises(LookupError):
        repository.files(revision)
    assert repository.tree_id(revision, "") is None
    assert repository.head(revision) is None


def test_tree_of_a_folder(repository: BareRepository) -> None:
    first = commit(repository, {"apps/a/x": "1", "b": "2"})
    second = commit(repository, {"b": "3"})
    assert repository.tree_id(first, "") == repository.commit(first).tree
    assert repository.tree_id(first, "apps/a") == repository.tree_id("main", "apps/a/")
    assert repository.tree_id(first, "") != repository.tree_id(second, "")
    for path in ("b", "absent", "apps/a/x", "apps\nb"):
        assert repository.tree_id(second, path) is None


def test_history(repository: BareRepository) -> None:
    root = commit(repository, {"a": "1"})
    branched(repository, "side", root)
    first = commit(repository, {"a": "2"})
    two = commit(repository, {"b": "2"})
    side = commit(repository, {"c": "2"}, "side")
    other = commit(repository, {"d": "2"}, "orphan")
    assert repository.merge_base("main", "side") == root
    assert repository.merge_base("main", "orphan") is None
    assert repository.is_ancestor(root, two) and repository.is_ancestor(two, two)
    assert not repository.is_ancestor(two, root) and not repository.is_ancestor(side, two)
    assert [listed.id for listed in repository.commits_between("side", "main")] == [first, two]
    assert repository.commits_between(two, root) == []
    assert [listed.id for listed in repository.commits_between("main", other)] == [other]
    with pytest.raises(LookupError):
        repository.is_ancestor("f" * 40, two)


def test_merges(repository: BareRepository) -> None:
    root = commit(repository, {"a": "1\n", "b": "1\n"})
    for branch in ("clean", "conflicting"):
        branched(repository, branch, root)
    commit(repository, {"a": "2\n"})
    commit(repository, {"b": "2\n"}, "clean")
    commit(repository, {"a": "3\n"}, "conflicting")
    commit(repository, {"a": "3\n"}, "unrelated")
    tree = repository.merge_tree("main", "clean")
    assert tree is not None
    heads = [repository.commit(branch).id for branch in ("main", "clean")]
    merge = repository.make_commit(tree, heads, "Merge", ANNA, ANNA)
    assert repository.files(merge) == {"a": b"2\n", "b": b"2\n"}
    assert repository.merge_tree("main", "conflicting") is None
    assert repository.merge_tree("main", "unrelated") is None


def test_a_ref_moves_only_from_where_it_is_expected(repository: BareRepository) -> None:
    first = commit(repository, {"a": "1"})
    second = commit(repository, {"a": "2"})
    branched(repository, "b", first)
    assert not repository.update_ref("refs/heads/b", second, None)
    assert not repository.update_ref("refs/heads/b", second, second)
    assert repository.update_ref("refs/heads/b", second, first)
    assert not repository.update_ref("refs/heads/b", None, first)
    assert repository.update_ref("refs/heads/b", None, second)
    assert not repository.update_ref("refs/heads/b", second, first)
    assert repository.head("b") is None
    for ref, new in (("refs/heads/main/below", first), ("refs/heads/c", "f" * 40)):
        with pytest.raises(ProcessError):
            repository.update_ref(ref, new, None)


def test_served_as_github_serves(repository: BareRepository, tmp_path: Path) -> None:
    """Partial and shallow clones, and commits that no ref names."""
    first = commit(repository, {"a": "1"})
    commit(repository, {"a": "2"})
    clone = tmp_path / "clone"
    url = repository.git_dir.as_uri()
    git(tmp_path, "clone", "--quiet", "--depth=1", "--filter=blob:none", url, str(clone))
    assert git(clone, "branch", "--show-current") == "main"
    for version in (0, 2):
        git(clone, "-c", f"protocol.version={version}", "fetch", "--quiet", "origin", first)


def commits_with_random_parents(repository: BareRepository, seed: int) -> list[str]:
    """Write commits of up to three parents, which need not be older than they are."""
    numbers = random.Random(seed)
    tree = repository.write_tree("", {})
    assert tree
    commits: list[str] = []
    for number in range(12):
        parents = numbers.sample(commits, min(len(commits), numbers.choice([0, 1, 1, 1, 2, 2, 3])))
        date = ANNA.date + timedelta(seconds=numbers.choice([0, number, numbers.randint(0, 20)]))
        person = Person("Anna", "anna@example.com", date)
        commits.append(repository.make_commit(tree, parents, str(number), person, person))
    return commits


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_history_with_merges(repository: BareRepository, seed: int, packed: bool) -> None:
    commits = commits_with_random_parents(repository, seed)
    folder = repository.git_dir
    if packed:
        for commit in commits:
            assert repository.update_ref(f"refs/heads/b{commit}", commit, None)
        git(folder, "repack", "-a", "-d", "-q")
        repository = BareRepository(folder, programs())
    for first, second in zip(commits[::2], commits[::-1], strict=False):
        base = git(folder, "merge-base", first, second, statuses=(0, 1)) or None
        assert repository.merge_base(first, second) == base
        assert repository.is_ancestor(first, second) == (base == first)
        between = git(folder, "rev-list", "--reverse", "--topo-order", second, f"^{first}")
        found = [commit.id for commit in repository.commits_between(first, second)]
        assert found == between.split()


TEXT = "".join(f"line {number}\n" for number in range(20))


def test_every_kind_of_change(repository: BareRepository) -> None:
    first = commit(
        repository,
        {"a b\tc": TEXT, "changed": "1\n2\n", "gone": "1\n2\n3\n", "image": b"\0\1", "ü": "1"},
    )
    (change,) = (each for each in repository.diff(None, first) if each.path == "changed")
    assert change == FileChange("changed", "added", change.blob, additions=2, deletions=0)
    assert repository.diff(first, first) == []
    moved = {"a b\tc": None, "moved\nhere": TEXT + "more\n"}
    changed = {"changed": "1\n3\n4\n", "gone": None, "image": b"\0\2"}
    second = commit(repository, {**moved, **changed})
    changes = {change.path: change for change in repository.diff(first, second)}
    counts = {
        path: (change.status, change.additions, change.deletions)
        for path, change in changes.items()
    }
    assert counts == {
        "changed": ("modified", 2, 1),
        "gone": ("removed", 0, 3),
        "image": ("modified", 0, 0),
        "moved\nhere": ("renamed", 1, 0),
    }
    assert changes["moved\nhere"].previous_path == "a b\tc"
    assert repository.object_at(first, "gone") == (changes["gone"].blob, "blob")
    assert repository.object_at(second, "changed") == (changes["changed"].blob, "blob")
