"""Rules that protect branches: why a push or a merge is refused, and what can be merged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

from kalypso_actions.model.workflow_files import FOLDER
from kalypso_sandbox.git.objects import Person
from kalypso_sandbox.git.repositories import BareRepository, RefUpdate
from kalypso_sandbox.github.access import RepositoryAccess
from kalypso_sandbox.store import BranchRule, Issue, PullRequest, Repository, Status, Store

UNSIGNED: Final = "Commits must have verified signatures."
NOT_AUTHORIZED: Final = "You're not authorized to push to this branch."


def rules_for_branch(repository: Repository, branch: str) -> Sequence[BranchRule]:
    """Return the rules whose pattern matches the branch.

    `*` matches within one part of the name, `**/` any number of parts.
    """
    return [rule for rule in repository.rules if _applies(rule, branch)]


def refusal(access: RepositoryAccess, update: RefUpdate) -> str | None:
    """Return why an update is refused; None if it is permitted.

    The commits must be in the repository.
    """
    reason = ref_refusal(access, update)
    if reason or update.after is None:
        return reason
    return workflows_refusal(access, update.before, update.after)


def ref_refusal(access: RepositoryAccess, update: RefUpdate) -> str | None:
    """Return the same as `refusal`, but without a check of the changed files."""
    if update.ref.startswith("refs/pull/"):
        return "deny updating a hidden ref"
    if not update.branch:
        return None
    if update.after is None and update.branch == access.repository.default_branch:
        return f"refusing to delete the current branch: {update.ref}"
    rules = rules_for_branch(access.repository, update.branch)
    return next(filter(None, (_rule_refusal(access, rule, update) for rule in rules)), None)


def workflows_refusal(
    access: RepositoryAccess, before: str | None, after: str, *, by_merge: bool = False
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
    if "workflows" in access.identity.permissions:
        return None
    git = access.git
    files, branches = git.files(after), git.branches()
    if by_merge or access.store.workflows_known_from == "default branch":
        base, default = before, access.repository.default_branch
        branches = {name: head for name, head in branches.items() if name == default}
    else:
        base = before or _known_ancestor(git, after)
    changed = git.changed_paths(base, after) if base else files
    workflows = sorted(path for path in changed if path.startswith(FOLDER))
    known = [git.files(head) for head in branches.values()] if workflows else []
    file = next(
        (
            path
            for path in workflows
            if not any(path in files and other.get(path) == files[path] for other in known)
        ),
        None,
    )
    if file is None:
        return None
    if access.identity.kind == "user":
        credential, permission = "a Personal Access Token", "`workflow` scope"
    else:
        credential, permission = "a GitHub App", "`workflows` permission"
    name = file.encode("utf-8", "backslashreplace").decode()  # a path may not be valid UTF-8
    return (
        f"refusing to allow {credential} to create or update workflow `{name}` without {permission}"
    )


def merge_refusals(
    access: RepositoryAccess, pull: PullRequest, *, check_identity: bool = True
) -> Sequence[str]:
    """Return why a pull request may not be merged, in GitHub's words.

    Without `check_identity`, this does not check the restriction of pushes.
    """
    reasons = []
    for rule in rules_for_branch(access.repository, pull.base_branch):
        if number := rule.required_reviews:
            reviews = "approving review is" if number == 1 else "approving reviews are"
            reasons.append(f"At least {number} {reviews} required by reviewers with write access.")
        reasons += _context_refusals(access.repository, rule, pull.head_commit)
        if rule.restrict_pushes and check_identity and access.identity.login not in rule.may_push:
            reasons.append(NOT_AUTHORIZED)
        base = access.git.head(pull.base_branch)
        if rule.required_signatures and not _are_signed(access.git, base, pull.head_commit):
            reasons.append(UNSIGNED)
    return reasons


@dataclass(frozen=True, slots=True)
class Mergeability:
    """`mergeable` is None for a closed pull request, because GitHub does not try to merge it."""

    mergeable: bool | None
    state: Literal["clean", "unstable", "blocked", "draft", "dirty", "unknown"]


def check_mergeability(access: RepositoryAccess, issue: Issue) -> Mergeability:
    """Try to merge the current heads, and check the rules of the base branch."""
    pull = issue.pull
    if issue.state == "closed":
        return Mergeability(None, "unknown")
    if not try_merge(access, issue):
        return Mergeability(False, "dirty")
    if pull.draft:
        return Mergeability(True, "draft")
    if merge_refusals(access, pull, check_identity=False):
        return Mergeability(True, "blocked")
    known = latest_statuses(access.repository, pull.head_commit).values()
    is_unstable = known and combined_state(known) != "success"
    return Mergeability(True, "unstable" if is_unstable else "clean")


def try_merge(access: RepositoryAccess, issue: Issue) -> bool:
    """Update `refs/pull/N/merge`; return whether the merge succeeds."""
    git, pull = access.git, issue.pull
    base, head, before = git.head(pull.base_branch), pull.head_commit, pull.merge_commit
    if base is None:
        return False
    if before and git.commit(before).parents == (base, head):
        return True
    tree = git.merge_tree(base, head)
    pull.merge_commit = ""
    if tree is not None:
        person = github_committer(access.store)
        message = f"Merge {head} into {base}"
        pull.merge_commit = git.make_commit(tree, [base, head], message, person, person)
    set_ref(git, f"refs/pull/{issue.number}/merge", pull.merge_commit)
    return tree is not None


def set_ref(git: BareRepository, ref: str, commit: str) -> None:
    """Set one of GitHub's own refs to a commit; "" deletes it."""
    before = git.ref(ref)
    if before != (commit or None):
        git.update_ref(ref, commit or None, before)


