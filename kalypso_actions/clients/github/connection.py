"""The connection to GitHub that all modules here ask through."""

from __future__ import annotations

import base64
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from github.GithubException import BadAttributeException, GithubException
from github.Repository import Repository

from kalypso_actions.clients.github.apps import AppAuth, Installations, NoInstallationError
from kalypso_actions.clients.github.errors import GitHubError, no_response_error, refusal, words
from kalypso_actions.clients.github.messages import ErrorResponseError, NoResponseError, Request
from kalypso_actions.clients.github.quota import Quota
from kalypso_actions.clients.github.requester import Requester
from kalypso_actions.clients.github.server import ForeignUrlError, GitHubServer
from kalypso_actions.clients.github.transport import Transport
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.urls import owner_of

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "NoInstallationError", "TokenAuth"]

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT: Final = 15 * 60.0
"""Seconds that one request waits at most, all its attempts together."""


@dataclass(frozen=True, slots=True)
class TokenAuth:
    """A token that somebody else made: of the job, of a person, or of an App."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        # Secrets are pasted with line ends; a header that holds one would be quoted in errors.
        object.__setattr__(self, "token", self.token.strip())
        if not re.fullmatch(r"[!-~]+", self.token):
            fault = "holds characters that no token has" if self.token else "is empty"
            raise UsageError(f"the GitHub token {fault}", advice="check the secret it comes from")


class GitHub:
    """GitHub by its REST and GraphQL APIs; safe to use from several threads."""

    def __init__(
        self,
        server: GitHubServer,
        auth: TokenAuth | AppAuth,
        environment: Mapping[str, str],
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        longest_wait: float = LONGEST_WAIT,
        mask: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`environment` has proxies and trusted authorities (a job's own variables).

        `longest_wait`: seconds that one request may wait for rate limits and failures to pass.
        `mask` is told each token that is made for the App, before it is used.
        """
        self.server = server
        self.sleep = sleep
        self._now = now
        self._transport = Transport(
            server, environment, sleep=sleep, now=now, longest_wait=longest_wait
        )
        self._per_owner = isinstance(auth, AppAuth)
        self._token: Callable[[str], str]
        self._installations: Installations | None = None
        if isinstance(auth, AppAuth):
            self._installations = Installations(auth, server, self._transport, now, mask)
            self._token = self._installations.token
        else:
            self._token = lambda _: auth.token
        self._lock = threading.Lock()
        self._requesters: dict[str, Requester] = {}
        self._visible: set[str] = set()

    @property
    def quota(self) -> Quota:
        """What was used of GitHub's quota so far."""
        return self._transport.quota

    def repository(self, repository: str) -> Repository:
        """PyGithub's object for `owner/name`, with the credential for that owner; no request.

        To be used within `ask`, which knows its errors. Raises UsageError for a faulty name.
        """
        return Repository(self._requester(_checked_owner(repository)), url=f"/repos/{repository}")

    def ask(self, repository: str, failure: str, call: Callable[[], T]) -> T:
        """The result of `call`, which asks GitHub about a repository (or an owner).

        `failure` says what has failed, if it fails: "the pull requests cannot be listed".
        Raises GitHubError.
        """
        try:
            result = call()
        except ErrorResponseError as error:
            raise refusal(error, repository, failure, self._now()) from None
        except NoResponseError as error:
            raise no_response_error(error, repository, failure) from None
        except ForeignUrlError as error:
            message, advice = f"{failure}: {error.problem.message}", error.problem.advice
            raise GitHubError(message, Location(repository), advice) from None
        except (GithubException, BadAttributeException) as error:
            message = f"{failure}: the answer is not as PyGithub expects ({type(error).__name__})"
            raise GitHubError(message, Location(repository)) from error
        self._visible.add(repository.lower())
        return result

    def optional(self, repository: str, failure: str, call: Callable[[], T]) -> T | None:
        """As `ask`, but None where GitHub answers 404: what is asked for is not there.

        GitHub answers the same for a repository that the token may not see. That is an error, so
        that nothing is taken for absent which could not be looked for. Raises GitHubError.
        """
        try:
            return self.ask(repository, failure, call)
        except GitHubError as error:
            if error.status != 404:
                raise
        if repository.lower() not in self._visible:
            known = self.repository(repository)
            self.ask(
                repository, failure, lambda: known.requester.requestJsonAndCheck("GET", known.url)
            )
        return None

    def graphql(
        self, repository_owner: str, failure: str, query: str, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
        """The data of a GraphQL query (no mutation), and the errors of parts that are null in it.

        The credential is that for `repository_owner`. Raises GitHubError where there is no data.
        """
        request = Request(
            "POST",
            self.server.graphql_url,
            lambda: self._authorization(repository_owner),
            body={"query": query, "variables": dict(variables)},
            idempotent=True,
            account=self._account(repository_owner),
        )
        body = self.ask(repository_owner, failure, lambda: self._transport.send(request).body)
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict):
            said = words(body) or "the answer holds no data"
            raise GitHubError(f"{failure}: GitHub says: {said}", Location(repository_owner))
        return data, tuple(body.get("errors") or ())

    def by_credential(self, owners: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The owners by the credential that sees most of them: who is asked for -> whose it sees.

        A token sees what it may of everybody. An App has one for each owner where it is installed;
        what others have in public is visible to any of these. Raises GitHubError, among them
        NoInstallationError where there is none.
        """
        if not self._per_owner:
            return {owner: list(owners) for owner in list(owners)[:1]}
        groups: dict[str, list[str]] = {}
        others: list[str] = []
        refusal_of_all: NoInstallationError | None = None
        for owner in owners:
            try:
                self._token(owner)
                groups[owner] = [owner]
            except NoInstallationError as error:
                others.append(owner)
                refusal_of_all = error
        if refusal_of_all is not None and not groups:
            raise refusal_of_all
        for asking in list(groups)[:1]:
            groups[asking] += others
        return groups

    @property
    def installations(self) -> Installations | None:
        """Where the App is installed; None for a token."""
        return self._installations

    def authorize(self, url: str) -> str:
        """The header Authorization for git and a URL of this server; "" for every other URL.

        "", too, for an owner without an installation of the App: public repositories need no
        credential. Raises GitHubError where an installed App gets no token.
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

    def _requester(self, owner: str) -> Requester:
        account = self._account(owner)
        with self._lock:
            if account not in self._requesters:
                self._requesters[account] = Requester(
                    self._transport, self.server, lambda: self._authorization(owner), account
                )
            return self._requesters[account]

    def _authorization(self, owner: str) -> str:
        return f"Bearer {self._token(owner)}"

    def _account(self, owner: str) -> str:
        """Whose credential is used: an App has one for each owner, a token is one for all."""
        return owner.lower() if self._per_owner else ""


def _checked_owner(repository: str) -> str:
    """The owner in `owner/name`. Raises UsageError where it is none."""
    owner = owner_of(repository)
    if owner is None:
        raise UsageError(
            f"{repository!r} names no repository of GitHub", advice="write it as owner/name"
        )
    return owner
