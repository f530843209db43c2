"""Histories with merges: the sandbox answers as git does."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kalypso_sandbox.git.commits import Person
from kalypso_sandbox.git.repositories import BareRepository
from tests.git_repositories import git, programs

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def repository(tmp_path: Path) -> BareRepository:
    made = BareRepository(tmp_path / "fleet.git", programs())
    made.create("main")
    return made


def commits_with_random_parents(repository: BareRepository, seed: int) -> list[str]:
    """Write commits of up to three parents, which need not be older than they are."""
    numbers = random.Random(seed)
    tree = repository.write_tree("", {})
    assert tree
    commits: list[str] = []
    for number in range(12):
        parents = numbers.sample(commits, min(len(commits), numbers.choice([0, 1, 1, 1, 2, 2, 3])))
        date = NOON + timedelta(seconds=numbers.choice([0, number, numbers.randint(0, 20)]))
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
        assert [
            commit.id for commit in repository.commits_between(first, second)
        ] == between.split()
