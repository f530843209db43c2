"""Find the endpoint of a request by the paths of GitHub's OpenAPI description."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from kalypso_sandbox.github.endpoints import Endpoint
from kalypso_sandbox.store import Repository, Store

WITH_SLASHES: Final = frozenset({"ref", "branch", "path", "basehead"})
"""Path parameters that may contain slashes."""

BY_ID: Final = "/repositories/"
"""Prefix of the paths that stay the same when a repository is renamed."""

PARAMETER: Final = re.compile(r"\{(\w+)\}")
NUMBER: Final = re.compile(r"[0-9]{1,18}")


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
    parts = PARAMETER.split(path)
    # Fixed text and parameter names alternate.
    for index in range(0, len(parts), 2):
        parts[index] = re.escape(parts[index])
    for index in range(1, len(parts), 2):
        name = parts[index]
        parts[index] = f"(?P<{name}>{_text(name)})"
    return re.compile("".join(parts))


def _text(name: str) -> str:
    if name == "path":
        return ".*"  # "" is the root of the files
    return ".+" if name in WITH_SLASHES else "[^/]+"
