"""A request to GitHub's API, its response, and the errors in place of a successful response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Any
"""A value that `json` reads and writes."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the API.

    `url` is an absolute URL of the API. `authorization` returns the header for each attempt, since
    a token may expire while we wait. `idempotent`: a second delivery has no further effect.
    `account` names the owner of the rate limit.
    """

    method: str
    url: str
    authorization: Callable[[], str]
    body: Json = None
    headers: Mapping[str, str] | None = None
    idempotent: bool = False
    account: str = ""

    @property
    def repeatable(self) -> bool:
        """Whether the request may be sent again if its result is not known."""
        return self.idempotent or self.method in SAFE_METHODS


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response; header names are in lower case, and a missing `body` is None."""

    status: int
    headers: Mapping[str, str]
    body: Json


class ErrorResponseError(Exception):
    """GitHub answered with an error status.

    `uncertain`: the request was a write, and the server failed while it handled it.
    """

    def __init__(self, response: Response, *, uncertain: bool) -> None:
        super().__init__(f"GitHub answered {response.status}")
        self.response = response
        self.uncertain = uncertain


class NoResponseError(Exception):
    """No response came, or an incomplete one (then `status` is its status).

    `sent`: the request may have reached GitHub. `permanent`: a retry would fail in the same way.
    `uncertain`: the request was a write, and GitHub may have acted on it.
    """

    def __init__(
        self,
        reason: str,
        advice: str = "try again",
        *,
        status: int | None = None,
        sent: bool = True,
        permanent: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.status = status
        self.sent = sent
        self.permanent = permanent
        self.uncertain = False
