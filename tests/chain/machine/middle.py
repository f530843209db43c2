"""Something happens in the middle of a run: right before its n-th write to GitHub or git."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import rest


@contextmanager
def before_write(number: int, event: Callable[[], object]) -> Iterator[None]:
    """Let `event` happen before the write of this number, counted from 0."""
    left = number

    def counted(write: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1:
                event()
            return write(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest, "write", counted(rest.write))
        for name in ("push", "delete_branch"):
            patch.setattr(RemoteRepositories, name, counted(getattr(RemoteRepositories, name)))
        yield
