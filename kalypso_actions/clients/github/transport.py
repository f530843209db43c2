"""Requests to GitHub's API: repeated where that is safe, logged, counted, kept on its own server.

A read is repeated after whatever may pass. A write is repeated only where GitHub has certainly not
acted: it refused for a rate limit, or no connection was made. Every other failure of a write says
that it is `uncertain`, and the caller looks before it writes again.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

import requests

from kalypso_actions import __version__
from kalypso_actions.clients.github import rate_limits
from kalypso_actions.clients.github.connection_failures import lost
from kalypso_actions.clients.github.messages import (
    SAFE,
    ErrorResponseError,
    Json,
    NoResponseError,
    Request,
    Response,
)
from kalypso_actions.clients.github.quota import Quota
from kalypso_actions.clients.github.retry_policy import RetryPolicy
from kalypso_actions.clients.github.server import GitHubServer
from kalypso_actions.clients.network import TIMEOUT, Session

log = logging.getLogger(__name__)

API_VERSION: Final = "2022-11-28"

HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "User-Agent": f"kalypso-actions/{__version__}",
    "X-GitHub-Api-Version": API_VERSION,
}

REDIRECTS: Final = 5

MOVED: Final = frozenset({301, 302})
MOVED_WITH_METHOD: Final = frozenset({307, 308})
"""GitHub answers a write to a renamed repository like this: the same request, to another URL."""


class Transport:
    """Sends requests to one server; safe to use from several threads."""

    def __init__(
        self,
        server: GitHubServer,
        environment: Mapping[str, str],
        *,
        sleep: Callable[[float], None],
        now: Callable[[], datetime],
        longest_wait: float,
    ) -> None:
        """`environment` has proxies and trusted authorities. `longest_wait` is for one request."""
        self.quota = Quota()
        self._server = server
        self._session = Session(environment)
        self._sleep = sleep
        self._now = now
        self._longest_wait = longest_wait

    def send(self, request: Request) -> Response:
        """The answer, a success. Raises ErrorResponseError, NoResponseError, ForeignUrlError."""
        patience = RetryPolicy(self._longest_wait, self._now, repeatable=request.repeatable)
        while True:
            try:
                answer = self._follow(request)
            except NoResponseError as error:
                delay, reason = patience.after_loss(error), error.reason
                if delay is None:
                    error.uncertain = error.sent and not request.repeatable
                    raise
            else:
                if answer.status < 300 and not rate_limits.is_limited(answer):
                    return answer
                delay, reason = patience.after(answer), f"GitHub answered {answer.status}"
                if delay is None:
                    failed = answer.status >= 500
                    raise ErrorResponseError(answer, uncertain=failed and not request.repeatable)
            path = _path(request.url)
            log.warning("%s %s: %s; again in %.0f s", request.method, path, reason, delay)
            self._sleep(delay)

    def _follow(self, request: Request) -> Response:
        """Send it, and again where GitHub says that its target has moved on the same server."""
        url = request.url
        for _ in range(REDIRECTS):
            answer = self._once(request, url)
            followed = MOVED_WITH_METHOD | (MOVED if request.method in SAFE else frozenset())
            location = answer.headers.get("location", "")
            if answer.status not in followed or not location:
                return answer
            url = self._server.api(location, seen_from=url)
        raise NoResponseError("GitHub redirects in a circle", sent=False, permanent=True)

    def _once(self, request: Request, url: str) -> Response:
        own = {"Authorization": request.authorization()}
        started = time.monotonic()
        outcome = "no answer"
        try:
            response = self._session.request(
                request.method,
                url,
                headers=HEADERS | dict(request.headers or {}) | own,
                json=request.body,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
            outcome = str(response.status_code)
        except (requests.RequestException, OSError) as error:
            raise lost(error) from None
        finally:
            seconds = time.monotonic() - started
            log.debug("%s %s %s %.2f s", request.method, _path(url), outcome, seconds)
        names = {name.lower(): value for name, value in response.headers.items()}
        self.quota.count(request.account, urlsplit(url).path, names)
        return Response(response.status_code, names, _json(response))


def _json(response: requests.Response) -> Json:
    """The body's JSON. Raises NoResponseError where a success has another body.

    Such an answer was cut short, or a proxy between us and GitHub wrote it. A refusal may well come
    from a proxy, as a page for people: its status is enough.
    """
    if not response.content and response.status_code in {204, 205, 304}:
        return None
    try:
        return json.loads(response.content)
    except ValueError:
        if not response.ok or response.is_redirect:
            return None
    raise NoResponseError(
        "the answer is cut short, or is no JSON",
        "try again; if it stays so, check that GITHUB_API_URL is the URL of GitHub's API",
        status=response.status_code,
    )


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
