"""Repositories of one run: given paths, the current clone, the network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.paths import Source
from kalypso_actions.model.history import BranchPosition
from tests.git_repositories import commit, commit_branch, git, programs, repository

URL = "https://git.invalid/acme/fleet"


@pytest.fixture
def remotes() -> Iterator[RemoteRepositories]:
    with RemoteRepositories(programs(), protocols=frozenset({"file"})) as opened:
        yield opened


def test_the_current_clone_comes_before_the_network(
    tmp_path: Path, remotes: RemoteRepositories
) -> None:
    path = repository(tmp_path / "clone")
    first = commit(path, {"a": "1"})
    read = Repositories((), remotes, programs(), clones=lambda: {URL: path})
    files = read.open(f"{URL}.git", commit=first)
    assert (files.commit, files.repository) == (first, f"{URL}.git")
    assert read.open(URL, branch="main").commit == first
    assert read.resolve(URL, "main", "main") == first
    with pytest.raises(Exception, match="repositories are read by file only"):
        read.open(URL, commit="0" * 40)


@pytest.mark.parametrize("is_remote", [True, False])
def test_the_position_of_a_commit(
    tmp_path: Path, remotes: RemoteRepositories, *, is_remote: bool
) -> None:
    path = repository(tmp_path / "repo")
    first = commit(path, {"a": "1"})
    second = commit(path, {"a": "2"})
    other = commit_branch(path, {"a": "3"}, "other")
    git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(path, "config", "uploadpack.allowFilter", "true")
    url = f"file://{path}" if is_remote else str(path)
    read = Repositories((), remotes, programs())
    subject = git(path, "log", "-1", "--format=%s", first)
    assert read.position(url, "main", first) == BranchPosition("main", first, subject, 1)
    position = read.position(url, "main", second)
    assert position is not None
    assert position.ahead == 0
    position = read.position(url, "main", other)
    assert position is not None
    assert (position.ahead, position.fault) == (None, "")
    position = read.position(url, "main", "0" * 40)
    assert position is not None
    assert position.fault


def test_a_folder_has_no_commits(tmp_path: Path, remotes: RemoteRepositories) -> None:
    read = Repositories([Source(url=URL, path=tmp_path)], remotes, programs())
    assert read.position(URL, "main", "1" * 40) is None
    assert read.resolve(URL, "main", "1" * 40) == "1" * 40
    with pytest.raises(UsageError, match="is a folder without commits"):
        read.resolve(URL, "main", "main")
