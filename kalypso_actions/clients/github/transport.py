"""PyGithub's connections to GitHub: send, log and count requests, and retry them if that is safe.

PyGithub's own connections retry writes after a server's failure, sleep up to an hour, drop the
query of a redirect, and read the proxies of the process. PyGithub has one connection class for the
whole process. `ApiConnection` therefore knows no client; it gets the client of its request from
`ClientRetry`, which PyGithub passes to each connection.

Retry a read after every temporary failure. Retry a write only if GitHub has certainly not acted:
the write hit a rate limit, or there was no connection. Every other failed write is `uncertain`; the
caller searches for its result before it writes again.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Collection, ItemsView, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from github import Github, GithubRetry
from github.Auth import Auth
from github.Requester import HTTPSRequestsConnectionClass, Requester, RequestsResponse
from requests.utils import parse_header_links

from kalypso_actions import __version__
from kalypso_actions.clients.github import errors
from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.clients.github.server import PORTS, GitHubServer
from kalypso_actions.clients.network import TIMEOUT, Session

log = logging.getLogger(__name__)

API_VERSION: Final = "2022-11-28"
MEDIA_TYPE: Final = "application/vnd.github+json"
PAGE_SIZE: Final = 100
"""Items per page: GitHub's maximum."""

READS: Final = frozenset({"GET", "HEAD"})

REDIRECTS: Final = 5
MOVED: Final = frozenset({301, 302})
MOVED_WITH_METHOD: Final = frozenset({307, 308})
"""GitHub redirects writes to a renamed repository with these; the method stays the same."""

POST_INTERVAL: Final = 1.0
"""Seconds between writes, as GitHub asks for: about 80 a minute lead to a secondary rate limit.

https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait after each failure of the server or the network."""


