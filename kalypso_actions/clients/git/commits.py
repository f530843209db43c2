"""Make commits without a checkout: the input of `git fast-import`.

https://git-scm.com/docs/git-fast-import
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from posixpath import commonprefix
from typing import Final

from kalypso_actions.clients.git.files import is_unsafe
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.tree_listing import bytewise, folders_of

NOT_IN_SIGNATURE: Final = re.compile(r"[<>\x00-\x1f]")

FAST_IMPORT: Final = (
    *("-c", "pack.compression=1", "-c", "core.compression=1"),
    *("fast-import", "--quiet", "--force", "--depth=0"),
)
"""These settings take a third less time than the defaults, for packs of the same size: manifests
are small, so deltas between them save less than the search for deltas takes."""

WRITING: Final = 6 * 3600
"""The timeout in seconds; it is long because rendering produces the files while git writes them."""

REF: Final = "refs/kalypso/new"
"""fast-import needs a ref for the new commit; this one is never pushed."""

ListFolders = Callable[[str, str], Collection[str]]
"""Takes a commit and a folder ("" for the root); returns the names of the folders in it."""

REST, APART = "rest", "apart"
"""While the files of a folder change, the new commit's root has only these two folders."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The author of a commit. Raises KalypsoError for text that git does not accept."""

    name: str
    email: str

    def __post_init__(self) -> None:
        if not self.name.strip() or NOT_IN_SIGNATURE.search(self.name + self.email):
            message = f"git accepts no author {self.name!r} with the address {self.email!r}"
            advice = "give a name without <, > and line breaks"
            raise KalypsoError(message, advice=advice)


def fast_import(
    parent: str | None,
    changes: Mapping[str, FileContent | None],
    message: str,
    author: Signature,
    date: datetime,
    list_folders: ListFolders,
    earlier: Sequence[Mapping[str, FileContent | None]] = (),
) -> Iterator[bytes]:
    """Return the parts of the stream that makes a commit and prints its id.

    A commit for each of the `earlier` changes comes before it, the first one on `parent`. They
    change few files, such as those of a record, so no folder is moved apart.

    `changes` apply to the files of `parent` (None: a root commit). None deletes a file or a whole
    folder; bytes, or the id of a blob in the repository, become a regular file. Deletions come
    first, so that a file can become a folder and vice versa. The date is in whole seconds of
    UTC, so equal inputs give the same commit. Raises KalypsoError for paths that no checkout would
    write, before the first part.
    """
    for each in (*earlier, changes):
        folders = {path[: path.rfind("/") + 1] for path in each}
        _refuse_unsafe(each, folders)
        _refuse_files_in_files(each, folders)
    signature = f"{author.name.strip()} <{author.email.strip()}>".encode("utf-8", "replace")
    signature_and_date = b"%s %d +0000" % (signature, int(_aware(date).timestamp()))
    header = (
        b"commit %s\n" % REF.encode(),
        b"mark :1\n",
        b"author %s\n" % signature_and_date,
        b"committer %s\n" % signature_and_date,
        _data(_text(message)),
    )
    start = b"from %s\n" % parent.encode() if parent else b""
    if earlier:
        commands = chain.from_iterable(
            (*header, b"" if number else start, *_deletions(each), *_files(each))
            for number, each in enumerate((*earlier, changes))
        )
    else:
        outer = _outer_folder(folders)
        commands = chain(header, (start,), _commands(parent, changes, outer, list_folders))
    return chain((b"feature done\n",), commands, (b"get-mark :1\ndone\n",))


def _outer_folder(folders: Iterable[str]) -> str:
    """Return the innermost folder that has all these folders, "" for the root.

    Each of `folders` except the root ends with a slash.
    """
    return "/".join(commonprefix([folder.split("/")[:-1] for folder in folders]))


