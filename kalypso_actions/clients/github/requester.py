"""PyGithub's requester, with our transport.

PyGithub's own transport retries writes after a server's failure, waits up to an hour for a rate
limit, gives up at once on a 429 without a time, drops the query of a redirect, and reads proxies
from the process's environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from github.Requester import Requester as PyGithubRequester

from kalypso_actions.clients.github.messages import Json, Request
from kalypso_actions.clients.github.server import GitHubServer
from kalypso_actions.clients.github.transport import API_VERSION, HEADERS, Transport

PAGE_SIZE = 100
"""Items per page: GitHub's maximum."""


class Requester(PyGithubRequester):
    """Sends the requests of PyGithub's objects and lists, with one credential.

    PyGithub itself has no credential: a call that bypassed our transport would fail.
    """

    def __init__(
        self,
        transport: Transport,
        server: GitHubServer,
        authorization: Callable[[], str],
        account: str = "",
    ) -> None:
        """`authorization` returns the header; `account` names the owner of the rate limit."""
        super().__init__(
            auth=None,
            base_url=server.api_url,
            timeout=60,
            user_agent=HEADERS["User-Agent"],
            per_page=PAGE_SIZE,
            verify=True,
            retry=None,
            pool_size=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
            lazy=True,
            api_version=API_VERSION,
        )
        self._transport = transport
        self._server = server
        self._authorization = authorization
        self._account = account

    def requestJsonAndCheck(  # noqa: N802 - PyGithub's name
        self,
        verb: str,
        url: str,
        parameters: dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        input: Json = None,  # noqa: A002 - PyGithub's name
        follow_302_redirect: bool = False,  # noqa: ARG002 - the transport follows redirects
    ) -> tuple[dict[str, Any], Json]:
        """Send a request; return the response's headers and JSON (None without a body).

        Raises ErrorResponseError, NoResponseError, ForeignUrlError.
        """
        request = Request(
            verb,
            self.add_parameters_to_url(self._server.api(url), parameters or {}),
            self._authorization,
            body=input,
            headers=headers,
            account=self._account,
        )
        response = self._transport.send(request)
        return dict(response.headers), response.body
