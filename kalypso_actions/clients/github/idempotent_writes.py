"""Writes that happen once, even if a response is lost.

A response can be lost after GitHub has acted, and a proxy can deliver a request twice. Therefore
these functions search for the result before they write, and again after each failure after which
GitHub may have acted. They repeat the write only if the result is still missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeVar

from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.errors import GitHubError

T = TypeVar("T")

WriteResult = Literal["created", "updated", "unchanged"]
"""The action of an `ensure` function."""

DELAYS: Final = (1.0, 3.0, 10.0)
"""Seconds to wait after each uncertain failure, because GitHub's lists lag behind its writes."""

CONFLICT_STATUSES: Final = frozenset({404, 405, 409, 422})
"""The write does not fit the current state: perhaps it has already happened."""


def write_if_absent(
    github: GitHub, find: Callable[[], T | None], write: Callable[[], T]
) -> tuple[T, bool]:
    """Return the result of `find`, or write it; also return whether this call wrote it.

    `find` returns None while the result is missing. Raises GitHubError as `write_verified` does.
    """
    existing = find()
    if existing is not None:
        return existing, False
    return write_verified(github, find, write), True


def write_verified(github: GitHub, find: Callable[[], T | None], write: Callable[[], T]) -> T:
    """Write a result that is known to be missing.

    After an uncertain failure, search for the result and write again only if it is missing. After
    a conflict, search once: the result may exist already. Raises GitHubError: the refusal, or the
    failure of the last attempt.
    """
    attempts = len(DELAYS)
    while True:
        try:
            return write()
        except GitHubError as error:
            if error.uncertain:
                github.sleep(DELAYS[-attempts])
                attempts -= 1
            elif error.status not in CONFLICT_STATUSES:
                raise
            existing = find()
            if existing is not None:
                return existing
            if not error.uncertain or not attempts:
                raise
