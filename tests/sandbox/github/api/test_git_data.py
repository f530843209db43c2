"""Git objects made by the API, who gets a signature, and refs."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.store import BranchRule
from tests.sandbox.api_client import ApiClient

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


def test_a_ref_is_made_read_moved_and_deleted(github: ApiClient) -> None:
    made = github.made("POST", "git/refs", {"ref": "refs/heads/feat/a", "sha": github.root})
    assert made["object"]["sha"] == github.root
    assert github.made("GET", "git/ref/heads/feat/a") == made
    assert github.made("GET", "git/ref/heads/feat%2Fa") == made
    commit = github.commit("main", {"a": "1"})
    moved = github.made("PATCH", "git/refs/heads/feat/a", {"sha": commit})
    assert moved["object"]["sha"] == github.head("feat/a") == commit
    assert github.ask("DELETE", "git/refs/heads/feat/a").status_code == 204
    assert github.git.head("feat/a") is None
    assert {event.name for event in github.events()} == {"push"}
    pushed = [event.ref.removeprefix("refs/heads/") for event in github.events()]
    assert pushed == ["feat/a", "main", "feat/a", "feat/a"]


@pytest.mark.parametrize(
    ("ref", "sha", "reason"),
    [
        ("refs/heads/main", "{root}", "422 Reference already exists"),
        ("refs/heads/main/below", "{root}", "422 Reference update failed"),
        ("refs/heads/a..b", "{root}", "422 refs/heads/a..b is not a valid ref name."),
        ("refs/heads/a", "0" * 40, "422 Object does not exist"),
        ("refs/heads/a", "{tree}", "422 Reference update failed"),
        ("refs/heads/a", "main", "422 The sha parameter must be exactly 40 characters"),
        ("heads/a", "{root}", "422 Reference name must contain at least three"),
        ("refs/pull/1/head", "{root}", "422 Repository rule violations found\n\ndeny updating"),
    ],
)
def test_a_ref_that_cannot_be_made(github: ApiClient, ref: str, sha: str, reason: str) -> None:
    sha = sha.format(root=github.root, tree=github.git.tree_id("main", ""))
    assert github.refused("POST", "git/refs", {"ref": ref, "sha": sha}).startswith(reason)


def test_a_ref_moves_forward_only_unless_forced(github: ApiClient) -> None:
    github.made("PATCH", "git/refs/heads/main", {"sha": github.root})
    assert github.events() == [], "it was there already"
    side = github.branch("side")
    ahead = github.commit("main", {"a": "1"})
    refused = github.refused("PATCH", "git/refs/heads/main", {"sha": side})
    assert refused == "422 Update is not a fast forward"
    assert github.head("main") == ahead
    github.made("PATCH", "git/refs/heads/main", {"sha": side, "force": True})
    assert github.head("main") == side
    pushed = github.events("push")[-1].payload
    assert (pushed["before"], pushed["after"], pushed["forced"]) == (ahead, side, True)


def test_an_unknown_ref_is_neither_moved_nor_deleted(github: ApiClient) -> None:
    refused = github.refused("PATCH", "git/refs/heads/nowhere", {"sha": github.root})
    assert refused == "422 Reference does not exist"
    assert github.refused("DELETE", "git/refs/heads/nowhere") == refused
    current = github.refused("DELETE", "git/refs/heads/main")
    assert "refusing to delete the current branch" in current


def test_a_tag_with_a_message(github: ApiClient) -> None:
    text = f"object {github.root}\ntype commit\ntag v1\ntagger A <a@b.c> 0 +0000\n\nOne\n"
    tag = github.git._run("mktag", stdin=text.encode()).decode().strip()
    made = github.made("POST", "git/refs", {"ref": "refs/tags/v1", "sha": tag})
    assert made["object"]["type"] == "tag"
    assert github.made("GET", "git/commits/v1")["sha"] == github.root
    assert github.events("push")[-1].payload["head_commit"]["id"] == github.root
