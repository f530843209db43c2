"""Jobs that are killed: runners are lost, and people cancel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import rest


class KilledError(BaseException):
    """The end of a job; the product does not catch it."""


@contextmanager
def before_writes(act: Callable[[int], object]) -> Iterator[None]:
    """Call `act` before each write to GitHub and git, with its number from 0."""
    numbers = itertools.count()

    def counted(write: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            act(next(numbers))
            return write(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest, "write", counted(rest.write))
        patch.setattr(RemoteRepositories, "push", counted(RemoteRepositories.push))
        yield


@contextmanager
def killed_after(writes: int) -> Iterator[None]:
    """End the job before the write that follows so many writes to GitHub and git."""

    def end(number: int) -> None:
        if number >= writes:
            raise KilledError

    with before_writes(end):
        yield


def is_killed(writes: int, act: Any) -> bool:
    """Tell whether `act` needs more than so many writes."""
    try:
        with killed_after(writes):
            act()
    except KilledError:
        return True
    return False
