"""Files and folders of a commit.

https://docs.github.com/rest/repos/contents
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.api import lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, endpoint
from kalypso_sandbox.github.payloads.view import View

MAX_ENTRIES: Final = 1000
"""The maximum number of entries of a folder; GitHub silently omits further ones."""

MAX_SIZE: Final = 1_000_000
"""The maximum size in bytes of a file that GitHub returns with its content."""


@endpoint("GET", "/repos/{owner}/{repo}/contents/{path}", "contents: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a file with its content, or list a folder."""
    path = call.parameters["path"].strip("/")
    ref = call.query.get("ref") or call.named_repository.default_branch
    git = call.store.git(call.named_repository)
    files = git.files(lookups.known_commit(call, ref).id)
    if path in files:
        return Answer(200, _file(call, ref, path, files[path]))
    names = _names_in(files, f"{path}/" if path else "")
    if not names:
        raise lookups.not_found()
    entries = []
    for name in names[:MAX_ENTRIES]:
        below = f"{path}/{name}" if path else name
        content = files.get(below)
        kind = "dir" if content is None else "file"
        entries.append(_entry(call, ref, below, kind, len(content or b"")))
    return Answer(200, entries)


def _names_in(files: Mapping[str, bytes], folder: str) -> list[str]:
    below = [path.removeprefix(folder) for path in files if path.startswith(folder)]
    return sorted({path.partition("/")[0] for path in below})


def _file(call: Call, ref: str, path: str, content: bytes) -> Json:
    returned = content if len(content) <= MAX_SIZE else b""
    return {
        **_entry(call, ref, path, "file", len(content)),
        "content": base64.encodebytes(returned).decode(),
        "encoding": "base64" if len(content) <= MAX_SIZE else "none",
    }


def _entry(call: Call, ref: str, path: str, kind: str, size: int) -> Json:
    view, repository = View.of(call), call.named_repository
    git_object = call.store.git(repository).object_at(ref, path)
    sha = git_object[0] if git_object else ""
    url = f"{view.api(repository)}/contents/{quote(path)}?ref={quote(ref)}"
    object_type = "blob" if kind == "file" else "tree"
    page = f"{view.html(repository)}/{object_type}/{quote(ref)}/{quote(path)}"
    git_url = f"{view.api(repository)}/git/{object_type}s/{sha}"
    raw = f"{view.html(repository)}/raw/{quote(ref)}/{quote(path)}"
    return {
        "type": kind,
        "size": size,
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "url": url,
        "git_url": git_url,
        "html_url": page,
        "download_url": raw if kind == "file" else None,
        "_links": {"self": url, "git": git_url, "html": page},
    }
