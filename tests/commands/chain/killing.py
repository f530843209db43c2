"""Jobs that are killed: runners are lost, and people cancel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github.transport import ApiConnection, ClientRetry, Transport


class KilledError(BaseException):
    """The end of a job; the product does not catch it."""


@contextmanager
def before_writes(act: Callable[[int], object]) -> Iterator[None]:
    """Call `act` before each write to GitHub and git, with its number from 0."""
    numbers = itertools.count()
    send, push = Transport.send, RemoteRepositories.push

    def counted_send(
        transport: Transport, connection: ApiConnection, client: ClientRetry
    ) -> object:
        if not client.may_repeat(connection.verb) and not connection.url.endswith("/graphql"):
            act(next(numbers))
        return send(transport, connection, client)

    def counted_push(*arguments: Any, **named: Any) -> object:
        act(next(numbers))
        return push(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transport, "send", counted_send)
        patch.setattr(RemoteRepositories, "push", counted_push)
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
