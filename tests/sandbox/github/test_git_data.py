"""Git objects made by the API, and who gets a signature."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.store import BranchRule
from tests.sandbox.github.api_client import ApiClient

RULE = BranchRule(pattern="dev", required_signatures=True)
UNSIGNED = "422 Repository rule violations found\n\nCommits must have verified signatures.\n\n"
AUTHOR = {"name": "anna", "email": "anna@example.com"}


def made(github: ApiClient, token: str, **more: Any) -> Any:
    tree = {"path": "a", "mode": "100644", "type": "blob", "content": "1"}
    body = {"base_tree": github.head("main"), "tree": [tree]}
    sha = github.made("POST", "git/trees", body, token=token)["sha"]
    body = {"message": "m", "tree": sha, "parents": [github.head("main")], **more}
    return github.made("POST", "git/commits", body, token=token)


@pytest.mark.parametrize(
    ("person", "more", "verified"),
    [
        (False, {}, True),
        (True, {}, False),
        (False, {"author": AUTHOR}, False),
        (False, {"committer": AUTHOR}, False),
    ],
    ids=["job", "person", "author", "committer"],
)
def test_whose_commits_are_signed(
    github: ApiClient, person: bool, more: dict[str, Any], verified: bool
) -> None:
    commit = made(github, github.token if person else github.job, **more)
    assert commit["verification"]["verified"] == verified
    github.made("POST", "git/refs", {"ref": "refs/heads/dev", "sha": github.root})
    github.repository.rules.append(RULE)
    path, body = "git/refs/heads/dev", {"sha": commit["sha"]}
    if verified:
        github.made("PATCH", path, body)
        assert github.head("dev") == commit["sha"]
    else:
        assert github.refused("PATCH", path, body) == UNSIGNED


def test_a_rule_is_listed_and_applies_to_merges(github: ApiClient) -> None:
    github.branch("dev")
    github.branch("feature", at=github.head("dev"))
    github.repository.rules.append(RULE)
    response = github.made("GET", "rules/branches/dev")
    assert "required_signatures" in [rule["type"] for rule in response]
    number = github.propose("feature", "dev")
    assert github.made("GET", f"pulls/{number}")["mergeable_state"] == "blocked"
    refused = github.refused("PUT", f"pulls/{number}/merge", {})
    assert refused == "405 Commits must have verified signatures."


@pytest.mark.parametrize(
    "entry",
    [
        {"mode": "100644"},
        {"path": "a", "mode": "644", "content": "1"},
        {"path": "../a", "mode": "100644", "content": "1"},
        {"path": "a", "mode": "100644"},
        {"path": "a", "mode": "100644", "sha": "1" * 40},
        {"path": "a", "mode": "100644", "sha": "1" * 40, "content": "1"},
    ],
)
def test_invalid_entries(github: ApiClient, entry: dict[str, str]) -> None:
    body = {"base_tree": github.root, "tree": [entry]}
    assert github.refused("POST", "git/trees", body).startswith("422 ")


def test_updates_of_refs_are_all_or_none(github: ApiClient) -> None:
    commit = made(github, github.job)["sha"]
    node = github.made("GET", "/repos/acme/fleet")["node_id"]
    mutation = "mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { __typename } }"

    def update(*updates: dict[str, Any]) -> Any:
        given = {"input": {"repositoryId": node, "refUpdates": updates}}
        return github.made("POST", "/graphql", {"query": mutation, "variables": given})

    new = {"name": "refs/heads/new", "beforeOid": "0" * 40, "afterOid": commit}
    forward = {"name": "refs/heads/main", "beforeOid": github.root, "afterOid": commit}
    stale = {**forward, "beforeOid": commit}
    (error,) = update(new, stale)["errors"]
    assert error["type"] == "UNPROCESSABLE"
    assert github.git.head("new") is None
    assert "errors" not in update(new, forward)
    assert github.head("new") == github.head("main") == commit
    back = {"name": "refs/heads/main", "beforeOid": commit, "afterOid": github.root}
    (error,) = update(back)["errors"]
    assert error["message"] == "Update is not a fast forward"
    assert "errors" not in update({**back, "force": True})
    assert github.head("main") == github.root
