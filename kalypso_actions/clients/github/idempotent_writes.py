"""Writes that happen once, whatever becomes of the answer.

An answer can be lost after GitHub has acted, and a proxy can deliver a request twice. So every
write is known by what it leaves behind: that is looked up before, and again after each failure
that leaves it open whether GitHub has acted. Only then is it repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeVar

from kalypso_actions.clients.github.connection import GitHub, GitHubError

T = TypeVar("T")

WriteResult = Literal["created", "updated", "unchanged"]
"""What an `ensure` has done."""

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds after each uncertain failure: GitHub needs a moment until lists show what it wrote."""

REFUSED: Final = frozenset({404, 405, 409, 422})
"""GitHub found something else than the write supposed: perhaps that it is done already."""


def write_if_absent(
    github: GitHub, find: Callable[[], T | None], write: Callable[[], T]
) -> tuple[T, bool]:
    """What is wanted, and whether this call wrote it: looked up, otherwise written.

    `find` returns None while it is not there as wanted. Raises GitHubError as `write_verified`.
    """
    found = find()
    if found is not None:
        return found, False
    return write_verified(github, find, write), True


def write_verified(github: GitHub, find: Callable[[], T | None], write: Callable[[], T]) -> T:
    """Write what is known to be missing.

    After an uncertain failure it is looked up, and written again only where it is still missing.
    Where GitHub refuses, it is looked up once: it may be there already. Raises GitHubError: the
    refusal, or the failure that did not pass.
    """
    attempts = len(DELAYS)
    while True:
        try:
            return write()
        except GitHubError as error:
            if error.uncertain:
                github.sleep(DELAYS[-attempts])
                attempts -= 1
            elif error.status not in REFUSED:
                raise
            found = find()
            if found is not None:
                return found
            if not error.uncertain or not attempts:
                raise
