"""Git's objects: commits with their text and differences; loose objects and trees, without git.

https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git.files import GitObject

PERSON: Final = re.compile(r"(.*?) ?<(.*)> (-?\d+) ([+-])(\d\d)(\d\d)\Z")

SIGNATURE: Final = """\
-----BEGIN PGP SIGNATURE-----
GitHub of the sandbox
-----END PGP SIGNATURE-----"""
"""GitHub's own signature; nothing else in the sandbox signs commits."""

EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The base of a root commit's diff."""

OPTIONS: Final = ("-r", "-z", "-M", "--raw", "--numstat")
STATES: Final = {"A": "added", "D": "removed", "M": "modified", "T": "changed", "R": "renamed"}

FULL_ID: Final = re.compile(r"[0-9a-f]{40}\Z")

TREE: Final = "40000"

MAX_CACHED_TREES: Final = 2000


@dataclass(frozen=True, slots=True)
class Person:
    """An author or committer, with the date."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True, slots=True)
class GitCommit:
    """A git commit; `signature` is "" for an unsigned one."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: Person
    committer: Person
    signature: str = ""


def commit_content(
    tree: str,
    parents: Sequence[str],
    message: str,
    author: Person,
    committer: Person,
    *,
    signed: bool = False,
) -> bytes:
    """Return the text of a commit object."""
    lines = [
        f"tree {tree}",
        *(f"parent {parent}" for parent in parents),
        f"author {_formatted(author)}",
        f"committer {_formatted(committer)}",
        *([f"gpgsig {SIGNATURE}".replace("\n", "\n ")] if signed else []),
        "",
        message,
    ]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def parse_commit(object_id: str, content: bytes) -> GitCommit:
    """Parse a commit object. Raises ValueError for an invalid author or committer."""
    head, _, message = content.decode("utf-8", "replace").partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.replace("\n ", "\0").split("\n"):  # a value can have several lines
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)
    return GitCommit(
        id=object_id,
        tree=fields["tree"][0],
        parents=tuple(fields.get("parent", ())),
        message=message,
        author=_person(fields["author"][0]),
        committer=_person(fields["committer"][0]),
        signature=fields.get("gpgsig", [""])[0].replace("\0", "\n"),
    )


def _person(text: str) -> Person:
    """Parse `name <email> seconds +hhmm`."""
    match = PERSON.match(text)
    if match is None:
        raise ValueError(f"invalid author: {text!r}")
    name, email, seconds, sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        zone = timezone(-offset if sign == "-" else offset)
        date = datetime.fromtimestamp(int(seconds), zone)
    except (ValueError, OverflowError, OSError):  # git accepts invalid zones and years
        date = datetime.fromtimestamp(0, UTC)
    return Person(name, email, date)


