"""Which endpoint a request means, by the paths of GitHub's description."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from kalypso_actions.sandbox.endpoints import Endpoint
from kalypso_actions.sandbox.store import Repository, Store

WITH_SLASHES: Final = frozenset({"ref", "branch", "path", "basehead"})
"""Parameters that may go over several segments of a path."""

BY_ID: Final = "/repositories/"
"""Begins the paths that do not change when a repository gets another name."""

PARAMETER: Final = re.compile(r"\{(\w+)\}")
NUMBER: Final = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """An endpoint, and what the path says for its parameters."""

    endpoint: Endpoint
    parameters: Mapping[str, str]


class Routes:
    """A table of endpoints, the more exact one first where a path fits two."""

    def __init__(self, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        ordered = sorted(endpoints.values(), key=_exactness, reverse=True)
        self._routes = [(_pattern(endpoint.path), endpoint) for endpoint in ordered]

    def find(self, method: str, path: str) -> RouteMatch | None:
        """The endpoint for a path as it was sent, `%2F` and all."""
        wanted = "GET" if method == "HEAD" else method
        for pattern, endpoint in self._routes:
            match = pattern.fullmatch(path) if endpoint.method == wanted else None
            if match:
                parameters = {name: unquote(text) for name, text in match.groupdict().items()}
                return RouteMatch(endpoint, parameters)
        return None


def number(text: str) -> int:
    """A number in a path or a query; 0, which nothing has, for anything else."""
    return int(text) if NUMBER.fullmatch(text) else 0


def by_name(store: Store, path: str) -> str:
    """A path with the repository's name, where it has its id: `/repositories/{id}/…`."""
    wanted, _, rest = path.removeprefix(BY_ID).partition("/")
    if path.startswith(BY_ID):
        for repository in store.repositories.values():
            if repository.id == number(wanted):
                return f"/repos/{repository.full_name}" + (f"/{rest}" if rest else "")
    return path


def by_id(repository: Repository, path: str) -> str:
    """A path with the repository's id, where it has a name: `/repos/{owner}/{repo}/…`."""
    if not path.startswith("/repos/"):
        return path
    return "/".join([f"{BY_ID}{repository.id}", *path.split("/", 4)[4:]])


def _exactness(endpoint: Endpoint) -> tuple[int, int]:
    """How much of the path stands written, and then how little a parameter may swallow."""
    names = PARAMETER.findall(endpoint.path)
    written = endpoint.path.count("/") - len(names)
    return written, -sum(name in WITH_SLASHES for name in names)


def _pattern(path: str) -> re.Pattern[str]:
    parts = PARAMETER.split(path)
    # Text and names take turns.
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
