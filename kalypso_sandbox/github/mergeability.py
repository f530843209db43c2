"""Check whether a pull request can be merged. Like GitHub, keep the test merge as a ref."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kalypso_sandbox.git.commits import Person
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.github import branch_rules, statuses
from kalypso_sandbox.store import Issue, PullRequest, Repository, Store

State = Literal["clean", "unstable", "blocked", "draft", "dirty", "unknown"]


@dataclass(frozen=True, slots=True)
class Mergeability:
    """`mergeable` is None for a closed pull request, because GitHub does not try to merge it."""

    mergeable: bool | None
    state: State


def check_mergeability(
    store: Store, repository: Repository, issue: Issue, pull_request: PullRequest
) -> Mergeability:
    """Try to merge the current heads, and check the rules of the base branch."""
    if issue.state == "closed":
        return Mergeability(None, "unknown")
    if not try_merge(store, repository, issue, pull_request):
        return Mergeability(False, "dirty")
    return Mergeability(True, _state(store, repository, pull_request))


def try_merge(
    store: Store, repository: Repository, issue: Issue, pull_request: PullRequest
) -> bool:
    """Update `refs/pull/N/merge`; return whether the merge succeeds."""
    git = store.git(repository)
    base = git.head(pull_request.base_branch)
    head = pull_request.head_commit
    before = pull_request.merge_commit
    if base is None:
        return False
    if before and git.commit(before).parents == (base, head):
        return True
    tree = git.merge_tree(base, head)
    if tree is None:
        pull_request.merge_commit = ""
    else:
        person = github_committer(store.now)
        message = f"Merge {head} into {base}"
        pull_request.merge_commit = git.make_commit(tree, [base, head], message, person, person)
    set_ref(git, f"refs/pull/{issue.number}/merge", pull_request.merge_commit)
    return tree is not None


def set_ref(git: BareRepository, ref: str, commit: str) -> None:
    """Set one of GitHub's own refs to a commit; "" deletes it."""
    before = git.ref(ref)
    if before != (commit or None):
        git.update_ref(ref, commit or None, before)


def github_committer(now: datetime) -> Person:
    """Return the committer of GitHub's merges."""
    return Person("GitHub", "noreply@github.com", now)


def _state(store: Store, repository: Repository, pull_request: PullRequest) -> State:
    if pull_request.draft:
        return "draft"
    if branch_rules.merge_refusals(store, repository, pull_request):
        return "blocked"
    known = statuses.latest(repository, pull_request.head_commit).values()
    return "unstable" if known and statuses.combined(known) != "success" else "clean"
