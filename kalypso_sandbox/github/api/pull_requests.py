"""Open, edit, merge and close pull requests.

https://docs.github.com/rest/pulls
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github import events, pushes
from kalypso_sandbox.github.api import issues, requests
from kalypso_sandbox.github.branch_rules import merge_refusals, try_merge
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.payloads import commits
from kalypso_sandbox.github.payloads import issues as payloads
from kalypso_sandbox.github.pushes import NOT_MERGEABLE, perform_merge
from kalypso_sandbox.json_http import Answer
from kalypso_sandbox.store import Issue, PullRequest, Repository

PULLS: Final = "/repos/{owner}/{repo}/pulls"
PULL: Final = f"{PULLS}/{{pull_number}}"
MAX_FILES: Final = 3000


@endpoint("GET", PULLS, "pull_requests: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List pull requests by `state`, `head` (only with its owner) and `base`."""
    state = call.query.get("state", "open")
    owner, colon, branch = call.query.get("head", "").partition(":")
    of_head = (owner.lower(), branch) if colon else None
    base = call.query.get("base")
    matching = [
        issue
        for issue in call.repository.issues.values()
        if (pull := issue.pull_request)
        and state in {"all", issue.state}
        and base in {None, pull.base_branch}
        and of_head in {None, (pull.head_repository.partition("/")[0].lower(), pull.head_branch)}
    ]
    by_date = call.query.get("sort", "created") == "created"
    newest_first = call.query.get("direction", "desc" if by_date else "asc") == "desc"
    matching = issues.sort(call, matching, "popularity", newest_first)
    return requests.listed(call, matching, payloads.pull_request)


@endpoint("POST", PULLS, "pull_requests: write", statuses=(201, 403, 422))
def create(call: Call) -> Answer:
    """Open a pull request from a branch of this repository, or of a fork."""
    if call.identity.kind == "actions" and not call.repository.actions_may_open_pull_requests:
        message = "GitHub Actions is not permitted to create or approve pull requests."
        raise RefusedError(403, message)
    base = requests.required_text(call.body, "base")
    head_repository, head = _head(call, requests.required_text(call.body, "head"))
    title, body = issues.title(call, "PullRequest"), issues.body(call)
    draft = requests.flag(call.body, "draft")
    base_commit, head_commit = _check_branches(call, base, head, head_repository)
    issue = issues.new_issue(call, title, body)
    issue.pull_request = PullRequest(
        head_repository=head_repository.full_name,
        head_branch=head,
        head_commit=head_commit,
        base_branch=base,
        base_commit=base_commit,
        draft=draft,
    )
    issues.add(call, issue)
    pushes.register(call, issue)
    return requests.created(payloads.full_pull_request(call, issue))


@endpoint("GET", PULL, "pull_requests: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a pull request, and whether it can be merged."""
    return Answer(200, payloads.full_pull_request(call, requests.pull_request(call)))


@endpoint("PATCH", PULL, "pull_requests: write", statuses=(200, 404, 422))
def update(call: Call) -> Answer:
    """Change title, body, base or state."""
    issue = requests.pull_request(call)
    state = requests.choice(call, "state", ("open", "closed"))
    base = requests.text(call.body, "base") or issue.pull.base_branch
    texts = issues.new_texts(call, issue, "PullRequest")
    if base != issue.pull.base_branch:
        _change_base(call, issue, base)
    issues.set_texts(call, issue, *texts)
    if state:
        issues.set_state(call, issue, state)
    return Answer(200, payloads.full_pull_request(call, issue))


@endpoint("GET", f"{PULL}/files", "pull_requests: read", statuses=(200, 404))
def read_files(call: Call) -> Answer:
    """List the files that a pull request changes, at most 3000."""
    pull = requests.pull_request(call).pull
    fork = call.git.merge_base(pull.base_commit, pull.head_commit)
    changes = call.git.diff(fork, pull.head_commit)[:MAX_FILES]
    return requests.listed(
        call, changes, lambda _, change: commits.changed_file(call, change, pull.head_commit)
    )


@endpoint("PUT", f"{PULL}/merge", "contents: write", statuses=(200, 403, 404, 405, 409, 422))
def merge(call: Call) -> Answer:
    """Merge, if the head is the expected one and the rules of the base allow it."""
    issue = requests.pull_request(call)
    method = requests.choice(call, "merge_method", ("merge", "squash", "rebase")) or "merge"
    title, message, sha = (
        requests.text(call.body, name) for name in ("commit_title", "commit_message", "sha")
    )
    if issue.state == "closed":
        raise RefusedError(405, NOT_MERGEABLE)
    if issue.pull.draft:
        raise RefusedError(405, "Pull Request is still a draft")
    if sha is not None and sha != call.head(issue.pull):
        raise RefusedError(409, requests.HEAD_MODIFIED)
    reasons = merge_refusals(call, issue.pull)
    if reasons:
        raise RefusedError(405, " ".join(reasons))
    commit = perform_merge(call, issue, method, title or "", message or "")
    answer = {"sha": commit, "merged": True, "message": "Pull Request successfully merged"}
    return Answer(200, answer)


def _head(call: Call, head: str) -> tuple[Repository, str]:
    """Return the repository and branch of `branch` or `owner:branch`, which may be a fork's."""
    owner, colon, branch = head.rpartition(":")
    repository = call.repository
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
    git, head_git = call.git, call.store.git(head_repository)
    base_commit, head_commit = git.head(base), head_git.head(head)
    if base_commit is None:
        raise invalid("PullRequest", "base")
    created_at = head_repository.branches_created_at.get(head)
    if head_commit is None or call.store.lags(created_at, call.identity):
        raise invalid("PullRequest", "head")
    if head_repository is not call.repository:
        git.copy_objects(head_git)
    if git.merge_base(base_commit, head_commit) is None:
        message = f"The {head} branch has no history in common with {base}"
        raise requests.custom("PullRequest", message)
    if git.is_ancestor(head_commit, base_commit):
        raise requests.custom("PullRequest", f"No commits between {base} and {head}")
    for other in call.repository.issues.values():
        if issues.is_open_between(other, head, base, head_repository.full_name):
            message = f"A pull request already exists for {head_repository.owner}:{head}."
            raise requests.custom("PullRequest", message)
    return base_commit, head_commit


def _change_base(call: Call, issue: Issue, base: str) -> None:
    pull = issue.pull
    if issue.state == "closed":
        message = "Cannot change the base branch of a closed pull request."
        raise invalid("PullRequest", "base", "invalid", message)
    before = {"ref": {"from": pull.base_branch}, "sha": {"from": pull.base_commit}}
    head = call.store.repository(pull.head_repository)
    if head is None:
        raise invalid("PullRequest", "head")
    pull.base_commit, _ = _check_branches(call, base, pull.head_branch, head)
    pull.base_branch = base
    pull.auto_merge = None
    try_merge(call, issue)
    events.pull_request(call, issue, "edited", changes={"base": before})
