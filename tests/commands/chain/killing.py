"""Jobs that are killed in the middle: runners are lost, and people cancel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import rest


class KilledError(BaseException):
    """The end of a job: nothing in the product catches it."""


@contextmanager
def killed_after(writes: int) -> Iterator[None]:
    """So many writes to GitHub and git succeed, and the job ends where it would begin the next."""
    left = writes

    def counted(write: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            if left == 0:
                raise KilledError
            left -= 1
            return write(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest, "write", counted(rest.write))
        for name in ("push", "delete_branch"):
            patch.setattr(RemoteRepositories, name, counted(getattr(RemoteRepositories, name)))
        yield


def is_killed(writes: int, act: Any) -> bool:
    """Whether `act` does not come to its end with so many writes."""
    try:
        with killed_after(writes):
            act()
    except KilledError:
        return True
    return False
