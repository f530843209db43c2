"""Commits: their fields, their text in `git cat-file -p`, and their differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

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