def github_committer(store: Store) -> Person:
    """Return the committer of GitHub's merges."""
    return Person("GitHub", "noreply@github.com", store.now)


def latest_statuses(repository: Repository, commit: str) -> Mapping[str, Status]:
    """Return the latest status of each context, by the context in lower case."""
    return {
        status.context.lower(): status for status in repository.statuses if status.commit == commit
    }


def combined_state(statuses: Collection[Status]) -> Literal["failure", "pending", "success"]:
    """Return one state for all: `failure` for any error or failure, `pending` without statuses."""
    states = {status.state for status in statuses}
    if states & {"error", "failure"}:
        return "failure"
    return "success" if states == {"success"} else "pending"


def _known_ancestor(git: BareRepository, commit: str) -> str | None:
    """Follow first parents; return the first commit that a branch contains."""
    heads = git.branches().values()
    ancestor: str | None = commit
    while ancestor and not any(git.is_ancestor(ancestor, head) for head in heads):
        ancestor = next(iter(git.commit(ancestor).parents), None)
    return ancestor


def _rule_refusal(access: RepositoryAccess, rule: BranchRule, update: RefUpdate) -> str | None:
    git, identity = access.git, access.identity
    before, after = update.before, update.after
    if after is None:
        return "Cannot delete this branch"
    if before is not None and not rule.allow_force_push and not git.is_ancestor(before, after):
        return "Cannot force-push to this branch"
    # A ruleset cannot list the job's token: FriendlyInternet/nuxt-crouton#1942.
    if identity.login in rule.may_push and (rule.classic or identity.kind != "actions"):
        return None
    if rule.restrict_pushes:
        return NOT_AUTHORIZED
    if rule.required_signatures:
        heads = [head for name, head in git.branches().items() if _applies(rule, name)]
        if not _are_signed(git, before, after, heads):
            return UNSIGNED
    return _direct_refusal(access.repository, rule, after) if before else None


def _direct_refusal(repository: Repository, rule: BranchRule, commit: str) -> str | None:
    """Return why a commit needs a pull request; None if a push may add it."""
    if rule.required_reviews:
        return "Changes must be made through a pull request."
    return next(iter(_context_refusals(repository, rule, commit)), None)


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


def _context_refusals(repository: Repository, rule: BranchRule, commit: str) -> list[str]:
    """Return a reason for each required status that is missing or not successful."""
    known = latest_statuses(repository, commit)
    reasons = []
    for context in rule.required_contexts:
        status = known.get(context.lower())
        if status is None:
            reasons.append(f'Required status check "{context}" is expected.')
        elif status.state != "success":
            state = "pending" if status.state == "pending" else "failing"
            reasons.append(f'Required status check "{context}" is {state}.')
    return reasons


def _applies(rule: BranchRule, branch: str) -> bool:
    return _matches(branch.split("/"), rule.pattern.split("/"))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not pattern and not parts
    if pattern[0] == "**" and pattern[1:]:
        return _matches(parts, pattern[1:]) or _matches(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
