"""A ref has moved: record the event, and let pull requests follow, close or reopen; merge them.

Deleting the head branch of an open pull request closes it: `closed` precedes `head_ref_deleted`,
with the same actor and time. A merge records `merged`, then `closed`.

https://docs.github.com/rest/using-the-rest-api/issue-event-types
https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kalypso_sandbox.git.objects import GitCommit, Person
from kalypso_sandbox.git.repositories import BRANCHES, BareRepository, RefUpdate
from kalypso_sandbox.github import events
from kalypso_sandbox.github.access import RepositoryAccess, access_of_event
from kalypso_sandbox.github.branch_rules import (
    check_mergeability,
    github_committer,
    set_ref,
    try_merge,
    workflows_refusal,
)
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.payloads.accounts import own_person
from kalypso_sandbox.store import Issue, IssueEvent, PullRequest, Repository, Store

NOT_MERGEABLE: Final = "Pull Request is not mergeable"

READY: Final = frozenset({"clean", "unstable"})


def handle_push(access: RepositoryAccess, update: RefUpdate) -> None:
    """Record that git or the API created, moved or deleted a ref.

    An open pull request follows its branch, also in a fork. Close a pull request if its branch or
    base is deleted, or if it has no more commits of its own. Mark a pull request as merged if a
    push to the base contains its commits.
    """
    access.repository.pushed_at = access.store.now
    events.push(access, update)
    branch = update.branch
    if not branch:
        return
    if access.repository.parent:
        _fork_moved(access, update)
    if update.after is None:
        _branch_deleted(access, branch, update.before)
        return
    if update.before is None:
        access.repository.branches_created_at[branch] = access.store.now
        for issue in _issues_of_head(access.repository, branch, update.after):
            kinds = [event.event for event in issue.events if event.event.startswith("head_ref_")]
            if kinds[-1:] == ["head_ref_deleted"]:
                record(access, issue, "head_ref_restored")
    _branch_moved(access, branch, update.after)


def open_pull_requests(repository: Repository) -> Iterator[Issue]:
    """Yield the open pull requests."""
    for issue in list(repository.issues.values()):
        if issue.pull_request and issue.state == "open":
            yield issue


def _fork_moved(access: RepositoryAccess, update: RefUpdate) -> None:
    """Update or close the pull requests of a fork's branch, which are in another repository."""
    fork, original = access.repository, access.store.repository(access.repository.parent)
    if original is None:
        return
    access_to_original = access.at(original)
    for issue in open_pull_requests(original):
        if (issue.pull.head_repository, issue.pull.head_branch) != (fork.full_name, update.branch):
            continue
        if update.after is None:
            close(access_to_original, issue)
            continue
        access_to_original.git.copy_objects(access.git)
        _update_head(access_to_original, issue, update.after)


def _branch_deleted(access: RepositoryAccess, branch: str, commit: str | None) -> None:
    for issue in open_pull_requests(access.repository):
        if issue.pull.base_branch == branch or _is_own_head(access, issue.pull, branch):
            close(access, issue)
    for issue in _issues_of_head(access.repository, branch, commit):
        record(access, issue, "head_ref_deleted")


def _branch_moved(access: RepositoryAccess, branch: str, commit: str) -> None:
    git = access.git
    for issue in open_pull_requests(access.repository):
        pull = issue.pull
        if pull.head_commit != commit and _is_own_head(access, pull, branch):
            _update_head(access, issue, commit)
            base = git.head(pull.base_branch)
            if base and git.is_ancestor(commit, base):
                close(access, issue)
        elif pull.base_branch == branch and git.is_ancestor(pull.head_commit, commit):
            close(access, issue, commit)


def _is_own_head(access: RepositoryAccess, pull: PullRequest, branch: str) -> bool:
    """Return whether this is the head, in the repository itself: a fork may use the same name."""
    return (
        pull.head_branch == branch
        and access.store.repository(pull.head_repository) is access.repository
    )


def _issues_of_head(repository: Repository, branch: str, commit: str | None) -> list[Issue]:
    """Return open and closed pull requests whose head is this commit of this branch."""
    return [
        issue
        for issue in repository.issues.values()
        if (pull := issue.pull_request) and (pull.head_branch, pull.head_commit) == (branch, commit)
    ]


def register(access: RepositoryAccess, issue: Issue) -> None:
    """Set the refs of a new pull request."""
    set_ref(access.git, f"refs/pull/{issue.number}/head", issue.pull.head_commit)
    try_merge(access, issue)
    events.pull_request(access, issue, "opened")


def _update_head(access: RepositoryAccess, issue: Issue, commit: str) -> None:
    """Update the pull request after a push to its branch."""
    pull, git = issue.pull, access.git
    before = pull.head_commit
    pull.former_head, pull.head_commit = before, commit
    pull.head_moved_at = issue.updated_at = access.store.now
    pull.base_commit = git.head(pull.base_branch) or pull.base_commit
    set_ref(git, f"refs/pull/{issue.number}/head", commit)
    try_merge(access, issue)
    events.pull_request(access, issue, "synchronize", before=before, after=commit)


