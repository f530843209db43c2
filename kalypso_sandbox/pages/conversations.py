"""Pages of pull requests and issues, and what people do with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flask import request
from werkzeug.wrappers import Response

from kalypso_sandbox.git.repositories import BRANCHES, BareRepository
from kalypso_sandbox.github.branch_rules import check_mergeability, merge_refusals
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.payloads.accounts import own_person
from kalypso_sandbox.github.pushes import NOT_MERGEABLE
from kalypso_sandbox.pages.code import REPOSITORY, checks_of
from kalypso_sandbox.pages.site import NoPageError, Site, Views, to
from kalypso_sandbox.pages.texts import FileDiff, file_diffs
from kalypso_sandbox.store import Issue, PullRequest, Repository

MOST: Final = 100
"""The number of issues or pull requests to show, newest first."""

PULL: Final = f"{REPOSITORY}/pull/<int:number>"
ISSUE: Final = f"{REPOSITORY}/issues/<int:number>"

views = Views()


def state_of(issue: Issue) -> str:
    """Return `open`, `closed`, `draft` or `merged`."""
    pull = issue.pull_request
    if pull and pull.merged_at:
        return "merged"
    return "draft" if pull and pull.draft and issue.state == "open" else issue.state


@views.get(f"{REPOSITORY}/pulls")
@views.get(f"{REPOSITORY}/issues")
def conversations(site: Site, owner: str, name: str) -> Response:
    """List the pull requests, or the issues; the open ones first."""
    found = site.repository(owner, name)
    are_pulls = request.path.endswith("/pulls")
    issues = [each for each in found.issues.values() if bool(each.pull_request) == are_pulls]
    issues.sort(key=lambda each: (each.state == "closed", -each.number))
    heading = "Pull requests" if are_pulls else "Issues"
    return site.page(
        "conversations.html",
        f"{heading} of {found.full_name}",
        repository=found,
        heading=heading,
        issues=issues[:MOST],
        older=max(0, len(issues) - MOST),
        state_of=state_of,
    )


@views.get(PULL)
@views.get(f"{PULL}/<any(files, commits, checks):part>")
def pull(site: Site, owner: str, name: str, number: int, part: str = "") -> Response:
    """Show a pull request."""
    found, issue = _issue(site, owner, name, number)
    if issue.pull_request is None:
        return to(f"/{found.full_name}/issues/{number}")
    git, shown = site.store.git(found), issue.pull_request
    access = site.contents.access(found.full_name)
    commits, diffs = _changes(shown, git)
    return site.page(
        "pull.html",
        f"{issue.title} #{number}",
        repository=found,
        issue=issue,
        pull=shown,
        part=part,
        state=state_of(issue),
        timeline=_timeline(issue),
        mergeable=check_mergeability(access, issue).state,
        refusals=merge_refusals(access, shown) if issue.state == "open" else (),
        **checks_of(found, shown.head_commit),
        commits=commits,
        diffs=diffs,
        has_head=git.head(shown.head_branch) == shown.head_commit,
    )


@views.get(ISSUE)
def issue(site: Site, owner: str, name: str, number: int) -> Response:
    """Show an issue."""
    found, shown = _issue(site, owner, name, number)
    if shown.pull_request:
        return to(f"/{found.full_name}/pull/{number}")
    return site.page(
        "issue.html",
        f"{shown.title} #{number}",
        repository=found,
        issue=shown,
        state=shown.state,
        timeline=_timeline(shown),
    )


@views.post(f"{PULL}/comment")
@views.post(f"{ISSUE}/comment")
def comment(site: Site, owner: str, name: str, number: int) -> Response:
    """Comment on an issue or a pull request."""
    found, _ = _issue(site, owner, name, number)
    body = {"body": request.form.get("body", "").replace("\r\n", "\n")}
    path = "/issues/{issue_number}/comments"
    made = site.act("POST", path, found, body, issue_number=str(number))
    return to(f"{request.path.removesuffix('/comment')}#issuecomment-{made['id']}")


@views.post(f"{PULL}/state")
@views.post(f"{ISSUE}/state")
def state(site: Site, owner: str, name: str, number: int) -> Response:
    """Close or reopen an issue or a pull request."""
    found, _ = _issue(site, owner, name, number)
    body = {"state": request.form.get("state", "")}
    site.act("PATCH", "/issues/{issue_number}", found, body, issue_number=str(number))
    return to(request.path.removesuffix("/state"))


@views.post(f"{REPOSITORY}/issues")
def create(site: Site, owner: str, name: str) -> Response:
    """Create an issue."""
    found = site.repository(owner, name)
    body = {field: request.form.get(field, "") for field in ("title", "body")}
    made = site.act("POST", "/issues", found, body)
    return to(f"/{found.full_name}/issues/{made['number']}")


@views.post(f"{PULL}/merge")
def merge(site: Site, owner: str, name: str, number: int) -> Response:
    """Merge a pull request."""
    found, _ = _issue(site, owner, name, number)
    body = {"merge_method": request.form.get("method", "merge"), "sha": request.form.get("sha")}
    site.act("PUT", "/pulls/{pull_number}/merge", found, body, pull_number=str(number))
    return to(f"/{found.full_name}/pull/{number}")


@views.post(f"{PULL}/branch")
def delete_branch(site: Site, owner: str, name: str, number: int) -> Response:
    """Delete the branch of a pull request."""
    found, issue = _issue(site, owner, name, number)
    site.act("DELETE", "/git/refs/{ref}", found, ref=f"heads/{issue.pull.head_branch}")
    return to(f"/{found.full_name}/pull/{number}")


@views.post(f"{PULL}/revert")
def revert(site: Site, owner: str, name: str, number: int) -> Response:
    """Open a pull request that takes a merge back."""
    found, issue = _issue(site, owner, name, number)
    commit = _reverted(site, found, issue)
    title = f'Revert "{issue.title}"'
    branch = f"revert-{number}-{issue.pull.head_branch}"
    site.act("POST", "/git/refs", found, {"ref": BRANCHES + branch, "sha": commit})
    body = {
        "title": title[:256],
        "body": f"Reverts {found.full_name}#{number}",
        "head": branch,
        "base": issue.pull.base_branch,
    }
    made = site.act("POST", "/pulls", found, body)
    return to(f"/{found.full_name}/pull/{made['number']}")


def _reverted(site: Site, repository: Repository, issue: Issue) -> str:
    """Write the commit that takes a merge back from the base branch; return its id.

    Raises RefusedError for a pull request that is not merged, and for conflicts.
    """
    git, pull = site.store.git(repository), issue.pull
    if not pull.merged_at:
        raise RefusedError(422, "The pull request is not merged.")
    person = own_person(site.contents.access(repository.full_name))
    head = git.commit(pull.base_branch)
    # A commit with the state before the merge, on top of it: a merge with it takes the merge back.
    before = git.commit(git.commit(pull.merge_commit).parents[0])
    back = git.make_commit(before.tree, [pull.merge_commit], "", person, person)
    tree = git.merge_tree(head.id, back)
    if tree is None:
        raise RefusedError(409, NOT_MERGEABLE)
    message = f'Revert "{issue.title}"\n\nThis reverts commit {pull.merge_commit}.'
    return git.make_commit(tree, [head.id], message, person, person)


def _issue(site: Site, owner: str, name: str, number: int) -> tuple[Repository, Issue]:
    """Return an issue or a pull request. Raises NoPageError."""
    repository = site.repository(owner, name)
    issue = repository.issues.get(number)
    if issue is None:
        raise NoPageError(f"{repository.full_name} has no issue or pull request {number}.")
    return repository, issue


def _timeline(issue: Issue) -> Sequence[tuple[str, Any]]:
    """Return comments and events, oldest first."""
    comments = [("comment", each) for each in issue.comments]
    events = [("event", each) for each in issue.events]
    return sorted([*comments, *events], key=lambda item: (item[1].created_at, item[1].id))


def _changes(pull: PullRequest, git: BareRepository) -> tuple[Sequence[Any], Sequence[FileDiff]]:
    """Return the commits, newest first, and the changes from the common ancestor to the head."""
    try:
        fork = git.merge_base(pull.base_commit, pull.head_commit) or pull.base_commit
        commits = git.commits_between(pull.base_commit, pull.head_commit)[::-1]
        return commits, list(file_diffs(git, fork, pull.head_commit))
    except LookupError:  # the fork was deleted
        return (), ()
