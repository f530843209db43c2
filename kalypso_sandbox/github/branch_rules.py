"""Rules that protect branches, and their reasons to refuse a push or a merge."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.github import statuses
from kalypso_sandbox.github.workflow_files import FOLDER
from kalypso_sandbox.store import BranchRule, Identity, PullRequest, Repository, Store

BRANCHES: Final = "refs/heads/"
UNSIGNED: Final = "Commits must have verified signatures."


def rules_for_branch(repository: Repository, branch: str) -> Sequence[BranchRule]:
    """Return the rules whose pattern matches the branch.

    `*` matches within one part of the name, `**/` any number of parts.
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
    """Return why a ref may not be created (`before` None), moved or deleted (`after` None).

    The commits must be in the repository.
    """
    reason = ref_refusal(store, repository, ref, before, after, identity)
    if reason or after is None:
        return reason
    return workflows_refusal(store, repository, before, after, identity)


def ref_refusal(
    store: Store,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> str | None:
    """Return the same as `refusal`, but without a check of the changed files."""
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
    store: Store,
    repository: Repository,
    before: str | None,
    after: str,
    identity: Identity,
    *,
    by_merge: bool = False,
) -> str | None:
    """Return why an identity may not push workflow files; None if it may.

    A GITHUB_TOKEN never has the permission. Without it, a push may contain a file if another branch
    has an identical one, by path and content. If `workflows_known_from` is the default branch, only
    that branch counts, and this compares all files of a new branch with it. For the merge of a pull
    request (`by_merge`), its own branch does not count.

    https://docs.github.com/actions/security-for-github-actions/security-guides/automatic-token-authentication
    (spinframework/spin#1226; according to DataDog/datadog-agent#49532, only the default branch
    counts; mikelane/valid8r#326 for merges)
    """
    if "workflows" in identity.permissions:
        return None
    git = store.git(repository)
    files = git.files(after)
    if by_merge or store.workflows_known_from == "default branch":
        base, refs = before, [f"{BRANCHES}{repository.default_branch}"]
    else:
        base, refs = before or _known_ancestor(git, after), list(git.refs())
    changed = sorted(git.changed_paths(base, after) if base else files)
    heads = [head for ref, head in git.refs().items() if ref in refs and ref.startswith(BRANCHES)]
    known = [git.files(head) for head in heads] if any(map(_is_workflow, changed)) else []
    file = next(
        (
            path
            for path in changed
            if _is_workflow(path)
            and not any(path in files and other.get(path) == files[path] for other in known)
        ),
        None,
    )
    if file is None:
        return None
    if identity.kind == "user":
        credential, permission = "a Personal Access Token", "`workflow` scope"
    else:
        credential, permission = "a GitHub App", "`workflows` permission"
    name = file.encode("utf-8", "backslashreplace").decode()  # a path may not be valid UTF-8
    return (
        f"refusing to allow {credential} to create or update workflow `{name}` without {permission}"
    )


def _is_workflow(path: str) -> bool:
    return path.startswith(FOLDER)


def _known_ancestor(git: BareRepository, commit: str) -> str | None:
    """Follow first parents; return the first commit that a branch contains."""
    heads = [head for ref, head in git.refs().items() if ref.startswith(BRANCHES)]
    ancestor: str | None = commit
    while ancestor and not any(git.is_ancestor(ancestor, head) for head in heads):
        ancestor = next(iter(git.commit(ancestor).parents), None)
    return ancestor


def merge_refusals(
    store: Store,
    repository: Repository,
    pull_request: PullRequest,
    identity: Identity | None = None,
) -> Sequence[str]:
    """Return why a pull request may not be merged, in GitHub's words.

    Without an identity, this does not check the restriction of pushes.
    """
    reasons = []
    for rule in rules_for_branch(repository, pull_request.base_branch):
        reasons += _review_refusals(rule, pull_request)
        reasons += _context_refusals(repository, rule, pull_request.head_commit)
        if rule.restrict_pushes and identity and identity.login not in rule.may_push:
            reasons.append("You're not authorized to push to this branch.")
        head = pull_request.head_commit
        base = store.git(repository).head(pull_request.base_branch)
        if rule.required_signatures and not _are_signed(store.git(repository), base, head):
            reasons.append(UNSIGNED)
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
    # A ruleset cannot list the job's token: FriendlyInternet/nuxt-crouton#1942.
    if identity.login in rule.may_push and (rule.classic or identity.kind != "actions"):
        return None
    if rule.restrict_pushes:
        return "You're not authorized to push to this branch."
    if rule.required_signatures:
        git = store.git(repository)
        heads = [head for ref, head in git.refs().items() if _applies(rule, ref)]
        if not _are_signed(git, before, after, heads):
            return UNSIGNED
    return _direct_refusal(repository, rule, after) if before else None


def _are_signed(
    git: BareRepository, before: str | None, after: str, heads: Sequence[str] = ()
) -> bool:
    """Whether GitHub has signed all new commits of a ref; those that `heads` reach do not count."""
    base = before or _known_ancestor(git, after)
    commits = git.commits_between(base, after) if base else [git.commit(after)]
    return all(
        commit.signature or any(git.is_ancestor(commit.id, head) for head in heads)
        for commit in commits
    )


def _applies(rule: BranchRule, ref: str) -> bool:
    parts = ref.removeprefix(BRANCHES).split("/")
    return ref.startswith(BRANCHES) and _matches(parts, rule.pattern.split("/"))


def _direct_refusal(repository: Repository, rule: BranchRule, commit: str) -> str | None:
    """Return why a commit needs a pull request; None if a push may add it."""
    if rule.required_reviews:
        return "Changes must be made through a pull request."
    return next(iter(_context_refusals(repository, rule, commit)), None)


def _review_refusals(rule: BranchRule, pull_request: PullRequest) -> list[str]:
    """Return the reasons to refuse a merge: reviews request changes, or approvals are missing."""
    number = rule.required_reviews
    opinions = list(pull_request.opinions.values())
    if number and "CHANGES_REQUESTED" in opinions:
        return ["Changes have been requested."]
    if opinions.count("APPROVED") >= number:
        return []
    reviews = "approving review is" if number == 1 else "approving reviews are"
    return [f"At least {number} {reviews} required by reviewers with write access."]


def _context_refusals(repository: Repository, rule: BranchRule, commit: str) -> list[str]:
    """Return a reason for each required status that is missing or not successful."""
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
