"""List, open, edit and close pull requests. `merges` merges them.

https://docs.github.com/rest/pulls/pulls
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github import pull_request_changes
from kalypso_sandbox.github.api import body_fields, issue_editing, lookups
from kalypso_sandbox.github.endpoints import (
    Answer,
    Call,
    Json,
    RefusedError,
    endpoint,
    invalid,
)
from kalypso_sandbox.github.mergeability import try_merge
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import commits
from kalypso_sandbox.github.payloads import pull_requests as payloads
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import Issue, PullRequest, Repository

PULLS: Final = "/repos/{owner}/{repo}/pulls"
PULL: Final = "/repos/{owner}/{repo}/pulls/{pull_number}"
MAX_FILES: Final = 3000


@endpoint("GET", PULLS, "pull_requests: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List pull requests by `state`, `head` (only with its owner) and `base`."""
    state = call.query.get("state", "open")
    owner, colon, branch = call.query.get("head", "").partition(":")
    of_head = (owner.lower(), branch) if colon else None
    base = call.query.get("base")
    listed = [
        (issue, issue.pull_request)
        for issue in call.named_repository.issues.values()
        if issue.pull_request
        and state in {"all", issue.state}
        and base in {None, issue.pull_request.base_branch}
        and of_head in {None, _head_of(issue.pull_request)}
    ]
    order = call.query.get("sort", "created")
    newest_first = call.query.get("direction", "desc" if order == "created" else "asc") == "desc"
    listed.sort(key=lambda pair: _sorted_by(pair[0], order), reverse=newest_first)
    page, headers = paginate(call, listed)
    view = View.of(call)
    answer = [payloads.simple(view, call.named_repository, *pair) for pair in page]
    return Answer(200, answer, headers)


@endpoint("POST", PULLS, "pull_requests: write", statuses=(201, 403, 422))
def create(call: Call) -> Answer:
    """Open a pull request from a branch of this repository, or of a fork."""
    store, repository = call.store, call.named_repository
    if call.identity.kind == "actions" and not repository.actions_may_open_pull_requests:
        message = "GitHub Actions is not permitted to create or approve pull requests."
        raise RefusedError(403, message)
    base = body_fields.required_text(call.body, "base")
    head_repository, head = _head(call, body_fields.required_text(call.body, "head"))
    title, body = issue_editing.title(call, "PullRequest"), issue_editing.text(call)
    draft = body_fields.flag(call.body, "draft")
    base_commit, head_commit = _check_branches(call, base, head, head_repository)
    now = store.now
    pull_request = PullRequest(
        head_repository=head_repository.full_name,
        head_branch=head,
        head_commit=head_commit,
        base_branch=base,
        base_commit=base_commit,
        draft=draft,
    )
    issue = Issue(
        id=store.new_id(),
        number=repository.next_number,
        title=title,
        body=body,
        author=call.identity.login,
        created_at=now,
        updated_at=now,
        pull_request=pull_request,
    )
    repository.next_number += 1
    repository.issues[issue.number] = issue
    # pydantic stores a copy.
    stored = issue.pull_request or pull_request
    pull_request_changes.register(store, repository, issue, stored, call.identity)
    answer = payloads.full(View.of(call), repository, issue, stored)
    return Answer(201, answer, {"location": answer["url"]})