def _formatted(person: Person) -> str:
    """Format a person and a date for git, without the characters that end a name."""
    name, email = (re.sub(r"[<>\x00-\x1f]", "", text) for text in (person.name, person.email))
    return f"{name} <{email}> {int(person.date.timestamp())} {person.date:%z}"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file: its status in GitHub's words, its blob (the old one if removed), its lines.

    Binary files change no lines. `previous_path` is the old path of a renamed file.
    """

    path: str
    status: str
    blob: str
    additions: int
    deletions: int
    previous_path: str = ""


def parse_diff_tree(output: bytes) -> Sequence[FileChange]:
    """Parse the output of `git diff-tree` with `OPTIONS`: first states, then numbers of lines."""
    words = iter(output.decode("utf-8", "replace").split("\0")[:-1])
    states = []
    lines = {}
    for word in words:
        if word.startswith(":"):
            states.append(_state(word, words))
        else:
            path, added, deleted = _lines(word, words)
            lines[path] = (added, deleted)
    return [
        FileChange(path, status, blob, *lines[path], previous_path=previous)
        for path, status, blob, previous in states
    ]


def _state(word: str, rest: Iterator[str]) -> tuple[str, str, str, str]:
    """Parse `:mode mode old-blob new-blob state`; one path follows, or two for a renamed file."""
    _, _, old, new, state = word.split(" ")
    path = next(rest)
    status = STATES[state[0]]
    if status == "renamed":
        return next(rest), status, new, path
    return path, status, old if status == "removed" else new, ""


def _lines(word: str, rest: Iterator[str]) -> tuple[str, int, int]:
    """Parse `added<TAB>deleted<TAB>path`; two paths follow if renamed; `-` for binary files."""
    added, deleted, path = word.split("\t", 2)
    if not path:
        next(rest)
        path = next(rest)
    return path, _count(added), _count(deleted)


def _count(number: str) -> int:
    return 0 if number == "-" else int(number)


Change = tuple[str, str | bytes]
"""A mode with an object id (text) or a content (bytes)."""


class LooseObjects:
    """The loose objects below an `objects` folder.

    Reading raises LookupError for objects in packs. Safe to use from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trees: dict[str, GitObject] = {}

    def read(self, object_id: str) -> GitObject:
        """Return the object with this id."""
        if known := self._trees.get(object_id):
            return known
        if not FULL_ID.match(object_id):
            raise LookupError(object_id)
        try:
            packed = (self._folder / object_id[:2] / object_id[2:]).read_bytes()
        except FileNotFoundError:
            raise LookupError(object_id) from None
        header, _, content = zlib.decompress(packed).partition(b"\0")
        git_object = GitObject(object_id, header.partition(b" ")[0].decode(), content)
        if git_object.type == "tree" and len(self._trees) < MAX_CACHED_TREES:
            self._trees[object_id] = git_object
        return git_object

    def tree(self, object_id: str) -> GitObject:
        """Return the tree of a commit, or the tree itself."""
        git_object = self.read(object_id)
        if git_object.type == "commit":
            git_object = self.read(git_object.content[5:45].decode())
        if git_object.type != "tree":
            raise LookupError(object_id)
        return git_object

    def files(self, commit: str) -> Iterator[tuple[str, bytes, str]]:
        """Yield the mode, path and id of each entry of a commit or a tree that is not a folder."""
        yield from self._below(self.tree(commit), b"")

    def _below(self, tree: GitObject, folder: bytes) -> Iterator[tuple[str, bytes, str]]:
        for mode, name, object_id in entries(tree):
            if mode == TREE:
                yield from self._below(self.read(object_id), folder + name + b"/")
            else:
                yield mode, folder + name, object_id

    def at(self, commit: str, path: str) -> GitObject | None:
        """Return the object at a path of a commit, or None; "" is the root."""
        git_object = self.tree(commit)
        for segment in path.split("/") if path else ():
            if git_object.type != "tree":
                return None
            name = segment.encode("utf-8", "surrogateescape")
            ids = {entry: object_id for _, entry, object_id in entries(git_object)}
            if name not in ids:
                return None
            git_object = self.read(ids[name])
        return git_object

    def write(self, kind: str, content: bytes) -> str:
        """Write an object, and return its id."""
        whole = f"{kind} {len(content)}\0".encode() + content
        object_id = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        file = self._folder / object_id[:2] / object_id[2:]
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile("wb", dir=file.parent, delete=False) as part:
                part.write(zlib.compress(whole, 1))
            Path(part.name).replace(file)
        return object_id

    def write_tree(
        self,
        base: str,
        changes: Mapping[str, Change | None],
        read: Callable[[str], GitObject],
    ) -> str:
        """Write the tree `base` with some paths changed, and return its id.

        None deletes a file or a folder. Folders without files vanish. `read` also knows the objects
        in packs.
        """
        known = read(base) if base != EMPTY_TREE else GitObject(base, "tree", b"")
        tree = {name: (mode, object_id) for mode, name, object_id in entries(known)}
        below: dict[bytes, dict[str, Change | None]] = {}
        for path, change in changes.items():
            first, _, rest = path.partition("/")
            name = first.encode("utf-8", "surrogateescape")
            if rest:
                below.setdefault(name, {})[rest] = change
            elif change is None:
                tree.pop(name, None)
            else:
                mode, content = change
                object_id = content if isinstance(content, str) else self.write("blob", content)
                tree[name] = (mode.lstrip("0"), object_id)
        for name, inner in below.items():
            mode, folder = tree.get(name, (TREE, EMPTY_TREE))
            changed = self.write_tree(folder if mode == TREE else EMPTY_TREE, inner, read)
            if changed != EMPTY_TREE:
                tree[name] = (TREE, changed)
            elif mode == TREE:
                tree.pop(name, None)
        lines = (
            b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(object_id))
            for name, (mode, object_id) in sorted(tree.items(), key=_order)
        )
        return self.write("tree", b"".join(lines))


def entries(tree: GitObject) -> Iterator[tuple[str, bytes, str]]:
    """Yield the mode, name and id of each entry of a tree."""
    rest = tree.content
    while rest:
        mode, _, rest = rest.partition(b" ")
        name, _, rest = rest.partition(b"\0")
        yield mode.decode(), name, rest[:20].hex()
        rest = rest[20:]


def _order(entry: tuple[bytes, tuple[str, str]]) -> bytes:
    """Sort folders as if their names ended with a slash, as git does."""
    name, (mode, _) = entry
    return name + b"/" if mode == TREE else name