class Transport:
    """Sends the requests of one client. Thread-safe."""

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
        self.quota = errors.Quota()
        self.now = now
        self._server = server
        self._session = Session(environment)
        self._sleep = sleep
        self._max_wait = max_wait
        self._posting = threading.Lock()
        self._last_post: datetime | None = None

    def api(self, auth: Auth, account: str, repeatable: Collection[str] = READS) -> Github:
        """Return PyGithub's API with a credential; its objects send requests by this transport.

        `account` names the owner of the rate limit. `repeatable` are the methods whose second
        delivery has no further effect.
        """
        return Github(
            auth=auth,
            base_url=self._server.api_url,
            user_agent=f"kalypso-actions/{__version__}",
            per_page=PAGE_SIZE,
            retry=ClientRetry(self, auth, account, repeatable),
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=API_VERSION,
        )

    def close(self) -> None:
        """Close the connections that are kept open; another request opens one."""
        self._session.close()

    def send(self, connection: ApiConnection, client: ClientRetry) -> ApiResponse:
        """Return a successful response; each further attempt has the current token.

        Raises GitHubError, which does not say what failed.
        """
        delays = iter(DELAYS)
        left, least = self._max_wait, 1.0
        while True:
            self._pace(connection.verb, client)
            try:
                return self._follow_redirects(connection, client)
            except GitHubError as error:
                delay = (error.until - self.now()).total_seconds() if error.until else 0
                if error.limited:
                    # GitHub blocks clients that keep sending requests.
                    delay = max(delay, least) if error.until else errors.SECONDARY_WAIT * least
                    least *= 2
                elif error.temporary and not error.uncertain:
                    delay = max(delay, next(delays, math.inf))
                else:
                    raise
                left -= delay
                if left < 0:
                    raise
                reason = f"GitHub answered {error.status}" if error.status else error.reason
                verb, url = connection.verb, connection.url
                log.warning("%s %s: %s; again in %.0f s", verb, url, reason, delay)
            self._sleep(delay)
            client.auth.authentication(connection.headers)

    def _pace(self, method: str, client: ClientRetry) -> None:
        """Wait until a second has passed since the last POST that writes."""
        if method != "POST" or client.may_repeat(method):
            return
        with self._posting:
            if self._last_post is not None:
                seconds = POST_INTERVAL - (self.now() - self._last_post).total_seconds()
                if seconds > 0:
                    self._sleep(seconds)
            self._last_post = self.now()

    def _follow_redirects(self, connection: ApiConnection, client: ClientRetry) -> ApiResponse:
        """Send a request; follow redirects on the same server."""
        url = self._server.api(connection.origin + connection.url)
        followed = MOVED_WITH_METHOD | (MOVED if connection.verb in READS else frozenset())
        for _ in range(REDIRECTS):
            response = self._send_once(connection, url, client)
            location = response.headers.get("location", "")
            if response.status_code not in followed or not location:
                return self._checked(response, connection, client)
            url = self._server.api(location, seen_from=url)
        raise GitHubError("GitHub redirects in a circle", advice="try again")

    def _send_once(
        self, connection: ApiConnection, url: str, client: ClientRetry
    ) -> requests.Response:
        started = time.monotonic()
        outcome: object = "no response"
        try:
            response = self._session.request(
                connection.verb,
                url,
                headers={**connection.headers, "Accept": MEDIA_TYPE},
                data=connection.input,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
            outcome = response.status_code
        except (requests.RequestException, OSError) as error:
            is_write = not client.may_repeat(connection.verb)
            raise errors.no_response(error, is_write=is_write) from None
        finally:
            parts, seconds = urlsplit(url), time.monotonic() - started
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            log.debug("%s %s %s %.2f s", connection.verb, path, outcome, seconds)
        self.quota.count(client.account, parts.path, response.headers)
        return response

    def _checked(
        self, response: requests.Response, connection: ApiConnection, client: ClientRetry
    ) -> ApiResponse:
        """Return a successful response whose links lead to this server.

        A successful response without JSON was cut short, or a proxy wrote it. The body of an error
        response may be a proxy's HTML page; its status is enough.
        """
        status, body = response.status_code, None
        is_write = not client.may_repeat(connection.verb)
        headers = {name.lower(): value for name, value in response.headers.items()}
        try:
            if response.content or status not in {204, 205}:
                body = json.loads(response.content)
        except ValueError:
            if status < 300:
                reason = "the response was cut short, or is not JSON"
                raise GitHubError(
                    reason,
                    advice="try again; if it happens again, check that GITHUB_API_URL is the URL of"
                    " GitHub's API",
                    status=status,
                    reason=reason,
                    uncertain=is_write,
                    temporary=True,
                ) from None
        if status >= 300 or errors.is_limited(status, headers, body):
            sent = connection.input
            content = json.loads(sent) if isinstance(sent, str) else None
            request = connection.verb, urlsplit(connection.url).path, content
            uncertain = is_write and status >= 500
            raise errors.refusal(status, body, headers, request, self.now(), uncertain=uncertain)
        for link in parse_header_links(headers.get("link", "")):
            self._server.api(link["url"])
        return ApiResponse(response)


class ClientRetry(GithubRetry):
    """The client of a request, and the methods that it may repeat; urllib3 retries nothing."""

    def __init__(
        self, transport: Transport, auth: Auth, account: str, repeatable: Collection[str]
    ) -> None:
        super().__init__(total=0, allowed_methods=repeatable)
        self.transport = transport
        self.auth = auth
        self.account = account

    def may_repeat(self, method: str) -> bool:
        """Whether a request may be sent again if its result is not known."""
        return method in (self.allowed_methods or ())


class ApiResponse(RequestsResponse):
    """A successful response, as PyGithub reads it."""

    def __init__(self, response: requests.Response) -> None:
        super().__init__(response)
        # After a 202, PyGithub would sleep and send the request again.
        self.status = 200 if response.status_code == 202 else response.status_code

    def getheaders(self) -> ItemsView[str, str]:
        """Return the links to other pages; PyGithub would fail at faulty numbers in others."""
        link = self.headers.get("link")
        return ({"link": link} if link else {}).items()

    def read(self) -> str:
        """Return the JSON; PyGithub would guess its encoding."""
        content = self.response.content
        return content.decode(json.detect_encoding(content), "surrogatepass")


class ApiConnection(HTTPSRequestsConnectionClass):
    """PyGithub's connection for one request, which the transport of its client sends.

    A plug-in may use PyGithub with settings of its own; then PyGithub's code sends the request.
    """

    scheme = "https"

    def __init__(self, host: str, port: int | None = None, **settings: Any) -> None:
        super().__init__(host, port or PORTS[self.scheme], **settings)
        self.protocol = self.scheme
        self.session.mount(f"{self.scheme}://", self.adapter)
        self.origin = f"{self.scheme}://{f'[{host}]' if ':' in host else host}"
        self.origin += f":{port}" if port else ""

    def getresponse(self) -> RequestsResponse:
        """Send the request."""
        if isinstance(self.retry, ClientRetry):
            return self.retry.transport.send(self, self.retry)
        return super().getresponse()


class PlainApiConnection(ApiConnection):
    """The same without encryption, for servers on this machine."""

    scheme = "http"


Requester.injectConnectionClasses(PlainApiConnection, ApiConnection)  # type: ignore[arg-type]