def close(access: RepositoryAccess, issue: Issue, merge_commit: str = "") -> None:
    """Close a pull request; with `merge_commit`, mark it as merged by this commit."""
    now, pull = access.store.now, issue.pull
    issue.state = "closed"
    issue.closed_at = issue.updated_at = now
    issue.closed_by = access.identity.login
    if merge_commit:
        pull.merged_at, pull.merged_by = now, access.identity.login
        pull.merge_commit = merge_commit
        record(access, issue, "merged", commit=merge_commit)
    else:
        pull.auto_merge = None
    record(access, issue, "closed")
    set_ref(access.git, f"refs/pull/{issue.number}/merge", "")
    events.pull_request(access, issue, "closed")


def reopen(access: RepositoryAccess, issue: Issue) -> None:
    """Reopen a closed pull request whose branches still exist."""
    issue.state, issue.closed_by = "open", ""
    issue.closed_at, issue.updated_at = None, access.store.now
    record(access, issue, "reopened")
    issue.pull.merge_commit = ""
    try_merge(access, issue)
    events.pull_request(access, issue, "reopened")


def record(access: RepositoryAccess, issue: Issue, event: str, **more: Any) -> None:
    """Record an event of the issue's timeline; `more` are the additional fields of this kind."""
    fields = {"id": access.store.new_id(), "event": event, "actor": access.identity.login}
    fields |= {"created_at": access.store.now, **more}
    issue.events.append(IssueEvent.model_validate(fields))


log = logging.getLogger(__name__)


def perform_merge(
    access: RepositoryAccess, issue: Issue, method: str, title: str = "", message: str = ""
) -> str:
    """Merge into the base branch; return its new commit. Raises RefusedError.

    `method` is `merge`, `squash` or `rebase`. The title and message default to GitHub's.
    """
    base = issue.pull.base_branch
    before = access.git.head(base)
    commit = _make_merge(access, issue, method, title, message)
    if commit is None:
        raise RefusedError(405, NOT_MERGEABLE)
    reason = workflows_refusal(access, before, commit, by_merge=True)
    if reason:
        raise RefusedError(403, reason)
    if not access.git.update_ref(BRANCHES + base, commit, before):
        raise RefusedError(405, "Base branch was modified. Review and try the merge again.")
    close(access, issue, commit)
    handle_push(access, RefUpdate(BRANCHES + base, before, commit))
    return commit


def merge_ready(store: Store) -> None:
    """Merge each pull request that has auto-merge enabled and meets its requirements.

    Later pushes leave auto-merge enabled, so it applies to every later head, too.
    """
    for repository in store.repositories.values():
        for issue in open_pull_requests(repository):
            auto_merge = issue.pull.auto_merge
            if auto_merge is None:
                continue
            access = access_of_event(store, repository, auto_merge.identity)
            if check_mergeability(access, issue).state not in READY:
                continue
            try:
                perform_merge(access, issue, auto_merge.method)
            except RefusedError as error:
                log.info("%s#%d: %s", repository.full_name, issue.number, error.message)


def _make_merge(
    access: RepositoryAccess, issue: Issue, method: str, title: str, message: str
) -> str | None:
    """Write the commits and return the id of the last one; None for a conflict."""
    git, pull = access.git, issue.pull
    head = pull.head_commit
    base = git.commit(pull.base_branch).id
    committer = github_committer(access.store)
    if method == "rebase":
        return _rebase(git, base, git.commits_between(base, head), committer)
    tree = git.merge_tree(base, head)
    if tree is None:
        return None
    if method == "squash":
        parents = [base]
        title = title or f"{issue.title} (#{issue.number})"
        message = message or _squashed(git.commits_between(base, head))
    else:
        parents = [base, head]
        branch = f"{pull.head_repository.partition('/')[0]}/{pull.head_branch}"
        title = title or f"Merge pull request #{issue.number} from {branch}"
        message = message or issue.title
    text = f"{title}\n\n{message}" if message else title
    return git.make_commit(tree, parents, text, own_person(access), committer, signed=True)


def _squashed(commits: Sequence[GitCommit]) -> str:
    """Return the messages of several commits as a list; for one commit, its message's body."""
    if len(commits) == 1:
        return commits[0].message.partition("\n\n")[2].strip()
    return "\n\n".join(f"* {commit.message.strip()}" for commit in commits)


def _rebase(
    git: BareRepository, base: str, commits: Sequence[GitCommit], committer: Person
) -> str | None:
    """Repeat each commit on the base, except merge commits; return None if no commit remains."""
    tip = base
    for commit in commits:
        if len(commit.parents) != 1:
            continue
        # A merge whose base is the commit's parent applies only the change of that commit.
        tree = git.commit(tip).tree
        side = git.make_commit(tree, commit.parents, "", committer, committer)
        merged = git.merge_tree(side, commit.id)
        if merged is None:
            return None
        tip = git.make_commit(merged, [tip], commit.message, commit.author, committer)
    return tip if tip != base else None
