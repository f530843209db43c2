"""Git objects made by the API, who gets a signature, and refs."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.github.branch_rules import combined_state, latest_statuses
from kalypso_sandbox.store import BranchRule, Status
from tests.sandbox.api_client import ApiClient
from tests.sandbox.served_sandbox import NOON

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


@pytest.mark.parametrize(
    ("base", "head", "status", "ahead", "behind"),
    [
        ("main", "main", "identical", 0, 0),
        ("main", "side", "diverged", 1, 2),
        ("v1", "main", "ahead", 2, 0),
        ("main", "v1", "behind", 0, 2),
        ("acme:main", "acme:side", "diverged", 1, 2),
    ],
)
def test_two_commits_compared(
    github: ApiClient, base: str, head: str, status: str, ahead: int, behind: int
) -> None:
    github.made("POST", "git/refs", {"ref": "refs/tags/v1", "sha": github.root})
    side = github.branch("side")
    commits = [github.commit("main", {"a": text}) for text in "12"]
    response = github.made("GET", f"compare/{base}...{head}")
    counts = response["ahead_by"], response["behind_by"]
    assert (response["status"], counts) == (status, (ahead, behind))
    wanted = {"diverged": [side], "ahead": commits}.get(status, [])
    assert [commit["sha"] for commit in response["commits"]] == wanted
    assert response["merge_base_commit"]["sha"] == (
        github.head("main") if status == "identical" else github.root
    )
    paths = {"diverged": ["side.txt"], "ahead": ["a"]}.get(status, [])
    assert [file["filename"] for file in response["files"]] == paths


def test_a_long_comparison_has_pages(github: ApiClient) -> None:
    person = github.git.commit(github.root).author
    tree = github.git.commit(github.root).tree
    made = [github.root]
    for number in range(253):
        made.append(github.git.make_commit(tree, [made[-1]], str(number), person, person))
    github.git.update_ref("refs/heads/long", made[-1], None)
    response = github.made("GET", "compare/main...long")
    assert (response["total_commits"], len(response["commits"])) == (253, 250)
    assert response["commits"][-1]["sha"] == made[-1]
    subjects = []
    answer = github.ask("GET", "compare/main...long?per_page=100")
    subjects += [commit["sha"] for commit in answer.json()["commits"]]
    while "next" in answer.links:
        address = answer.links["next"]["url"].removeprefix(github.sandbox.api_url)
        answer = github.ask("GET", address)
        subjects += [commit["sha"] for commit in answer.json()["commits"]]
    assert subjects == made[1:]
    assert answer.json()["files"] == []


def post(github: ApiClient, state: str, context: str = "k", **more: str) -> None:
    github.made("POST", f"statuses/{github.root}", {"state": state, "context": context, **more})


@pytest.mark.parametrize(
    ("states", "combined"),
    [
        ([], "pending"),
        (["success"], "success"),
        (["success", "pending"], "pending"),
        (["success", "error"], "failure"),
        (["pending", "failure"], "failure"),
    ],
)
def test_the_combined_status(github: ApiClient, states: list[str], combined: str) -> None:
    for number, state in enumerate(states):
        post(github, state, f"context {number}")
    assert combined_state(github.repository.statuses) == combined


def test_the_last_status_of_a_context_counts_whatever_its_case(github: ApiClient) -> None:
    post(github, "failure", "Kalypso/dev", description="first")
    post(github, "success", "kalypso/DEV", description="second")
    (latest,) = latest_statuses(github.repository, github.root).values()
    assert (latest.context, latest.description) == ("kalypso/DEV", "second")
    response = github.made("GET", f"commits/{github.root}/statuses")
    assert [status["description"] for status in response] == ["second", "first"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"state": None}, 'Invalid request.\n\n"state" wasn\'t supplied.'),
        ({"state": "green"}, "Invalid request.\n\nFor 'properties/state', green is not a"),
        ({"description": "é" * 141}, "Validation Failed: description is too long (maximum is 140"),
        ({"context": "c" * 256}, "Validation Failed: context is too long (maximum is 255"),
        ({"context": 5}, "Invalid request."),
        ({"target_url": "javascript:1"}, "Validation Failed: target_url"),
    ],
)
def test_a_status_that_is_refused(
    github: ApiClient, changes: dict[str, object], reason: str
) -> None:
    body = {"state": "success", **changes}
    given = {name: value for name, value in body.items() if value is not None}
    assert github.refused("POST", f"statuses/{github.root}", given).startswith(f"422 {reason}")
    assert github.repository.statuses == []


def test_the_longest_texts_are_taken(github: ApiClient) -> None:
    post(github, "success", "c" * 255, description="é" * 140)
    assert len(github.repository.statuses) == 1


def test_a_commit_takes_a_thousand_statuses_of_a_context(github: ApiClient) -> None:
    github.repository.statuses = [
        Status(
            id=number,
            commit=github.root,
            context="K",
            state="success",
            description=None,
            target_url=None,
            author="a",
            created_at=NOON,
        )
        for number in range(1000)
    ]
    refused = github.refused("POST", f"statuses/{github.root}", {"state": "error", "context": "k"})
    assert "reached the maximum number of statuses" in refused
    post(github, "error", "another")
