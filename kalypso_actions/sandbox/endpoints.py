"""The table of endpoints: what a request is, what answers it, and what a token needs for it.

An endpoint's path is written as in GitHub's OpenAPI description, which every answer is held
against. The pipeline in `application` has checked the token, the permission and the limits before
an endpoint is called; the endpoint looks at the request's content, changes the world, and answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kalypso_actions.sandbox.rate_limits import RateLimits
from kalypso_actions.sandbox.store import Identity, Repository, Store

Json = Any
"""What `json` reads and writes."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that may be made.

    `repository` is the one that the path names. `path` is as requested, %2F and all, below
    `api_url`; `parameters` come from it, `query` from behind the question mark. `body` is the
    JSON of the request ({} without one): an object, or a list where labels are set.
    `api_url` and `server_url` begin the links in answers; `rate_limits` know what a token has used.
    The world is locked meanwhile.
    """

    store: Store
    identity: Identity
    repository: Repository | None
    path: str
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    api_url: str
    server_url: str
    rate_limits: RateLimits

    @property
    def named_repository(self) -> Repository:
        """The repository that the path names; an endpoint without one may not ask."""
        if self.repository is None:
            raise LookupError("the endpoint's path names no repository")
        return self.repository


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON body; None sends no body."""

    status: int
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusedError(Exception):
    """GitHub's way to say no: a status, a message, and for 422 the faulty fields."""

    def __init__(self, status: int, message: str, errors: tuple[Json, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


def invalid(
    resource: str, fieldname: str, code: str = "invalid", message: str = ""
) -> RefusedError:
    """422 for one field. `code`: missing, missing_field, invalid, already_exists, custom."""
    error = {"resource": resource, "field": fieldname, "code": code}
    if message:
        error["message"] = message
    return RefusedError(422, "Validation Failed", (error,))


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`permissions`: any one of them suffices (`contents: write` implies `contents: read`).

    Empty: whoever is authenticated. `statuses` are all that the endpoint itself can answer.
    """

    method: str
    path: str
    permissions: tuple[str, ...]
    statuses: tuple[int, ...]
    handler: Handler

    @property
    def writes(self) -> bool:
        """Whether a request changes something."""
        return self.method not in {"GET", "HEAD"}


ENDPOINTS: Final[dict[tuple[str, str], Endpoint]] = {}
"""Method and path -> endpoint, filled by importing the modules of `sandbox.github`."""


def endpoint(
    method: str, path: str, *permissions: str, statuses: tuple[int, ...]
) -> Callable[[Handler], Handler]:
    """Put the decorated function into the table."""

    def register(handler: Handler) -> Handler:
        ENDPOINTS[method, path] = Endpoint(method, path, permissions, statuses, handler)
        return handler

    return register