def _commands(
    parent: str | None,
    changes: Mapping[str, FileContent | None],
    outer: str,
    list_folders: ListFolders,
) -> Iterator[bytes]:
    """Yield the commands for all changes, which lie in `outer`: deletions, and then files.

    For each path, git searches every folder on the way, from the folder's first entry on.
    Therefore move each folder within `outer` apart, change it, and move it back: a commit of
    300,000 files then takes a quarter of the time.
    """
    prefix = f"{outer}/" if outer else ""
    existing = {prefix + name for name in list_folders(parent, outer)} if parent else set()
    folders: defaultdict[str, dict[str, FileContent | None]] = defaultdict(dict)
    for path, content in changes.items():
        name, slash, _ = path[len(prefix) :].partition("/")
        folders[prefix + name if slash else ""][path] = content
    # A folder without any file would not exist, and could not be moved back.
    written = {
        folder: inner
        for folder, inner in sorted(folders.items())
        if folder and any(content is not None for content in inner.values())
    }
    others = {
        path: content
        for folder, inner in folders.items()
        if folder not in written
        for path, content in inner.items()
    }
    yield from _deletions(others)
    yield _move("", REST)
    for folder, inner in written.items():
        if folder in existing and folder not in changes:
            yield _move(f"{REST}/{folder}", APART)
        moved = {APART + path[len(folder) :]: content for path, content in inner.items()}
        yield from _deletions(moved)
        yield from _files(moved)
        yield _move(APART, f"{REST}/{folder}")
    yield _move(REST, "")
    yield from _files(others)


def _move(source: str, target: str) -> bytes:
    return b"R %s %s\n" % (_quoted(source), _quoted(target))


def _deletions(changes: Mapping[str, FileContent | None]) -> Iterator[bytes]:
    deleted = [path for path, content in changes.items() if content is None]
    return (b"D %s\n" % _quoted(path) for path in bytewise(deleted))


def _files(changes: Mapping[str, FileContent | None]) -> Iterator[bytes]:
    for path in bytewise(changes):
        content = changes[path]
        if isinstance(content, bytes):
            yield b"M %s inline %s\n%s" % (FILE_MODE.encode(), _quoted(path), _data(content))
        elif content is not None:
            yield b"M %s %s %s\n" % (FILE_MODE.encode(), content.encode(), _quoted(path))


def import_blobs(contents: Iterable[bytes]) -> Iterator[bytes]:
    """Return the parts of the stream that writes blobs; their ids are those of `blob_id`."""
    return (b"blob\n" + _data(content) for content in contents)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """Quote a path; only three bytes need an escape in double quotes."""
    raw = _bytes(path).replace(b"\\", rb"\\").replace(b'"', rb"\"").replace(b"\n", rb"\n")
    return b'"%s"' % raw


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _refuse_unsafe(paths: Collection[str], folders: Collection[str]) -> None:
    """Refuse a path that no checkout would write.

    Check the `folders` and the distinct file names first: there are far fewer of them than paths.
    """
    names = {path.rpartition("/")[2] for path in paths}
    if paths and _is_unsafe("".join(folders) + "/".join(names)):
        path = next(filter(_is_unsafe, paths))
        raise KalypsoError(f"no file can be written at {path!r}", advice="rename it")


def _is_unsafe(path: str) -> bool:
    return "\0" in path or is_unsafe(_bytes(path))


def _refuse_files_in_files(
    changes: Mapping[str, FileContent | None], folders: Collection[str]
) -> None:
    """Refuse a file at the path of another file's folder, because git would lose one of the two."""
    # Check the few folders first. Deleted files need no folder, so only written files count.
    if any(changes[path] is not None for path in folders_of(folders) & changes.keys()):
        written = {path for path, content in changes.items() if content is not None}
        both = written & folders_of(written)
        if both:
            raise KalypsoError(f"{min(both)!r} would be both a file and a folder")


def _text(message: str) -> bytes:
    """Encode a commit message: UTF-8 without NUL, with a final newline."""
    return message.replace("\0", "").rstrip("\n").encode("utf-8", "replace") + b"\n"


def _aware(date: datetime) -> datetime:
    if date.tzinfo is None:
        raise ValueError("a commit's date needs a time zone")
    return date