@endpoint("GET", PULL, "pull_requests: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a pull request, and whether it can be merged."""
    return Answer(200, _payload(call, *lookups.pull_request(call)))


@endpoint("PATCH", PULL, "pull_requests: write", statuses=(200, 404, 422))
def update(call: Call) -> Answer:
    """Change title, body, base or state."""
    issue, pull_request = lookups.pull_request(call)
    body = call.body
    state = body_fields.choice(call, "state", ("open", "closed"))
    base = body_fields.text(body, "base") or pull_request.base_branch
    title = (
        issue_editing.title(call, "PullRequest") if body.get("title") is not None else issue.title
    )
    text = issue_editing.text(call) if "body" in body else issue.body
    if base != pull_request.base_branch:
        _change_base(call, issue, pull_request, base)
    issue_editing.set_texts(call, issue, title, text)
    if state:
        issue_editing.set_state(call, issue, state)
    return Answer(200, _payload(call, issue, pull_request))


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/pulls/{pull_number}/files",
    "pull_requests: read",
    statuses=(200, 404),
)
def read_files(call: Call) -> Answer:
    """List the files that a pull request changes, at most 3000."""
    _, pull_request = lookups.pull_request(call)
    repository = call.named_repository
    git = call.store.git(repository)
    fork = git.merge_base(pull_request.base_commit, pull_request.head_commit)
    changes = git.diff(fork, pull_request.head_commit)[:MAX_FILES]
    page, headers = paginate(call, changes)
    view, head = View.of(call), pull_request.head_commit
    answer = [commits.changed_file(view, repository, change, head) for change in page]
    return Answer(200, answer, headers)


def _head_of(pull_request: PullRequest) -> tuple[str, str]:
    owner = pull_request.head_repository.partition("/")[0]
    return owner.lower(), pull_request.head_branch


def _sorted_by(issue: Issue, order: str) -> tuple[object, int]:
    keys = {"updated": issue.updated_at, "popularity": len(issue.comments)}
    return keys.get(order, issue.created_at), issue.number


def _head(call: Call, head: str) -> tuple[Repository, str]:
    """Return the repository and branch of `branch` or `owner:branch`, which may be a fork's."""
    owner, colon, branch = head.rpartition(":")
    repository = call.named_repository
    if not colon or owner.lower() == repository.owner.lower():
        return repository, branch
    for fork in call.store.repositories.values():
        if fork.owner.lower() == owner.lower() and fork.parent == repository.full_name:
            return fork, branch
    raise invalid("PullRequest", "head")


def _check_branches(
    call: Call, base: str, head: str, head_repository: Repository
) -> tuple[str, str]:
    """Return the commits of both branches. Raises RefusedError if no pull request is possible."""
    repository = call.named_repository
    git, head_git = call.store.git(repository), call.store.git(head_repository)
    base_commit, head_commit = git.head(base), head_git.head(head)
    if base_commit is None:
        raise invalid("PullRequest", "base")
    created_at = head_repository.branches_created_at.get(head)
    if head_commit is None or call.store.lags(created_at, call.identity):
        raise invalid("PullRequest", "head")
    if head_repository is not repository:
        git.copy_objects(head_git)
    if git.merge_base(base_commit, head_commit) is None:
        message = f"The {head} branch has no history in common with {base}"
        raise body_fields.custom("PullRequest", message)
    if git.is_ancestor(head_commit, base_commit):
        raise body_fields.custom("PullRequest", f"No commits between {base} and {head}")
    for other in repository.issues.values():
        if issue_editing.is_open_between(other, head, base, head_repository.full_name):
            owner = head_repository.owner
            message = f"A pull request already exists for {owner}:{head}."
            raise body_fields.custom("PullRequest", message)
    return base_commit, head_commit


def _change_base(call: Call, issue: Issue, pull_request: PullRequest, base: str) -> None:
    if issue.state == "closed":
        message = "Cannot change the base branch of a closed pull request."
        raise invalid("PullRequest", "base", "invalid", message)
    before = {
        "ref": {"from": pull_request.base_branch},
        "sha": {"from": pull_request.base_commit},
    }
    head = call.store.repository(pull_request.head_repository)
    if head is None:
        raise invalid("PullRequest", "head")
    pull_request.base_commit, _ = _check_branches(call, base, pull_request.head_branch, head)
    pull_request.base_branch = base
    pull_request.auto_merge = None
    try_merge(call.store, call.named_repository, issue, pull_request)
    issue_editing.record_edit(call, issue, pull_request, {"base": before})


def _payload(call: Call, issue: Issue, pull_request: PullRequest) -> Json:
    return payloads.full(View.of(call), call.named_repository, issue, pull_request)
