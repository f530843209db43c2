"""A request to GitHub's API and what becomes of it: an answer, a refusal, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Any
"""What `json` reads and writes."""

SAFE: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the API.

    `url` is absolute and on the API's server. `authorization` gives the header each time it is
    sent: a token may end while we wait. `idempotent`: sent twice, it does no more than once.
    `account` is whose quota it uses.
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
        """Whether it may be sent again without knowing what became of it."""
        return self.idempotent or self.method in SAFE


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer; header names are in lower case, `body` is None where there is none."""

    status: int
    headers: Mapping[str, str]
    body: Json


class ErrorResponseError(Exception):
    """GitHub answered, and not with a success.

    `uncertain`: it was a write, and GitHub failed somewhere on the way.
    """

    def __init__(self, answer: Response, *, uncertain: bool) -> None:
        super().__init__(f"GitHub answered {answer.status}")
        self.answer = answer
        self.uncertain = uncertain


class NoResponseError(Exception):
    """No answer came, or half of one (then `status` is its status).

    `sent`: the request may have reached GitHub. `permanent`: the same would happen again.
    `uncertain`: it was a write, and GitHub may have acted on it.
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
