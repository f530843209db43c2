"""Send, log and count requests to GitHub's API, and retry them if that is safe.

Retry a read after every temporary failure. Retry a write only if GitHub has certainly not acted:
the write hit a rate limit, or there was no connection. Every other failed write is `uncertain`; the
caller searches for its result before it writes again.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

import requests

from kalypso_actions import __version__
from kalypso_actions.clients.github import rate_limits
from kalypso_actions.clients.github.connection_failures import no_response
from kalypso_actions.clients.github.messages import (
    SAFE_METHODS,
    ErrorResponseError,
    Json,
    NoResponseError,
    Request,
    Response,
)
from kalypso_actions.clients.github.rate_limit_usage import Quota
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

POST_INTERVAL: Final = 1.0
"""Seconds between writes, as GitHub asks for: about 80 a minute lead to a secondary rate limit.

https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

MOVED: Final = frozenset({301, 302})
MOVED_WITH_METHOD: Final = frozenset({307, 308})
"""GitHub redirects writes to a renamed repository with these; the method stays the same."""


class Transport:
    """Sends requests to one server. Thread-safe."""

    def __init__(
        self,
        server: GitHubServer,
        environment: Mapping[str, str],
        *,
        sleep: Callable[[float], None],
        now: Callable[[], datetime],
        max_wait: float,
    ) -> None:
        """`environment` has proxies and certificates; `max_wait` is the limit of one request."""
        self.quota = Quota()
        self._server = server
        self._session = Session(environment)
        self._sleep = sleep
        self._now = now
        self._max_wait = max_wait
        self._posting = threading.Lock()
        self._last_post: datetime | None = None

    def send(self, request: Request) -> Response:
        """Return a successful response.

        Raises ErrorResponseError, NoResponseError, ForeignUrlError.
        """
        retries = RetryPolicy(self._max_wait, self._now, repeatable=request.repeatable)
        while True:
            self._pace(request)
            try:
                response = self._follow_redirects(request)
            except NoResponseError as error:
                delay, reason = retries.delay_after_no_response(error), error.reason
                if delay is None:
                    error.uncertain = error.sent and not request.repeatable
                    raise
            else:
                if response.status < 300 and not rate_limits.is_limited(response):
                    return response
                delay = retries.delay_after(response)
                reason = f"GitHub answered {response.status}"
                if delay is None:
                    uncertain = response.status >= 500 and not request.repeatable
                    raise ErrorResponseError(response, uncertain=uncertain)
            path = _path(request.url)
            log.warning("%s %s: %s; again in %.0f s", request.method, path, reason, delay)
            self._sleep(delay)

    def _pace(self, request: Request) -> None:
        """Wait until a second has passed since the last POST that writes."""
        if request.method != "POST" or request.idempotent:
            return
        with self._posting:
            if self._last_post is not None:
                seconds = POST_INTERVAL - (self._now() - self._last_post).total_seconds()
                if seconds > 0:
                    self._sleep(seconds)
            self._last_post = self._now()

    def _follow_redirects(self, request: Request) -> Response:
        """Send a request; follow redirects on the same server."""
        url = request.url
        for _ in range(REDIRECTS):
            response = self._send_once(request, url)
            followed = MOVED_WITH_METHOD
            if request.method in SAFE_METHODS:
                followed |= MOVED
            location = response.headers.get("location", "")
            if response.status not in followed or not location:
                return response
            url = self._server.api(location, seen_from=url)
        raise NoResponseError("GitHub redirects in a circle", sent=False, permanent=True)

    def _send_once(self, request: Request, url: str) -> Response:
        authorization = {"Authorization": request.authorization()}
        started = time.monotonic()
        outcome = "no response"
        try:
            response = self._session.request(
                request.method,
                url,
                headers=HEADERS | dict(request.headers or {}) | authorization,
                json=request.body,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
            outcome = str(response.status_code)
        except (requests.RequestException, OSError) as error:
            raise no_response(error) from None
        finally:
            seconds = time.monotonic() - started
            log.debug("%s %s %s %.2f s", request.method, _path(url), outcome, seconds)
        names = {name.lower(): value for name, value in response.headers.items()}
        self.quota.count(request.account, urlsplit(url).path, names)
        return Response(response.status_code, names, _json(response))


def _json(response: requests.Response) -> Json:
    """Return the body's JSON. Raises NoResponseError if a successful response has no JSON.

    Such a body was cut short, or a proxy wrote it. The body of an error response may be a proxy's
    HTML page; its status is enough.
    """
    if not response.content and response.status_code in {204, 205, 304}:
        return None
    try:
        return json.loads(response.content)
    except ValueError:
        if not response.ok or response.is_redirect:
            return None
    raise NoResponseError(
        "the response was cut short, or is not JSON",
        "try again; if it happens again, check that GITHUB_API_URL is the URL of GitHub's API",
        status=response.status_code,
    )


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
