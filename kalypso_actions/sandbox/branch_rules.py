"""What protects branches, and why a push or a merge is refused."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from kalypso_actions.sandbox import statuses
from kalypso_actions.sandbox.repositories import BareRepository
from kalypso_actions.sandbox.store import BranchRule, Identity, PullRequest, Repository, Store

BRANCHES: Final = "refs/heads/"
WORKFLOWS: Final = ".github/workflows/"


def rules_for_branch(repository: Repository, branch: str) -> Sequence[BranchRule]:
    """The rules whose pattern matches.

    `*` stays within a part of the name, `**/` stands for any number of parts.
    """
    parts = branch.split("/")
    return [rule for rule in repository.rules if _matches(parts, rule.pattern.split("/"))]


def refusal(
    store: Store,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> str | None:
    """Why a ref may not be made (`before` None), moved or deleted (`after` None); None: it may.

    The commits must be in the repository already. A new branch that goes on from another one
    brings only the workflows that it changes itself.
    """
    reason = ref_refusal(store, repository, ref, before, after, identity)
    if reason or after is None:
        return reason
    base = before or _known_ancestor(store.git(repository), after)
    return workflows_refusal(store, repository, base, after, identity)


def ref_refusal(
    store: Store,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> str | None:
    """The same, without a look at which files change."""
    if ref.startswith("refs/pull/"):
        return "deny updating a hidden ref"
    if not ref.startswith(BRANCHES):
        return None
    branch = ref.removeprefix(BRANCHES)
    if after is None and branch == repository.default_branch:
        return f"refusing to delete the current branch: {ref}"
    refusals = (
        _rule_refusal(store, repository, rule, before, after, identity)
        for rule in rules_for_branch(repository, branch)
    )
    return next(filter(None, refusals), None)


def workflows_refusal(
    store: Store, repository: Repository, before: str | None, after: str, identity: Identity
) -> str | None:
    """Files of workflows need a permission of their own, which a GITHUB_TOKEN never has.

    Without `before` it is held against the default branch.
    """
    if "workflows" in identity.permissions:
        return None
    git = store.git(repository)
    base = before or git.head(repository.default_branch)
    changed = sorted(git.changed_paths(base, after) if base else git.files(after))
    file = next((path for path in changed if path.startswith(WORKFLOWS)), None)
    if file is None:
        return None
    if identity.kind == "user":
        who, what = "a Personal Access Token", "`workflow` scope"
    else:
        who, what = "a GitHub App", "`workflows` permission"
    name = file.encode("utf-8", "backslashreplace").decode()  # it may hold bytes that are no text
    return f"refusing to allow {who} to create or update workflow `{name}` without {what}"


def _known_ancestor(git: BareRepository, commit: str) -> str | None:
    """The first commit that some branch has, on the way back by first parents."""
    heads = [head for ref, head in git.refs().items() if ref.startswith(BRANCHES)]
    way: str | None = commit
    while way and not any(git.is_ancestor(way, head) for head in heads):
        way = next(iter(git.commit(way).parents), None)
    return way


def merge_refusals(
    repository: Repository, pull_request: PullRequest, identity: Identity | None = None
) -> Sequence[str]:
    """Why a pull request may not be merged, in GitHub's words.

    Without an identity, whoever may merge at all is meant.
    """
    reasons = []
    for rule in rules_for_branch(repository, pull_request.base_branch):
        reasons += _review_refusals(rule, pull_request)
        reasons += _context_refusals(repository, rule, pull_request.head_commit)
        if rule.restrict_pushes and identity and identity.login not in rule.may_push:
            reasons.append("You're not authorized to push to this branch.")
    return reasons


def _rule_refusal(
    store: Store,
    repository: Repository,
    rule: BranchRule,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> str | None:
    if after is None:
        return "Cannot delete this branch"
    forced = before is not None and not store.git(repository).is_ancestor(before, after)
    if forced and not rule.allow_force_push:
        return "Cannot force-push to this branch"
    if identity.login in rule.may_push:
        return None
    if rule.restrict_pushes:
        return "You're not authorized to push to this branch."
    return _direct_refusal(repository, rule, after) if before else None


def _direct_refusal(repository: Repository, rule: BranchRule, commit: str) -> str | None:
    """Why a branch may not be moved without a pull request."""
    if rule.required_reviews:
        return "Changes must be made through a pull request."
    return next(iter(_context_refusals(repository, rule, commit)), None)


def _review_refusals(rule: BranchRule, pull_request: PullRequest) -> list[str]:
    """Which reviews are not there, or ask for something else."""
    number = rule.required_reviews
    opinions = list(pull_request.opinions.values())
    if number and "CHANGES_REQUESTED" in opinions:
        return ["Changes have been requested."]
    if opinions.count("APPROVED") >= number:
        return []
    reviews = "approving review is" if number == 1 else "approving reviews are"
    return [f"At least {number} {reviews} required by reviewers with write access."]


def _context_refusals(repository: Repository, rule: BranchRule, commit: str) -> list[str]:
    """Which required statuses are not there."""
    known = statuses.latest(repository, commit)
    reasons = []
    for context in rule.required_contexts:
        status = known.get(context.lower())
        if status is None:
            reasons.append(f'Required status check "{context}" is expected.')
        elif status.state != "success":
            state = "pending" if status.state == "pending" else "failing"
            reasons.append(f'Required status check "{context}" is {state}.')
    return reasons


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not pattern and not parts
    if pattern[0] == "**" and pattern[1:]:
        return _matches(parts, pattern[1:]) or _matches(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
