"""The connection to GitHub that every call goes through."""

from __future__ import annotations

import base64
import logging
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from kalypso_actions.clients.github.apps import AppAuth, Installations, NoInstallationError
from kalypso_actions.clients.github.errors import (
    GitHubError,
    error_response,
    message_of,
    mutation_refusal,
    no_response_error,
)
from kalypso_actions.clients.github.messages import (
    ErrorResponseError,
    Json,
    NoResponseError,
    Request,
    Response,
)
from kalypso_actions.clients.github.rate_limit_usage import Quota
from kalypso_actions.clients.github.recent_writes import RecentWrites
from kalypso_actions.clients.github.server import ForeignUrlError, GitHubServer
from kalypso_actions.clients.github.transport import Transport
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.github import Account
from kalypso_actions.model.urls import owner_of

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "NoInstallationError", "TokenAuth"]

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_WAIT: Final = 15 * 60.0
"""Seconds that all attempts of one request may wait together."""


@dataclass(frozen=True, slots=True)
class TokenAuth:
    """An existing token: of the job, of a person, or of an App."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        # Pasted secrets end with a newline; `requests` would quote such a header in an error.
        object.__setattr__(self, "token", self.token.strip())
        if not re.fullmatch(r"[!-~]+", self.token):
            fault = "contains characters that no token has" if self.token else "is empty"
            raise UsageError(f"the GitHub token {fault}", advice="check the secret it comes from")


class GitHub:
    """A client of GitHub's REST and GraphQL APIs. Thread-safe."""

    def __init__(
        self,
        server: GitHubServer,
        auth: TokenAuth | AppAuth,
        environment: Mapping[str, str],
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        max_wait: float = MAX_WAIT,
        former_identities: Collection[str] = (),
        mask: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`environment` names proxies and certificates.

        `max_wait`: seconds that one request may wait until rate limits and failures end.
        `former_identities`: logins that wrote for Kalypso before (see `viewer.identity`).
        `mask` gets each token of the App before its first use.
        """
        self.server = server
        self.sleep = sleep
        self.former_identities = frozenset(former_identities)
        self.accounts: dict[str, Account] = {}
        """The credential's accounts that `viewer` has read, by owner."""
        self.recent_writes = RecentWrites(now, sleep)
        self._now = now
        self._transport = Transport(server, environment, sleep=sleep, now=now, max_wait=max_wait)
        self._per_owner = isinstance(auth, AppAuth)
        self._token: Callable[[str], str]
        self._installations: Installations | None = None
        if isinstance(auth, AppAuth):
            self._installations = Installations(auth, server, self._transport, now, mask)
            self._token = self._installations.token
        else:
            self._token = lambda _: auth.token
        self._visible: set[str] = set()

    @property
    def quota(self) -> Quota:
        """The used part of the rate limit."""
        return self._transport.quota

    def send(
        self,
        repository: str,
        method: str,
        url: str,
        parameters: Mapping[str, str] | None = None,
        body: Json = None,
    ) -> Response:
        """Send a REST request with the credential of a repository's owner.

        `url` is a path of the API, or a URL that GitHub has sent. Use it within `call`, which
        converts the errors ErrorResponseError, NoResponseError and ForeignUrlError. Raises
        UsageError for an invalid name of a repository.
        """
        owner = _checked_owner(repository)
        query = f"?{urlencode(sorted(parameters.items()))}" if parameters else ""
        request = Request(
            method,
            self.server.api(url) + query,
            lambda: self._authorization(owner),
            body=body,
            account=self._account(owner),
        )
        return self._transport.send(request)

    def call(self, repository: str, failure: str, send: Callable[[], T]) -> T:
        """Return the result of `send`, which sends requests about a repository (or an owner).

        `failure` begins the error message: "the pull requests cannot be listed".
        Raises GitHubError.
        """
        try:
            result = send()
        except ErrorResponseError as error:
            raise error_response(error, repository, failure, self._now()) from None
        except NoResponseError as error:
            raise no_response_error(error, repository, failure) from None
        except ForeignUrlError as error:
            message, advice = f"{failure}: {error.problem.message}", error.problem.advice
            raise GitHubError(message, Location(repository), advice) from None
        self._visible.add(repository.lower())
        return result

    def call_optional(self, repository: str, failure: str, send: Callable[[], T]) -> T | None:
        """As `call`, but return None if GitHub answers 404.

        GitHub also answers 404 for a repository that the token may not see. This is an error,
        because such a token cannot prove that something is absent. Raises GitHubError.
        """
        try:
            return self.call(repository, failure, send)
        except GitHubError as error:
            if error.status != 404:
                raise
        if repository.lower() not in self._visible:
            self.call(
                repository, failure, lambda: self.send(repository, "GET", f"/repos/{repository}")
            )
        return None

    def graphql(
        self, repository_owner: str, failure: str, query: str, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
        """Return the data of a GraphQL query (no mutation), and the errors of its null parts.

        The query uses the credential for `repository_owner`. Raises GitHubError without data.
        """
        request = self._query(repository_owner, query, variables, idempotent=True)
        body = self.call(repository_owner, failure, lambda: self._transport.send(request).body)
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict):
            reason = message_of(body) or "the response contains no data"
            raise GitHubError(f"{failure}: GitHub says: {reason}", Location(repository_owner))
        return data, tuple(body.get("errors") or ())

    def mutate(
        self, repository: str, failure: str, mutation: str, variables: Mapping[str, Any]
    ) -> None:
        """Send a GraphQL mutation; repeat it only if GitHub does not know of a recent write yet.

        Raises GitHubError; its status is 422 for a refusal, and 501 if the server's schema lacks
        the mutation.
        """
        request = self._query(_checked_owner(repository), mutation, variables, idempotent=False)

        def send() -> None:
            refusal = mutation_refusal(self._transport.send(request).body)
            if refusal:
                raise ErrorResponseError(refusal, uncertain=False)

        visible = partial(
            self.recent_writes.await_visibility, repository, "POST", "/graphql", variables, send
        )
        self.call(repository, failure, visible)

    def group_by_credential(self, owners: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Group owners by the credential to use: credential's owner -> owners to read with it.

        A token serves all owners. An App has a token for each owner where it is installed; the
        first of these also reads the public repositories of the other owners. Raises GitHubError;
        NoInstallationError if the App is not installed for any of them.
        """
        if not self._per_owner:
            return {owner: list(owners) for owner in list(owners)[:1]}
        groups: dict[str, list[str]] = {}
        without_installation: list[str] = []
        last_error: NoInstallationError | None = None
        for owner in owners:
            try:
                self._token(owner)
                groups[owner] = [owner]
            except NoInstallationError as error:
                without_installation.append(owner)
                last_error = error
        if last_error is not None and not groups:
            raise last_error
        for first in list(groups)[:1]:
            groups[first] += without_installation
        return groups

    @property
    def installations(self) -> Installations | None:
        """The App's installations; None for a token."""
        return self._installations

    def authorize(self, url: str) -> str:
        """Return the header Authorization for git and a URL of this server; "" for other servers.

        It is also "" for an owner without an installation of the App, since public repositories
        need no credential. Raises GitHubError if an installed App gets no token.
        """
        owner = self.server.owner(url)
        if owner is None:
            return ""
        try:
            token = self._token(owner)
        except NoInstallationError as error:
            log.info("git has no credential for %s: %s", owner, error.problem.message)
            return ""
        return "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()

    def _query(
        self, owner: str, query: str, variables: Mapping[str, Any], *, idempotent: bool
    ) -> Request:
        """Return a GraphQL request with the owner's credential."""
        return Request(
            "POST",
            self.server.graphql_url,
            lambda: self._authorization(owner),
            body={"query": query, "variables": dict(variables)},
            idempotent=idempotent,
            account=self._account(owner),
        )

    def _authorization(self, owner: str) -> str:
        return f"Bearer {self._token(owner)}"

    def _account(self, owner: str) -> str:
        """The credential's name: an App has a name for each owner, a token has one for all."""
        return owner.lower() if self._per_owner else ""


def _checked_owner(repository: str) -> str:
    """Return the owner in `owner/name`. Raises UsageError for any other text."""
    owner = owner_of(repository)
    if owner is None:
        raise UsageError(
            f"{repository!r} is not a repository of GitHub", advice="write it as owner/name"
        )
    return owner
