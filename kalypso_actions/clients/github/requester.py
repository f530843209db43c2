"""PyGithub's door to GitHub, with our transport behind it.

PyGithub by itself repeats writes after a server's failure, waits up to an hour for a rate limit,
gives up at once on a 429 that does not say how long, follows redirects without their query, and
reads proxies from the process's environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from github.Requester import Requester as PyGithubRequester

from kalypso_actions.clients.github.messages import Json, Request
from kalypso_actions.clients.github.server import GitHubServer
from kalypso_actions.clients.github.transport import API_VERSION, HEADERS, Transport

PAGE = 100
"""Entries per page: the most that GitHub gives."""


class Requester(PyGithubRequester):
    """What PyGithub's objects and lists ask through, with one credential.

    They are lazy: none is fetched before it is looked into. PyGithub itself holds no credential, so
    that a call which went round our transport would be refused and not repeated.
    """

    def __init__(
        self,
        transport: Transport,
        server: GitHubServer,
        authorization: Callable[[], str],
        account: str = "",
    ) -> None:
        """`authorization` gives the header; `account` is whose quota is used."""
        super().__init__(
            auth=None,
            base_url=server.api_url,
            timeout=60,
            user_agent=HEADERS["User-Agent"],
            per_page=PAGE,
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
        follow_302_redirect: bool = False,  # noqa: ARG002 - the transport follows on one server
    ) -> tuple[dict[str, Any], Json]:
        """Every call: the answer's headers and JSON (None where it has none).

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
        answer = self._transport.send(request)
        return dict(answer.headers), answer.body
