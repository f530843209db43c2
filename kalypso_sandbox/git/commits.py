"""Commits: their fields, and their text in `git cat-file -p`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

PERSON: Final = re.compile(r"(.*?) ?<(.*)> (-?\d+) ([+-])(\d\d)(\d\d)\Z")

SIGNATURE: Final = """\
-----BEGIN PGP SIGNATURE-----
GitHub of the sandbox
-----END PGP SIGNATURE-----"""
"""GitHub's own signature; nothing else in the sandbox signs commits."""


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
        f"author {format_person(author)}",
        f"committer {format_person(committer)}",
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


def format_person(person: Person) -> str:
    """Format a person and a date for git, without the characters that end a name."""
    name, email = (re.sub(r"[<>\x00-\x1f]", "", text) for text in (person.name, person.email))
    return f"{name} <{email}> {int(person.date.timestamp())} {person.date:%z}"
