"""The history of real repositories, as clusters see it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kalypso_sandbox.azure import Azure, Failure
from kalypso_sandbox.azure.sync import Head, RepositoryHistory
from kalypso_sandbox.git.commits import Person
from tests.sandbox.azure.builders import Clock, at, azure, cluster, delete_branch, push, store


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_every_push_is_a_head(tmp_path: Path, clock: Clock) -> None:
    made = azure(tmp_path, clock).store
    first = push(made, {"a": "1"})
    push(made, {"a": "other"}, branch="main")
    clock.seconds = 40
    second = push(made, {"a": "2"})
    expected = [Head(first, at(0)), Head(second, at(40))]
    assert RepositoryHistory(made).heads("acme/fleet", "dev") == expected
    made.save()
    assert RepositoryHistory(store(tmp_path, clock)).heads("acme/fleet", "dev") == expected


@pytest.mark.parametrize(
    "name",
    [
        "acme/fleet",
        "Acme/Fleet",
        "https://github.com/acme/fleet",
        "https://127.0.0.1:8443/acme/fleet.git",
        "git@github.com:acme/fleet.git",
        "ssh://git@github.com/acme/fleet",
    ],
)
def test_a_repository_is_found_by_any_form_of_its_url(
    tmp_path: Path, clock: Clock, name: str
) -> None:
    made = azure(tmp_path, clock).store
    commit = push(made, {"a": "1"})
    assert RepositoryHistory(made).heads(name, "dev") == [Head(commit, at(0))]


@pytest.mark.parametrize(
    "name", ["acme/other", "https://github.com/fleet", "", "oci://x", "http://[x"]
)
def test_unknown_repositories_have_no_heads(tmp_path: Path, clock: Clock, name: str) -> None:
    assert RepositoryHistory(azure(tmp_path, clock).store).heads(name, "dev") == []


def test_a_renamed_repository_keeps_its_history(tmp_path: Path, clock: Clock) -> None:
    made = azure(tmp_path, clock).store
    commit = push(made, {"a": "1"})
    repository = made.repositories.pop("acme/fleet")
    made.git(repository).git_dir.rename(tmp_path / "repositories" / "acme" / "ships.git")
    repository.former_names.append("acme/fleet")
    repository.name = "ships"
    made.repositories["acme/ships"] = repository
    for name in ("acme/fleet", "acme/ships"):
        assert RepositoryHistory(made).heads(name, "dev") == [Head(commit, at(0))]


def test_a_deleted_branch_leaves_what_it_was(tmp_path: Path, clock: Clock) -> None:
    made = azure(tmp_path, clock).store
    commit = push(made, {"a": "1"})
    delete_branch(made)
    assert RepositoryHistory(made).heads("acme/fleet", "dev") == [Head(commit, at(0))]


@pytest.mark.parametrize(("committed", "counts_from"), [(-500, 0), (60, 60)])
def test_a_head_without_a_push_counts_from_its_commit_and_after_all_pushes(
    tmp_path: Path, clock: Clock, committed: float, counts_from: float
) -> None:
    made = azure(tmp_path, clock).store
    author = Person("n", "n@example.com", at(committed))
    pushed = push(made, {"a": "1"})
    git = made.git(made.repositories["acme/fleet"])
    commit = git.commit_files("dev", {"a": "2"}, "quietly", author)
    alone = git.commit_files("quiet", {"a": "2"}, "quietly", author)
    heads = RepositoryHistory(made).heads
    assert heads("acme/fleet", "dev") == [Head(pushed, at(0)), Head(commit, at(counts_from))]
    assert heads("acme/fleet", "quiet") == [Head(alone, at(committed))]


@pytest.mark.parametrize(
    ("path", "text", "broken"),
    [
        ("*", "", True),
        ("*", "replicas: -1", True),
        ("drone/*.yaml", "replicas: -1", True),
        ("drone/*", "replicas: -2", False),
        ("drone/*.json", "", False),
        ("apps/*", "replicas: -1", False),
    ],
)
def test_commits_are_broken_by_their_files(
    tmp_path: Path, clock: Clock, path: str, text: str, broken: bool
) -> None:
    made = azure(tmp_path, clock).store
    files = {"drone/app/deployment.yaml": "spec:\n  replicas: -1\n", "apps/x": "y"}
    commit = push(made, files)
    repaired = push(made, dict.fromkeys(files))
    failure = Failure(path=path, text=text)
    repositories = RepositoryHistory(made)
    for _ in range(2):
        assert repositories.is_broken("acme/fleet", failure, commit) is broken
        assert not repositories.is_broken("acme/fleet", failure, repaired)


def test_unknown_commits_are_not_broken(tmp_path: Path, clock: Clock) -> None:
    repositories = RepositoryHistory(azure(tmp_path, clock).store)
    assert not repositories.is_broken("acme/fleet", Failure(), "f" * 40)
    assert not repositories.is_broken("acme/nothing", Failure(), "f" * 40)


def test_clusters_go_on_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    before = azure(tmp_path, clock, cluster(delay=30, settle=0))
    commit = push(before.store, {"a": "1"})
    before.store.save()
    clock.seconds = 30
    after = Azure(store(tmp_path, clock), threading.RLock())
    rows = after.tables()["kubernetesconfigurationresources"]
    assert rows[1]["properties"]["sourceSyncedCommitId"] == f"dev@sha1:{commit}"
    assert rows == before.tables()["kubernetesconfigurationresources"]
