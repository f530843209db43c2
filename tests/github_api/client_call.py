"""A call of the clients that covers all paths of a function, and the endpoints that it uses.

`R` stands for `/repos/{owner}/{repo}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kalypso_actions.clients.github import GitHub
from tests.github_api.populated_sandbox import Scene


class ClientCall(NamedTuple):
    """A call to GitHub, and every endpoint that it uses."""

    act: Callable[[GitHub, Scene], object]
    endpoints: frozenset[str]


def call(act: Callable[[GitHub, Scene], object], *endpoints: str) -> ClientCall:
    return ClientCall(
        act, frozenset(endpoint.replace("R", "/repos/{owner}/{repo}") for endpoint in endpoints)
    )
