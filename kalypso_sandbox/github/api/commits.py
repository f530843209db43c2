"""Commits, comparisons, and the statuses of commits.

https://docs.github.com/rest/commits
"""

from __future__ import annotations

from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from kalypso_sandbox.git.commits import GitCommit
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.payloads import commits as payloads
from kalypso_sandbox.github.payloads.accounts import (
    node_id,
    timestamp,
    user,
)
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import Status

MAX_FILES: Final = 300
MAX_COMMITS: Final = 250
"""The number of last commits that a comparison returns if the request names no page."""

RELATIONS: Final = {
    (True, True): "diverged",
    (True, False): "ahead",
    (False, True): "behind",
    (False, False): "identical",
}
"""Whether the head is ahead of the base, and behind it -> the status of a comparison."""

StatusState = Literal["error", "failure", "pending", "success"]
MAX_STATUSES: Final = 1000
"""The maximum number of statuses of one commit and context."""

MAX_DESCRIPTION_LENGTH: Final = 140
MAX_CONTEXT_LENGTH: Final = 255


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/git/commits/{commit_sha}",
    "contents: read",
    statuses=(200, 404, 409),
)
def read_git_commit(call: Call) -> Answer:
    """Return git's fields of a commit."""
    if not call.git.refs():
        raise RefusedError(409, "Git Repository is empty.")
    commit = requests.commit(call, call.parameters["commit_sha"])
    return Answer(200, payloads.git_commit(call, commit))


@endpoint("GET", "/repos/{owner}/{repo}/compare/{basehead}", "contents: read", statuses=(200, 404))
def compare(call: Call) -> Answer:
    """Compare head with base: commits in pages, changed files on the first page."""
    span = call.parameters["basehead"]
    if span.count("...") != 1:
        raise requests.not_found()
    base, head = (_side(call, name) for name in span.split("..."))
    git, owner = call.git, call.repository.owner
    fork = git.merge_base(base.id, head.id)
    if fork is None:
        raise RefusedError(404, f"No common ancestor between {base.id} and {head.id}.")
    ahead = git.commits_between(base.id, head.id)
    behind = git.commits_between(head.id, base.id)
    number, page, headers = 1, ahead[-MAX_COMMITS:], dict[str, str]()
    if "page" in call.query or "per_page" in call.query:
        number, _ = requests.page_request(call.query)
        page, link = requests.paginate(call, ahead, MAX_COMMITS, MAX_COMMITS)
        headers |= link
    files = git.diff(fork, head.id)[:MAX_FILES] if number == 1 else ()
    page_url = f"{call.page}/compare"
    answer = {
        "url": f"{call.url}/compare/{span}",
        "html_url": f"{page_url}/{span}",
        "permalink_url": f"{page_url}/{owner}:{base.id[:7]}...{owner}:{head.id[:7]}",
        "diff_url": f"{page_url}/{span}.diff",
        "patch_url": f"{page_url}/{span}.patch",
        "base_commit": payloads.full(call, base),
        "merge_base_commit": payloads.full(call, git.commit(fork)),
        "status": RELATIONS[bool(ahead), bool(behind)],
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [payloads.full(call, commit) for commit in page],
        "files": [payloads.changed_file(call, change, head.id) for change in files],
    }
    return Answer(200, answer, headers)


@endpoint("POST", "/repos/{owner}/{repo}/statuses/{sha}", "statuses: write", statuses=(201, 422))
def create_status(call: Call) -> Answer:
    """Create a status; older ones of the context stay in the list."""
    sha = call.parameters["sha"]
    state = requests.choice(call, "state", get_args(StatusState))
    if state is None:
        raise requests.missing("state")
    context = requests.text(call.body, "context") or "default"
    description = requests.text(call.body, "description")
    target_url = requests.text(call.body, "target_url") or None
    if not requests.SHA.fullmatch(sha) or call.git.object_type(sha) != "commit":
        raise RefusedError(422, f"No commit found for SHA: {sha}")
    requests.check_length("Status", "description", description, MAX_DESCRIPTION_LENGTH)
    requests.check_length("Status", "context", context, MAX_CONTEXT_LENGTH)
    if target_url and urlsplit(target_url).scheme not in {"http", "https"}:
        raise invalid("Status", "target_url", "custom", "target_url must use http(s) scheme")
    known = [
        status
        for status in call.repository.statuses
        if status.commit == sha and status.context.lower() == context.lower()
    ]
    if len(known) >= MAX_STATUSES:
        message = "This SHA and context has reached the maximum number of statuses."
        raise requests.custom("Status", message)
    status = Status.model_validate(
        {
            "id": call.store.new_id(),
            "commit": sha,
            "context": context,
            "state": state,
            "description": description,
            "target_url": target_url,
            "author": call.identity.login,
            "created_at": call.store.now,
        }
    )
    call.repository.statuses.append(status)
    return requests.created(_full_status(call, status))


@endpoint(
    "GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", "statuses: read", statuses=(200, 404)
)
def read_statuses(call: Call) -> Answer:
    """List the statuses, latest first."""
    commit = requests.commit(call, call.parameters["ref"]).id
    known = [status for status in reversed(call.repository.statuses) if status.commit == commit]
    return requests.listed(call, known, _full_status)


def _side(call: Call, name: str) -> GitCommit:
    """Return the commit of `revision` or `owner:revision`; there are no forks."""
    owner, colon, revision = name.rpartition(":")
    if colon and owner.lower() != call.repository.owner.lower():
        raise requests.not_found()
    return requests.commit(call, revision)


def _status(call: Call, status: Status) -> dict[str, Json]:
    """Return GitHub's `simple-commit-status`, as in a combined status."""
    return {
        "url": f"{call.url}/statuses/{status.commit}",
        "avatar_url": user(call, status.author)["avatar_url"],
        "id": status.id,
        "node_id": node_id("StatusContext", status.id),
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": timestamp(status.created_at),
        "updated_at": timestamp(status.created_at),
    }


def _full_status(call: Call, status: Status) -> Json:
    """Return GitHub's `status`."""
    return {**_status(call, status), "creator": user(call, status.author)}
