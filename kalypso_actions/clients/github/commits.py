"""Commits: read, compare and make them; GitHub signs the commits of Apps and of jobs.

An object that is on no branch is invisible. Therefore repeat requests that make objects if their
result is uncertain. https://docs.github.com/rest/git
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from github.Repository import Repository

from kalypso_actions.clients.github import idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import Json
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.change_titles import subject_of
from kalypso_actions.model.differences import CommitSubject
from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.github import ON_BRANCH, CheckRun, Commit, Relation
from kalypso_actions.model.history import BranchPosition

MAX_ENTRIES: Final = 1000
MAX_SIZE: Final = 1_000_000
"""Files, and bytes of their contents, in one request for a tree."""

ADVICE: Final = {
    "badobjectstate": "a file to delete is missing: run again, the branch may have changed",
}


def get(github: GitHub, repository: str, commit: str) -> Commit:
    """Return a commit by its full id. Raises GitHubError."""

    def read(target: Repository) -> Commit:
        read = target.get_git_commit(commit)
        return Commit(
            id=read.sha,
            tree=read.tree.sha,
            parents=tuple(parent.sha for parent in read.parents),
            message=read.message,
            committed_at=read.committer.date,
        )

    return github.call(repository, f"the commit {commit} cannot be read", read)


def relation(github: GitHub, repository: str, base: str, head: str) -> Relation | None:
    """Return the relation of `head` to `base` (commit ids or branches), with one request.

    Return None if one of them is not in the repository, or if they share no history.
    Raises GitHubError.
    """
    failure, compare = _comparison(base, head)
    answer = github.call_optional(repository, failure, compare)
    status: Relation | None = None if answer is None else answer["status"]
    return status


def position(github: GitHub, repository: str, commit: str, branch: str) -> BranchPosition:
    """Return the place of a commit on a branch, with one request. Raises GitHubError."""
    failure, compare = _comparison(commit, branch)
    answer = github.call_optional(repository, failure, compare)
    if answer is None:
        return BranchPosition(branch, commit, "", None)
    subject = subject_of(answer["base_commit"]["commit"]["message"])
    is_on_branch = answer["status"] in ON_BRANCH
    return BranchPosition(branch, commit, subject, answer["ahead_by"] if is_on_branch else None)


def commits_after(
    github: GitHub, repository: str, base: str, head: str, most: int
) -> tuple[int, int, tuple[CommitSubject, ...]]:
    """Return how many commits `head` is ahead of `base` and behind it, and the newest of them.

    GitHub lists the commits of a comparison from the oldest to the newest. Raises GitHubError.
    """
    failure, compare = _comparison(base, head)
    answer = github.call(repository, failure, compare)
    ahead, behind = int(answer["ahead_by"]), int(answer["behind_by"])
    if ahead:
        last = -(-ahead // most)
        pages = [max(last - 1, 1), last] if ahead % most else [last]
        answers = [
            github.call(repository, failure, partial(compare, page=str(page), per_page=str(most)))
            for page in dict.fromkeys(pages)
        ]
        newest = [commit for each in answers for commit in each["commits"]][::-1]
    else:
        newest = []
    subjects = (
        CommitSubject(commit["sha"], subject_of(commit["commit"]["message"]), commit["html_url"])
        for commit in newest[:most]
    )
    return ahead, behind, tuple(subjects)


def check_runs(github: GitHub, repository: str, commit: str, name: str) -> tuple[CheckRun, ...]:
    """Return the latest check runs of a name on a commit, one of each App that has made some.

    Raises GitHubError, with the status 403 for a token that may not read checks.
    https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference
    """
    failure = f"the check runs {name} of commit {commit} cannot be read"
    path = f"/commits/{rest.segment(commit)}/check-runs"
    query = {"check_name": name, "filter": "latest", "per_page": "100"}
    listed = github.call(
        repository, failure, lambda target: rest.read_all(target, path, query, item="check_runs")
    )
    return tuple(
        CheckRun(
            name=run["name"],
            app=(run["app"] or {}).get("slug", ""),
            conclusion=run["conclusion"] or "",
            started_at=datetime.fromisoformat(run["started_at"]) if run["started_at"] else None,
        )
        for run in listed
    )


def merge_base(github: GitHub, repository: str, base: str, head: str) -> str:
    """Return the newest common ancestor of two commits or branches, with one request.

    Raises GitHubError.
    """
    failure, compare = _comparison(base, head)
    answer = github.call(repository, failure, compare)
    return str(answer["merge_base_commit"]["sha"])


def create(
    github: GitHub,
    repository: str,
    *,
    parent: str | None,
    changes: Mapping[str, bytes | None],
    message: str,
) -> str:
    """Make a commit on `parent` (None: the first one), without an author, and return its id.

    In `changes`, None deletes an existing file; bytes become a regular file. Raises GitHubError,
    and KalypsoError for a path that is not UTF-8.
    https://docs.github.com/rest/git/commits#create-a-commit
    """
    tree = get(github, repository, parent).tree if parent else ""
    for batch in _batches(github, repository, changes):
        failure = f"a tree with {len(batch)} changes cannot be created"
        body: Json = {"tree": batch, **({"base_tree": tree} if tree else {})}
        tree = _create(github, repository, failure, "/git/trees", body)
    body = {"message": message, "tree": tree, "parents": [parent] if parent else []}
    failure = f"a commit on {parent or 'no parent'} cannot be created"
    return _create(github, repository, failure, "/git/commits", body)


def _batches(
    github: GitHub, repository: str, changes: Mapping[str, bytes | None]
) -> Iterator[Sequence[Json]]:
    """Yield the entries of each request, deletions first.

    If a file becomes a folder or vice versa, no request has both.
    """
    deleted = [path for path, content in changes.items() if content is None]
    written = [path for path, content in changes.items() if content is not None]
    apart = _folders(deleted) & set(written) or _folders(written) & set(deleted)
    batch: list[Json] = []
    size = 0
    for path in (*deleted, *written):
        entry = _entry(github, repository, path, changes[path])
        more = len(entry.get("content", ""))
        full = len(batch) >= MAX_ENTRIES or size + more > MAX_SIZE
        if batch and (full or (apart and written[:1] == [path])):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += more
    if batch:
        yield batch


def _entry(github: GitHub, repository: str, path: str, content: bytes | None) -> dict[str, Json]:
    """Return an entry of a tree; first make a blob of content that is not text."""
    entry: dict[str, Json] = {"path": _checked(path, repository), "mode": FILE_MODE, "type": "blob"}
    if content is None:
        return entry | {"sha": None}
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return entry | {"content": text}
    body = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
    failure = f"the content of {path} cannot be stored"
    return entry | {"sha": _create(github, repository, failure, "/git/blobs", body)}


def _create(github: GitHub, repository: str, failure: str, path: str, body: Json) -> str:
    def write() -> str:
        return github.call(
            repository,
            failure,
            lambda target: str(rest.send(target, "POST", path, body)["sha"]),
            advice=ADVICE,
        )

    return idempotent_writes.write_verified(github, lambda: None, write)


def _checked(path: str, repository: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise KalypsoError(
            f"GitHub's API cannot name the file {path!r}",
            Location(repository),
            "rename it, or use commit-by: git",
        ) from None
    return path


def _folders(paths: Sequence[str]) -> set[str]:
    return {str(folder) for path in paths for folder in PurePosixPath(path).parents}


def _comparison(base: str, head: str) -> tuple[str, Callable[..., Json]]:
    """Return an error message, and a function that compares two commits or branches.

    By default, read the second page of one commit: GitHub computes the differing files only for the
    first page, and fails there for large trees.
    https://docs.github.com/rest/commits/commits#compare-two-commits
    """
    path = f"/compare/{rest.segment(base)}...{rest.segment(head)}"

    def compare(target: Repository, page: str = "2", per_page: str = "1") -> Json:
        return rest.read(target, path, {"per_page": per_page, "page": page})

    return f"{base} and {head} cannot be compared", compare
