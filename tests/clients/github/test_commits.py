"""Commits, and comparisons of two commits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import responses
from responses import matchers

from kalypso_actions.clients.github import GitHubError, commits
from kalypso_actions.model.github import Commit
from kalypso_actions.model.history import BranchPosition
from tests.clients.github.connections import REPOSITORY, connect


def test_get() -> None:
    answer = {
        "sha": "c1",
        "tree": {"sha": "t1"},
        "parents": [{"sha": "c0"}, {"sha": "b0"}],
        "message": "Promote\n\nto qa",
        "committer": {"date": "2026-03-01T12:00:00Z"},
    }
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/commits/c1", json=answer)
        result = commits.get(connect(), "acme/fleet", "c1")
    date = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert result == Commit("c1", "t1", ("c0", "b0"), "Promote\n\nto qa", date)


def test_get_of_an_unknown_commit() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/commits/c1", status=404, json={"message": "Not Found"})
        with pytest.raises(GitHubError, match="the commit c1 cannot be read"):
            commits.get(connect(), "acme/fleet", "c1")


def compared(server: responses.RequestsMock, path: str, **answer: Any) -> None:
    """Answer the second page of a comparison, which has no files."""
    server.get(
        f"{REPOSITORY}/compare/{path}",
        json={"total_commits": 5000, "commits": [{"sha": "c2"}], **answer},
        match=[matchers.query_param_matcher({"per_page": "1", "page": "2"})],
    )


@pytest.mark.parametrize("relation", ["identical", "ahead", "behind", "diverged"])
def test_a_relation_takes_one_request_without_files(relation: str) -> None:
    """Branches with slashes are one segment each."""
    with responses.RequestsMock() as server:
        compared(server, "env%2Fdev...env%2Fqa", status=relation)
        assert commits.relation(connect(), "acme/fleet", "env/dev", "env/qa") == relation


def test_missing_commits_have_no_relation() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/compare/old...new", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY, json={"full_name": "acme/fleet"})
        assert commits.relation(connect(), "acme/fleet", "old", "new") is None


def test_a_merge_base() -> None:
    with responses.RequestsMock() as server:
        compared(server, "old...new", merge_base_commit={"sha": "base"})
        assert commits.merge_base(connect(), "acme/fleet", "old", "new") == "base"


@pytest.mark.parametrize(
    ("status", "ahead"), [("identical", 0), ("ahead", 3), ("behind", None), ("diverged", None)]
)
def test_the_position_of_a_commit_on_a_branch(status: str, ahead: int | None) -> None:
    base = {"sha": "c1", "commit": {"message": "Promote\n\nto qa"}}
    with responses.RequestsMock() as server:
        compared(server, "c1...env%2Fqa", status=status, ahead_by=ahead or 0, base_commit=base)
        position = commits.position(connect(), "acme/fleet", "c1", "env/qa")
    assert position == BranchPosition("env/qa", "c1", "Promote", ahead)


def test_a_missing_commit_has_no_position() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/compare/old...main", status=404, json={"message": "Not Found"})
        server.get(REPOSITORY, json={"full_name": "acme/fleet"})
        position = commits.position(connect(), "acme/fleet", "old", "main")
    assert position == BranchPosition("main", "old", "", None)
