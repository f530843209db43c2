"""The table of endpoints: the request, the handler, and the required permissions.

Paths are those of GitHub's OpenAPI description; tests check every response against it. `rest`
checks token, permission and limits before it calls a handler. The handler validates the content,
changes the store, and answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from kalypso_sandbox.github.access import RepositoryAccess
from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import Repository, Store

WITH_SLASHES: Final = frozenset({"ref", "branch", "path", "basehead"})
"""Path parameters that may contain slashes."""

BY_ID: Final = "/repositories/"
"""Prefix of the paths that stay the same when a repository is renamed."""

PARAMETER: Final = re.compile(r"\{(\w+)\}")
NUMBER: Final = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(RepositoryAccess):
    """A permitted request to an endpoint.

    `target` is the repository in the path. `path` is the part below `api_url` as the client sent
    it, with `%2F`; `parameters` come from the path, `query` from the query string. `body` is the
    parsed JSON ({} if there is none): an object, or a list of labels. The store is locked during
    the call.
    """

    path: str
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    rate_limits: RateLimits


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


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """An endpoint, and the path parameters of a request."""

    endpoint: Endpoint
    parameters: Mapping[str, str]


class Routes:
    """The endpoints, the most specific path first."""

    def __init__(self, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        ordered = sorted(endpoints.values(), key=_exactness, reverse=True)
        self._routes = [(_pattern(endpoint.path), endpoint) for endpoint in ordered]

    def find(self, method: str, path: str) -> RouteMatch | None:
        """Return the endpoint of a path, which may contain `%2F`."""
        method = "GET" if method == "HEAD" else method
        for pattern, endpoint in self._routes:
            match = pattern.fullmatch(path) if endpoint.method == method else None
            if match:
                parameters = {name: unquote(text) for name, text in match.groupdict().items()}
                return RouteMatch(endpoint, parameters)
        return None


def number(text: str) -> int:
    """Return a number from a path or query; for other texts return 0, which is not a valid id."""
    return int(text) if NUMBER.fullmatch(text) else 0


def by_name(store: Store, path: str) -> str:
    """Replace the id in `/repositories/{id}/…` with the repository's name."""
    repository_id, _, rest = path.removeprefix(BY_ID).partition("/")
    if path.startswith(BY_ID):
        for repository in store.repositories.values():
            if repository.id == number(repository_id):
                return f"/repos/{repository.full_name}" + (f"/{rest}" if rest else "")
    return path


def by_id(repository: Repository, path: str) -> str:
    """Replace the name in `/repos/{owner}/{repo}/…` with the repository's id."""
    if not path.startswith("/repos/"):
        return path
    return "/".join([f"{BY_ID}{repository.id}", *path.split("/", 4)[4:]])


def _exactness(endpoint: Endpoint) -> tuple[int, int]:
    """Return a sort key: first the fixed segments, then few parameters that may have slashes."""
    names = PARAMETER.findall(endpoint.path)
    written = endpoint.path.count("/") - len(names)
    return written, -sum(name in WITH_SLASHES for name in names)


def _pattern(path: str) -> re.Pattern[str]:
    fixed, *rest = PARAMETER.split(path)
    pattern = re.escape(fixed)
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        value = ".+" if name in WITH_SLASHES else "[^/]+"
        value = ".*" if name == "path" else value  # "" is the root of the files
        pattern += f"(?P<{name}>{value})" + re.escape(text)
    return re.compile(pattern)
