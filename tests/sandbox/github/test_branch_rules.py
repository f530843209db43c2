"""The rules of a branch, and the pushes that they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_sandbox.git.repositories import RefUpdate
from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.access import access_of_event
from kalypso_sandbox.store import BranchRule, Identity, Permissions
from tests.sandbox.api_client import ApiClient

JOB = Identity(kind="actions", login="github-actions[bot]", permissions={"contents": "write"})
WORKFLOW = {".github/workflows/a.yaml": "on: push\n"}


def identity(login: str = "anna", *, permissions: Permissions | None = None) -> Identity:
    return Identity(kind="user", login=login, permissions=permissions or {"workflows": "write"})


def refusal(
    github: ApiClient,
    before: str | None,
    after: str | None,
    *,
    ref: str = "refs/heads/dev",
    by: Identity | None = None,
) -> str | None:
    access = access_of_event(github.sandbox.store, github.repository, by or identity())
    return branch_rules.refusal(access, RefUpdate(ref, before, after))


@pytest.mark.parametrize(
    ("pattern", "branch", "matches"),
    [
        ("main", "main", True),
        ("main", "Main", False),
        ("*", "main", True),
        ("*", "release/1", False),
        ("release/*", "release/1", True),
        ("release/*", "release/1/2", False),
        ("**", "main", True),
        ("**", "release/1", False),
        ("**/*", "release/1/2", True),
        ("release/**/*", "release/1", True),
        ("release/**/fix", "release/1/2/fix", True),
        ("release/**/fix", "release/1/2", False),
        ("env-[dq]*", "env-qa", True),
        ("env-[dq]*", "env-prod", False),
    ],
)
def test_which_branches_a_rule_means(
    github: ApiClient, pattern: str, branch: str, matches: bool
) -> None:
    github.repository.rules.append(BranchRule(pattern=pattern))
    assert bool(branch_rules.rules_for_branch(github.repository, branch)) == matches


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({}, None),
        ({"required_reviews": 1}, "Changes must be made through a pull request."),
        ({"required_reviews": 1, "may_push": ["anna"]}, None),
        ({"required_contexts": ["k"]}, 'Required status check "k" is expected.'),
        ({"restrict_pushes": True}, "You're not authorized to push to this branch."),
        ({"restrict_pushes": True, "may_push": ["anna"]}, None),
        ({"restrict_pushes": True, "may_push": ["b"]}, "You're not authorized to push to this"),
    ],
)
def test_who_may_push(github: ApiClient, rule: dict[str, Any], reason: str | None) -> None:
    after = github.commit("main", {"a": "1"})
    github.repository.rules.append(BranchRule(pattern="dev", **rule))
    refused = refusal(github, github.root, after)
    assert refused is None if reason is None else refused and refused.startswith(reason)


@pytest.mark.parametrize(
    ("kind", "classic", "may_push"),
    [("actions", False, False), ("actions", True, True), ("installation", False, True)],
)
def test_a_ruleset_cannot_let_a_job_s_token_bypass_it(
    github: ApiClient, kind: Any, classic: bool, may_push: bool
) -> None:
    by = Identity(kind=kind, login="x[bot]", permissions={"workflows": "write"})
    rule = BranchRule(pattern="dev", required_reviews=1, may_push=["x[bot]"], classic=classic)
    github.repository.rules.append(rule)
    after = github.commit("main", {"a": "1"})
    assert (refusal(github, github.root, after, by=by) is None) is may_push


def test_a_protected_branch_is_neither_forced_nor_deleted(github: ApiClient) -> None:
    side = github.branch("side")
    after = github.commit("main", {"a": "1"})
    assert refusal(github, side, after) is None
    rule = BranchRule(pattern="dev", may_push=["anna"])
    github.repository.rules.append(rule)
    assert refusal(github, side, after) == "Cannot force-push to this branch"
    assert refusal(github, side, None) == "Cannot delete this branch"
    rule.allow_force_push = True
    assert refusal(github, side, after) is None


def test_a_protected_branch_may_be_made(github: ApiClient) -> None:
    github.repository.rules.append(BranchRule(pattern="dev", required_reviews=1))
    assert refusal(github, None, github.root) is None


def test_refs_that_github_keeps_for_itself(github: ApiClient) -> None:
    hidden = refusal(github, None, github.root, ref="refs/pull/1/head")
    assert hidden == "deny updating a hidden ref"
    current = refusal(github, github.root, None, ref="refs/heads/main")
    assert current == "refusing to delete the current branch: refs/heads/main"
    assert refusal(github, None, github.root, ref="refs/tags/v1") is None


def test_workflows_are_changed_by_permission_only(github: ApiClient) -> None:
    nobody: Permissions = {"contents": "write"}
    git = github.sandbox.git("acme/fleet")
    after = github.commit("main", WORKFLOW)
    assert git.update_ref("refs/heads/main", github.root, after)
    file = "`.github/workflows/a.yaml`"
    assert refusal(github, github.root, after, by=JOB) == (
        f"refusing to allow a GitHub App to create or update workflow {file} without "
        "`workflows` permission"
    )
    assert refusal(github, github.root, after, by=identity(permissions=nobody)) == (
        f"refusing to allow a Personal Access Token to create or update workflow {file} without "
        "`workflow` scope"
    )
    assert refusal(github, github.root, after) is None
    assert git.update_ref("refs/heads/main", after, github.root)
    assert refusal(github, None, after, by=JOB) is None, "main has the commit"
    assert refusal(github, github.root, after, by=JOB) is None, "main has the file"
    later = github.commit("main", {"b": "1"})
    assert refusal(github, after, later, by=JOB) is None
    assert refusal(github, None, github.root, by=JOB) is None, "main has it, the file aside"
    assert refusal(github, later, github.root, by=JOB) is not None, "it takes the file away"
    assert refusal(github, after, None, by=JOB) is None


def test_a_new_branch_brings_what_it_does_not_have_from_another(github: ApiClient) -> None:
    """The other branch may differ from the default branch in any way."""
    github.commit("main", WORKFLOW)
    github.made("POST", "git/refs", {"ref": "refs/heads/dev", "sha": github.root})
    github.commit("dev", {".github/workflows/b.yaml": "on: push\n"})
    onward = github.commit("dev", {"notes.txt": "1"})
    assert refusal(github, None, onward, ref="refs/heads/ours", by=JOB) is None
    git = github.sandbox.git("acme/fleet")
    changed = github.commit("dev", {".github/workflows/b.yaml": "on: pull_request\n"})
    assert git.update_ref("refs/heads/dev", onward, changed)
    assert refusal(github, None, changed, ref="refs/heads/ours", by=JOB) is not None


@pytest.mark.parametrize("known_from", ["any branch", "default branch"])
def test_identical_workflows_may_be_pushed(github: ApiClient, known_from: Any) -> None:
    """The path and the content count; the default branch may be the only one that does."""
    github.sandbox.store.workflows_known_from = known_from
    github.made("POST", "git/refs", {"ref": "refs/heads/dev", "sha": github.root})
    of_dev = github.commit("dev", {".github/workflows/b.yaml": "on: push\n"})
    github.commit("main", WORKFLOW)
    is_strict = known_from == "default branch"
    assert (refusal(github, None, of_dev, ref="refs/heads/ours", by=JOB) is None) is not is_strict
    github.commit("main", {".github/workflows/b.yaml": "on: push\n"})
    assert refusal(github, None, of_dev, ref="refs/heads/ours", by=JOB) is None


def test_a_new_branch_may_lack_the_workflows_of_the_default_branch(github: ApiClient) -> None:
    github.commit("main", WORKFLOW)
    git = github.sandbox.git("acme/fleet")
    root = git.commit(github.root)
    orphan = git.make_commit(root.tree, [], "a root", root.author, root.author)
    assert refusal(github, None, orphan, ref="refs/heads/ours", by=JOB) is None


def test_the_api_refuses_what_the_rules_do(github: ApiClient) -> None:
    github.made("POST", "git/refs", {"ref": "refs/heads/dev", "sha": github.root})
    github.repository.rules.append(BranchRule(pattern="dev", required_reviews=1))
    after = github.commit("main", {"a": "1"})
    refused = github.refused("PATCH", "git/refs/heads/dev", {"sha": after})
    words = "Changes must be made through a pull request."
    assert refused == f"422 Repository rule violations found\n\n{words}\n\n"
    assert github.head("dev") == github.root
    response = github.made("GET", "rules/branches/dev")
    assert [rule["type"] for rule in response] == ["deletion", "non_fast_forward", "pull_request"]
    assert github.made("GET", "branches/dev")["protected"] is True
    assert github.made("GET", "rules/branches/main") == []
