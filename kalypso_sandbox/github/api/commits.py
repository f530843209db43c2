"""Commits, comparisons, files, and the statuses of commits.

https://docs.github.com/rest/commits, https://docs.github.com/rest/repos/contents
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final, Literal, get_args
from urllib.parse import quote, urlsplit

from kalypso_sandbox.git.commits import GitCommit
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.branch_rules import combined_state, latest_statuses
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.payloads import commits as payloads
from kalypso_sandbox.github.payloads.accounts import (
    minimal_repository,
    node_id,
    timestamp,
    user,
)
from kalypso_sandbox.github.payloads.issues import pull_request
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import PullRequest, Status

MAX_FILES: Final = 300
MAX_COMMITS: Final = 250
"""The number of last commits that a comparison returns if the request names no page."""

MAX_ENTRIES: Final = 1000
"""The maximum number of entries of a folder; GitHub silently omits further ones."""

MAX_SIZE: Final = 1_000_000
"""The maximum size in bytes of a file that GitHub returns with its content."""

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
    commit = requests.commit(call, call.parameters["commit_sha"])
    return Answer(200, payloads.git_commit(call, commit))


@endpoint("GET", "/repos/{owner}/{repo}/commits/{ref}", "contents: read", statuses=(200, 409, 422))
def read(call: Call) -> Answer:
    """Return a commit with the files that it changes against its first parent."""
    commit = requests.commit(call, call.parameters["ref"], status=422)
    changes = call.git.diff(commit.parents[0] if commit.parents else None, commit.id)
    page, headers = requests.paginate(call, changes, MAX_FILES, MAX_FILES)
    additions = sum(change.additions for change in changes)
    deletions = sum(change.deletions for change in changes)
    answer = {
        **payloads.full(call, commit),
        "stats": {
            "total": additions + deletions,
            "additions": additions,
            "deletions": deletions,
        },
        "files": [payloads.changed_file(call, change, commit.id) for change in page],
    }
    return Answer(200, answer, headers)


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/commits/{commit_sha}/pulls",
    "pull_requests: read",
    statuses=(200, 409, 422),
)
def read_pull_requests(call: Call) -> Answer:
    """List a commit's merged pull requests, and open ones unless the default branch has the commit.

    For the name of a branch, list the pull requests of the branch.
    """
    commit = requests.commit(call, call.parameters["commit_sha"], status=422).id
    default = call.git.head(call.repository.default_branch)
    merged_only = default is not None and call.git.is_ancestor(commit, default)
    matching = [
        issue
        for issue in call.repository.issues.values()
        if issue.pull_request
        and (issue.pull_request.merged_at or (issue.state == "open" and not merged_only))
        and _contains(call, issue.pull_request, commit)
    ]
    return requests.listed(call, matching, pull_request)


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


@endpoint("GET", "/repos/{owner}/{repo}/contents/{path}", "contents: read", statuses=(200, 404))
def read_contents(call: Call) -> Answer:
    """Return a file with its content, or list a folder."""
    path = call.parameters["path"].strip("/")
    ref = call.query.get("ref") or call.repository.default_branch
    files = call.git.files(requests.known_commit(call, ref).id)
    if path in files:
        content = files[path]
        is_small = len(content) <= MAX_SIZE
        encoded = {
            "content": base64.encodebytes(content if is_small else b"").decode(),
            "encoding": "base64" if is_small else "none",
        }
        return Answer(200, _entry(call, ref, path, content) | encoded)
    folder = f"{path}/" if path else ""
    names = _names_in(files, folder)
    if not names:
        raise requests.not_found()
    paths = [folder + name for name in names[:MAX_ENTRIES]]
    return Answer(200, [_entry(call, ref, below, files.get(below)) for below in paths])


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
    "GET", "/repos/{owner}/{repo}/commits/{ref}/status", "statuses: read", statuses=(200, 404)
)
def read_combined_status(call: Call) -> Answer:
    """Return the latest status of each context, and their combined state."""
    commit = requests.known_commit(call, call.parameters["ref"]).id
    known = list(latest_statuses(call.repository, commit).values())
    page, headers = requests.paginate(call, known)
    url = f"{call.url}/commits/{commit}"
    answer = {
        "state": combined_state(known),
        "statuses": [_status(call, status) for status in page],
        "sha": commit,
        "total_count": len(known),
        "repository": minimal_repository(call),
        "commit_url": url,
        "url": f"{url}/status",
    }
    return Answer(200, answer, headers)


@endpoint(
    "GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", "statuses: read", statuses=(200, 404)
)
def read_statuses(call: Call) -> Answer:
    """List the statuses, latest first."""
    commit = requests.known_commit(call, call.parameters["ref"]).id
    known = [status for status in reversed(call.repository.statuses) if status.commit == commit]
    return requests.listed(call, known, _full_status)


def _contains(call: Call, pull: PullRequest, commit: str) -> bool:
    """Return whether a commit belongs to the pull request, or merged it."""
    if (pull.merged_at and pull.merge_commit == commit) or pull.head_commit == commit:
        return True
    git = call.git
    return git.is_ancestor(commit, pull.head_commit) and not git.is_ancestor(
        commit, pull.base_commit
    )


def _side(call: Call, name: str) -> GitCommit:
    """Return the commit of `revision` or `owner:revision`; there are no forks."""
    owner, colon, revision = name.rpartition(":")
    if colon and owner.lower() != call.repository.owner.lower():
        raise requests.not_found()
    return requests.known_commit(call, revision)


def _names_in(files: Mapping[str, bytes], folder: str) -> list[str]:
    below = [path.removeprefix(folder) for path in files if path.startswith(folder)]
    return sorted({path.partition("/")[0] for path in below})


def _entry(call: Call, ref: str, path: str, content: bytes | None) -> dict[str, Json]:
    """Return the entry of a file, or of a folder (None)."""
    sha, _ = call.git.object_at(ref, path) or ("", "")
    kind = "tree" if content is None else "blob"
    place = f"{quote(ref)}/{quote(path)}"
    url = f"{call.url}/contents/{quote(path)}?ref={quote(ref)}"
    page = f"{call.page}/{kind}/{place}"
    git_url = f"{call.url}/git/{kind}s/{sha}"
    return {
        "type": "dir" if content is None else "file",
        "size": len(content or b""),
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "url": url,
        "git_url": git_url,
        "html_url": page,
        "download_url": None if content is None else f"{call.page}/raw/{place}",
        "_links": {"self": url, "git": git_url, "html": page},
    }


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
