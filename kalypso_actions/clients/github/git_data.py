"""Make commits with the git data API; GitHub signs those of Apps and of jobs.

An object that is on no branch is invisible. Therefore repeat requests with an uncertain result.
https://docs.github.com/rest/git
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from kalypso_actions.clients.github import commits, idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import FILE_MODE

MAX_ENTRIES: Final = 1000
MAX_SIZE: Final = 1_000_000
"""Files, and bytes of their contents, in one request for a tree."""

ADVICE: Final = {
    "badobjectstate": "a file to delete is missing: run again, the branch may have changed",
}


def create_commit(
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
    tree = commits.get(github, repository, parent).tree if parent else ""
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
        return str(
            rest.write(github, repository, failure, "POST", path, body, advice=ADVICE)["sha"]
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
