"""A commit on a branch, as the input of `git fast-import`.

https://git-scm.com/docs/git-fast-import
"""

from __future__ import annotations

from collections.abc import Mapping


def fast_import(
    branch: str,
    parent: str | None,
    changes: Mapping[str, str | bytes | None],
    message: str,
    person: str,
) -> bytes:
    """Return a stream that commits to a branch and prints the commit's id.

    Without a parent, the branch is new. A None in `changes` deletes the file. `person` is author
    and committer, with the date, in git's format.
    """
    words = [
        b"feature done",
        b"commit refs/heads/" + branch.encode(),
        b"mark :1",
        b"author " + person.encode(),
        b"committer " + person.encode(),
        _data(message.encode()),
        *([f"from {parent}".encode()] if parent else []),
        *(_change(path, content) for path, content in changes.items()),
        b"",
        b"get-mark :1",
        b"done",
        b"",
    ]
    return b"\n".join(words)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s" % (len(content), content)


def _change(path: str, content: str | bytes | None) -> bytes:
    """Return a file command of fast-import, with its path in quotes."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    name = b'"%s"' % escaped.encode("utf-8", "surrogateescape")
    if content is None:
        return b"D " + name
    data = content.encode() if isinstance(content, str) else content
    return b"M 100644 inline " + name + b"\n" + _data(data)
