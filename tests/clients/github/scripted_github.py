"""A GitHub that expects a list of requests, in order, and answers each as the test says.

A missing, different or additional request fails the test, as does one that GitHub's API description
does not have. The client's sleeps are recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
import responses
from responses.registries import OrderedRegistry

from kalypso_actions.clients.github import GitHub, GitHubServer, TokenAuth
from kalypso_actions.model.github import Account
from tests.github_api.description import check_request, published

Json = Any

REPOSITORY = "acme/fleet"

LOST = requests.ConnectionError("the connection was dropped")
"""Stands for a missing response, after which GitHub may have acted."""

GRAPHQL = "/graphql"

TEMPLATES = tuple(published()["paths"])

Step = tuple[str, int | requests.ConnectionError, Json]
"""Method and path below the repository's, status (or LOST), body."""

VISIBLE: Step = ("GET ", 200, {})
"""The request after the first 404, which shows that the token may see the repository."""


@dataclass(frozen=True)
class Conversation:
    """The client, its requests so far, and its sleeps."""

    github: GitHub
    slept: list[float] = field(default_factory=list)
    calls: Sequence[responses.Call] = ()

    def bodies(self, method: str) -> list[Json]:
        """Return the JSON of every request of this method."""
        requests = [call.request for call in self.calls if call.request.method == method]
        return [json.loads(request.body or "null") for request in requests]

    def queries(self, method: str = "GET") -> list[Mapping[str, str]]:
        """Return the query of every request of this method."""
        urls = [str(call.request.url) for call in self.calls if call.request.method == method]
        return [dict(parse_qsl(urlsplit(url).query)) for url in urls]


@contextmanager
def conversation(
    *steps: Step,
    server: GitHubServer | None = None,
    login: str = "kalypso[bot]",
    former_identities: Collection[str] = (),
) -> Iterator[Conversation]:
    """Yield a client of a GitHub that answers these requests, in this order, and no others.

    The client knows its own `login`.
    """
    server = server or GitHubServer()
    slept: list[float] = []
    now = datetime(2026, 1, 1, tzinfo=UTC)
    github = GitHub(
        server,
        TokenAuth("t0ken"),
        {},
        sleep=slept.append,
        now=lambda: now,
        former_identities=former_identities,
    )
    github.accounts["acme"] = Account(login, 1)
    with responses.RequestsMock(registry=OrderedRegistry) as mock:
        for step in steps:
            _expect(mock, f"{server.api_url}/repos/{REPOSITORY}", step)
        recorded = Conversation(github, slept, mock.calls)
        yield recorded
        for call in recorded.calls:
            _check(server, call.request)


def refusal(message: str, *errors: str | Mapping[str, str]) -> Json:
    """Return the body of a 4xx; a text is an error of the code `custom`."""
    details = [
        {"resource": "R", "code": "custom", "message": error} if isinstance(error, str) else error
        for error in errors
    ]
    return {"message": message, "errors": details} if details else {"message": message}


def page(step: Step, following: str) -> Step:
    """Add a link to the next page to the answer of a list."""
    call, status, body = step
    return call, status, _Page(body, following)


def _check(server: GitHubServer, request: requests.PreparedRequest) -> None:
    """Check a request against GitHub's API description."""
    method, parts = str(request.method), urlsplit(str(request.url))
    path = parts.path.removeprefix(urlsplit(server.api_url).path)
    if path == GRAPHQL:
        return
    template = max((path_ for path_ in TEMPLATES if _matches(path_, path)), key=_literals)
    query = dict(parse_qsl(parts.query))
    check_request(method, template, query, json.loads(request.body) if request.body else None)


def _matches(template: str, path: str) -> bool:
    pattern = re.sub(r"\\{(\w+)\\}", _segment, re.escape(template))
    return re.fullmatch(pattern, path) is not None


def _segment(match: re.Match[str]) -> str:
    """Return the pattern of a path parameter; a ref may contain slashes."""
    return ".+" if match[1] == "ref" else "[^/]+"


def _literals(template: str) -> int:
    return len(re.sub(r"\{\w+\}", "", template))


@dataclass(frozen=True)
class _Page:
    body: Json
    following: str


def _expect(mock: responses.RequestsMock, base: str, step: Step) -> None:
    call, status, body = step
    method, _, path = call.partition(" ")
    if path == GRAPHQL:
        base = base.partition("/repos/")[0]
    if not isinstance(status, int):
        mock.add(method, base + path, body=status)
        return
    headers = {}
    if isinstance(body, _Page):
        headers["Link"] = f'<{base}{body.following}>; rel="next"'
        body = body.body
    if body is None:
        mock.add(method, base + path, status=status)
    else:
        mock.add(method, base + path, status=status, json=body, headers=headers)
