"""Branches named like commits, names that are no KQL, and look-alike letters."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.clients.git import GitRepository
from kalypso_actions.clients.resource_graph.rows import (
    flux_configurations_query,
    followers_query,
)
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.azure.kql import execute, parse
from tests.breaks import breaks, turned
from tests.clients.git.remotes import bare, remotes
from tests.clients.git.servers import serving
from tests.git_repositories import git, programs

TYPE = "microsoft.kubernetesconfiguration/fluxconfigurations"
COLUMNS = ("id", "type", "properties")
INJECTIONS = [
    "' or true or '",
    "dev' | project id //",
    "dev\\' or 1 == 1 //",
    "dev\\",
    "dev\\\\' or true //",
    'dev" or true or "',
    "dev'\n| union resources //",
    "dev\u2028| take 1",
    "@'dev",
    "h'dev'",
    "```dev```",
    "{repository}",
    "dev\x00",
]
NAME = st.sampled_from(INJECTIONS) | st.text(max_size=20)


def row(number: int, url: str, branch: str) -> dict[str, object]:
    source = {"url": url, "repositoryRef": {"branch": branch}}
    return {"id": str(number), "type": TYPE, "properties": {"gitRepository": source}}


@given(repository=NAME, branch=NAME)
def test_a_query_finds_the_rows_of_its_names_and_no_others(repository: str, branch: str) -> None:
    rows = [
        row(1, f"https://github.com/{repository}", branch),
        row(2, "https://github.com/other/gitops", "other"),
        row(3, f"https://github.com/{repository}", "other branch"),
    ]
    result = execute(parse(flux_configurations_query(repository, branch)), rows, COLUMNS)
    ids = {entry["id"] for entry in result.rows}
    assert "1" in ids
    assert ids <= {"1"} | ({"2"} if branch == "other" else set())
    followers = execute(parse(followers_query(branch)), rows, COLUMNS)
    assert {entry["id"] for entry in followers.rows} >= {"1"}
    assert len(followers.rows) < len(rows)


@pytest.fixture
def origin(tmp_path: Path) -> tuple[Path, str, str]:
    """A repository with a branch that has the name of an earlier commit; both commits."""
    path, first = bare(tmp_path)
    tree = git(path, "rev-parse", f"{first}^{{tree}}:")
    empty = git(path, "mktree", "--missing", stdin=b"") if tree == "" else tree
    second = git(path, "commit-tree", "-p", first, "-m", "evil", empty)
    git(path, "update-ref", f"refs/heads/{first}", second)
    git(path, "update-ref", f"refs/tags/{first}", second)
    return path, first, second


@breaks(
    "a branch goes before the commit whose id is its name",
    turned(
        "kalypso_actions.clients.git.local.GitRepository.resolve",
        "self.has_commit(revision)",
        "revision == ''",
    ),
)
def test_a_commit_is_a_commit_whatever_branches_are_called(
    tmp_path: Path, origin: tuple[Path, str, str]
) -> None:
    path, first, second = origin
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        assert opened.fetch(url, commit=first).commit == first
        assert opened.fetch(url, branch=first).commit == second
        assert opened.resolve(url, first) == first
        assert opened.heads(url, [first]) == {first: second}
    local = GitRepository(path, programs(), repository="x")
    assert local.at_commit(first).commit == first
    assert local.at_branch(first).commit == second
    assert local.resolve(first) == first


@pytest.mark.parametrize("name", ["refs/heads/main", "heads/main", "origin/main", "mаin"])
def test_a_branch_is_found_by_its_whole_name(tmp_path: Path, name: str) -> None:
    """The last one has a Cyrillic letter."""
    bare(tmp_path)
    with serving(tmp_path / "srv") as server, remotes() as opened:
        url = f"{server.url}/org/repo"
        with pytest.raises(KalypsoError, match="there is no such branch"):
            opened.fetch(url, branch=name)
        assert opened.heads(url, [name]) == {}
