"""The heads and rules of branches."""

from __future__ import annotations

import pytest
import responses

from kalypso_actions.clients.github import GitHubError, branches
from kalypso_actions.model.github import BranchRules
from tests.clients.github.connections import REPOSITORY, connect

NOT_FOUND = {"message": "Not Found"}


@pytest.mark.parametrize(
    ("branch", "path"),
    [
        ("main", "heads/main"),
        ("feat/a", "heads/feat/a"),
        ("a#b%c", "heads/a%23b%25c"),
        ("ümläut", "heads/%C3%BCml%C3%A4ut"),
    ],
)
def test_a_head_is_requested_by_its_exact_name(branch: str, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/ref/{path}", json={"object": {"sha": "abc"}})
        assert branches.head(connect(), "acme/fleet", branch) == "abc"
        assert server.calls[0].request.path_url == f"/repos/acme/fleet/git/ref/{path}"


def test_an_absent_branch() -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/ref/heads/main", status=404, json=NOT_FOUND)
        server.get(REPOSITORY, json={"id": 1})
        assert branches.head(connect(), "acme/fleet", "main") is None


def test_a_repository_without_commits_has_no_branch() -> None:
    empty = {"message": "Git Repository is empty."}
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/ref/heads/main", status=409, json=empty)
        assert branches.head(connect(), "acme/fleet", "main") is None


@pytest.mark.parametrize(("status", "message"), [(409, "Conflict"), (403, "No")])
def test_other_refusals_are_errors(status: int, message: str) -> None:
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/git/ref/heads/main", status=status, json={"message": message})
        with pytest.raises(GitHubError, match="the branch main cannot be read"):
            branches.head(connect(), "acme/fleet", "main")


def test_a_rule_without_parameters() -> None:
    """GitHub's description does not promise them."""
    with responses.RequestsMock() as server:
        server.get(f"{REPOSITORY}/rules/branches/main", json=[{"type": "pull_request"}])
        assert branches.rules(connect(), "acme/fleet", "main") == BranchRules(("pull_request",))
