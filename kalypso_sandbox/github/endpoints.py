"""The table of endpoints: the request, the handler, and the required permissions.

Paths are those of GitHub's OpenAPI description; tests check every response against it. `rest`
checks token, permission and limits before it calls a handler. The handler validates the content,
changes the store, and answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.store import Identity, Repository, Store

Json = Any
"""A value that `json` reads and writes."""


@dataclass(frozen=True, slots=True)
class Call:
    """A permitted request to an endpoint.

    `repository` is the one in the path. `path` is the part below `api_url` as the client sent it,
    with `%2F`; `parameters` come from the path, `query` from the query string. `body` is the parsed
    JSON ({} if there is none): an object, or a list of labels. Links in responses begin with
    `api_url` and `server_url`. The store is locked during the call.
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
        """Return the repository of the path. Raises LookupError if the path names none."""
        if self.repository is None:
            raise LookupError("the endpoint's path names no repository")
        return self.repository


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON body; None means no body."""

    status: int
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusedError(Exception):
    """A refusal by GitHub: status, message, and the invalid fields of a 422."""

    def __init__(self, status: int, message: str, errors: tuple[Json, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


def invalid(
    resource: str, fieldname: str, code: str = "invalid", message: str = ""
) -> RefusedError:
    """Return a 422 for one field. `code` is a code of GitHub's, such as `missing_field`."""
    error = {"resource": resource, "field": fieldname, "code": code}
    if message:
        error["message"] = message
    return RefusedError(422, "Validation Failed", (error,))


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A handler. Any one of `permissions` suffices (`contents: write` implies `contents: read`).

    Without permissions, every authenticated identity may call it. `statuses` are all statuses with
    which the handler can answer.
    """

    method: str
    path: str
    permissions: tuple[str, ...]
    statuses: tuple[int, ...]
    handler: Handler

    @property
    def writes(self) -> bool:
        """Return whether a request may change something."""
        return self.method not in {"GET", "HEAD"}


ENDPOINTS: Final[dict[tuple[str, str], Endpoint]] = {}
"""Method and path -> endpoint. Importing `kalypso_sandbox.github.api` fills it."""


def endpoint(
    method: str, path: str, *permissions: str, statuses: tuple[int, ...]
) -> Callable[[Handler], Handler]:
    """Add the decorated function to the table."""

    def register(handler: Handler) -> Handler:
        ENDPOINTS[method, path] = Endpoint(method, path, permissions, statuses, handler)
        return handler

    return register
