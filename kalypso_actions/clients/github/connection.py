"""A GitHub server with one credential; every call goes through it.

GitHub is eventually consistent: for seconds, an endpoint may refuse an object that another has just
accepted or listed. Repeat a request only for an object that this run has just written (or has read
elsewhere, since another run may have written it), and only after refusals that such an object gets.
Reports of these: googleapis/release-please#2782, peter-evans/create-pull-request#4321,
tanium/octobot#418, home-assistant/service-hub#394, freed-project/freed#2023 and mmtk/mmtk-core#992.
"""

from __future__ import annotations

import base64
import logging
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import github as pygithub
from github.Repository import Repository

from kalypso_actions.clients.github.apps import (
    AppAuth,
    Installations,
    NoInstallationError,
    OwnerAuth,
)
from kalypso_actions.clients.github.errors import (
    GitHubError,
    Json,
    Quota,
    check_mutation,
    message_of,
)
from kalypso_actions.clients.github.server import GitHubServer
from kalypso_actions.clients.github.transport import READS, Transport
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.github import Account, PullRequest
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.urls import owner_of

log = logging.getLogger(__name__)

T = TypeVar("T")

WINDOW: Final = timedelta(minutes=1)
"""The time for which a write counts as recent."""

DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each new attempt."""

REFUSALS: Final = (
    (r"\w+ /(?:issues|pulls)/(?P<number>\d+)(?:/.*)?", 404, "Not Found", "number {number}"),
    (
        r"(?:POST|PATCH) /(?:issues|pulls)/(?P<number>\d+)(?:/.*)?",
        422,
        "Issue not found|Could not resolve to a node",
        "number {number}",
    ),
    (r"POST /pulls", 422, "head invalid", "branch {head}"),
    (r"PUT /pulls/\d+/merge", 409, "Head branch was modified", "commit {sha}"),
    (r"POST /statuses/(?P<sha>\w+)", 422, "No commit found for SHA", "commit {sha}"),
    (r"POST /graphql", 422, "Could not resolve to a node", "node {pull}"),
    (r"POST /graphql", 422, "Head branch is out of date", "commit {head}"),
)
"""Pattern of method and path (after that of the repository), status, pattern of GitHub's message,
the object's name."""


class RecentWrites:
    """Branches, commits, issues and pull requests that certainly exist. Thread-safe."""

    def __init__(self, now: Callable[[], datetime], sleep: Callable[[float], None]) -> None:
        self._now = now
        self._sleep = sleep
        self._lock = threading.Lock()
        self._times: dict[tuple[str, str], datetime] = {}

    def add_push(self, repository: str, branch: str, commit: str) -> None:
        """Record that a branch is at a commit."""
        self._add(repository, f"branch {branch}", f"commit {commit}")

    def add_issue(self, repository: str, number: int) -> None:
        """Record that an issue exists."""
        self._add(repository, f"number {number}")

    def add_pull_request(self, repository: str, pull: PullRequest) -> None:
        """Record that a pull request exists."""
        self._add(repository, f"number {pull.number}", f"node {pull.node_id}")

    def add_label(self, repository: str, name: str) -> None:
        """Record that a repository has a label."""
        self._add(repository, f"label {name.lower()}")

    def has_label(self, repository: str, name: str) -> bool:
        """Whether a label was recently recorded for a repository."""
        return self._has(repository, f"label {name.lower()}")

    def has_commit(self, repository: str, commit: str) -> bool:
        """Whether a commit was recently recorded for a branch."""
        return self._has(repository, f"commit {commit}")

    def await_visibility(self, repository: str, send: Callable[[], T]) -> T:
        """Return the result of `send`; repeat it while GitHub may not know of a recent write.

        Raises what `send` raises.
        """
        delays = iter(DELAYS)
        while True:
            try:
                return send()
            except GitHubError as error:
                name = _refused_object(error)
                delay = next(delays, None) if name and self._has(repository, name) else None
                if delay is None:
                    raise
                self._sleep(delay)

    def _add(self, repository: str, *names: str) -> None:
        keys = [(repository.lower(), name) for name in names]
        with self._lock:
            self._times |= dict.fromkeys(keys, self._now())

    def _has(self, repository: str, name: str) -> bool:
        with self._lock:
            written_at = self._times.get((repository.lower(), name))
        return written_at is not None and self._now() - written_at < WINDOW


def _refused_object(error: GitHubError) -> str:
    """Return the object that GitHub may not know of yet; "" for every other refusal."""
    method, path, content = error.request
    path = re.sub(r".*/repos/[^/]+/[^/]+", "", path, count=1)
    for pattern, status, message, name in REFUSALS:
        request = re.fullmatch(pattern, f"{method} {path}")
        is_meant = request and error.status == status
        if request and is_meant and re.search(message, error.reason, re.IGNORECASE):
            return name.format_map(
                defaultdict(
                    str, {**(content if isinstance(content, dict) else {}), **request.groupdict()}
                )
            )
    return ""


MAX_WAIT: Final = 15 * 60.0
"""Seconds that all attempts of one request may wait together."""

Advice = Mapping[str, str]
"""A phrase of GitHub's message, in lower case -> what to change; the first match counts."""

VIEWER: Final = "query Viewer { viewer { login databaseId } }"


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
        `former_identities`: logins that wrote for Kalypso before (see `identity`).
        `mask` gets each token of the App before its first use.
        """
        self.server = server
        self.sleep = sleep
        self.accounts: dict[str, Account] = {}
        """The credential's accounts that `account` has read, by owner."""
        self.recent_writes = RecentWrites(now, sleep)
        self.installations: Installations | None = None
        """The App's installations; None for a token."""
        self._former_identities = frozenset(former_identities)
        self._now = now
        self._transport = Transport(server, environment, sleep=sleep, now=now, max_wait=max_wait)
        self._token: Callable[[str], str]
        if isinstance(auth, AppAuth):
            self.installations = Installations(auth, self._transport, mask)
            self._token = self.installations.token
        else:
            self._token = lambda _: auth.token
        self._lock = threading.Lock()
        self._apis: dict[tuple[str, bool], pygithub.Github] = {}
        self._visible: set[str] = set()

    @property
    def quota(self) -> Quota:
        """The used part of the rate limit."""
        return self._transport.quota

    def close(self) -> None:
        """Close the connections that are kept open; another request opens one."""
        self._transport.close()

    def call(
        self,
        repository: str,
        failure: str,
        use: Callable[[Repository], T],
        *,
        advice: Advice | None = None,
    ) -> T:
        """Return the result of `use`, which gets PyGithub's object of a repository, `owner/name`.

        `use` converts what it returns: an attribute that a response lacks would send a request
        later. Repeat `use` only if GitHub does not know of a recent write yet. `failure` begins the
        error message: "the pull requests cannot be listed". `advice` is for GitHub's messages.
        Raises GitHubError, and UsageError for an invalid name of a repository.
        """
        target = self._api(_checked_owner(repository)).get_repo(repository)
        with self._reporting(repository, failure, advice or {}):
            result = self.recent_writes.await_visibility(repository, lambda: use(target))
        self._visible.add(repository.lower())
        return result

    def call_optional(
        self, repository: str, failure: str, use: Callable[[Repository], T]
    ) -> T | None:
        """As `call`, but return None if GitHub answers 404.

        GitHub also answers 404 for a repository that the token may not see. This is an error,
        because such a token cannot prove that something is absent. Raises GitHubError.
        """
        try:
            return self.call(repository, failure, use)
        except GitHubError as error:
            if error.status != 404:
                raise
        if repository.lower() not in self._visible:
            self.call(repository, failure, Repository.complete)
        return None

    def graphql(
        self, repository_owner: str, failure: str, query: str, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
        """Return the data of a GraphQL query (no mutation), and the errors of its null parts.

        The query uses the credential for `repository_owner`. Raises GitHubError without data.
        """
        with self._reporting(repository_owner, failure):
            body = self._query(repository_owner, query, variables, repeatable=True)
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict):
            reason = message_of(body) or "the response contains no data"
            raise GitHubError(f"{failure}: GitHub says: {reason}", Location(repository_owner))
        return data, tuple(body.get("errors") or ())

    def query_repository(
        self,
        repository: str,
        failure: str,
        query: str,
        variables: Mapping[str, Any],
        permissions: str,
    ) -> Json:
        """Return the answer of a GraphQL query about a repository, `$owner` and `$name`.

        `permissions` are those that the query needs. Raises GitHubError.
        """
        owner, _, name = repository.partition("/")
        parameters = {"owner": owner, "name": name, **variables}
        data, errors = self.graphql(owner, failure, query, parameters)
        if errors:
            message = f"{failure}: GitHub says: {errors[0].get('message', '')}"
            advice = f"give the token the permissions {permissions}"
            status = 403 if errors[0].get("type") == "FORBIDDEN" else None
            raise GitHubError(message, Location(repository), advice, status=status)
        return data["repository"]

    def mutate(
        self, repository: str, failure: str, mutation: str, variables: Mapping[str, Any]
    ) -> None:
        """Send a GraphQL mutation; repeat it only if GitHub does not know of a recent write yet.

        Raises GitHubError; its status is 422 for a refusal, and 501 if the server's schema lacks
        the mutation.
        """
        owner = _checked_owner(repository)

        def send() -> None:
            body = self._query(owner, mutation, variables, repeatable=False)
            check_mutation(body, variables, self._now())

        with self._reporting(repository, failure):
            self.recent_writes.await_visibility(repository, send)

    def account(self, owner: str) -> Account:
        """Return the account of the credential for an owner; for an App or a job, its bot.

        Read the account once, by GraphQL, since GitHub refuses `GET /user` to Apps and jobs. Raises
        GitHubError.
        """
        key = owner.lower()
        if key not in self.accounts:
            data, _ = self.graphql(owner, "the token's account cannot be read", VIEWER, {})
            viewer = data["viewer"]
            self.accounts[key] = Account(viewer["login"], viewer["databaseId"])
        return self.accounts[key]

    def identity(self, repository: str) -> Identity:
        """Return who writes to a repository with this credential. Raises GitHubError."""
        login = self.account(owner_of(repository) or "").login
        return Identity(login, self._former_identities)

    def group_by_credential(self, owners: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Group owners by the credential to use: credential's owner -> owners to read with it.

        A token serves all owners. An App has a token for each owner where it is installed; the
        first of these also reads the public repositories of the other owners. Raises GitHubError;
        NoInstallationError if the App is not installed for any of them.
        """
        if self.installations is None:
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
        self, owner: str, query: str, variables: Mapping[str, Any], *, repeatable: bool
    ) -> Json:
        """Send a GraphQL request with the owner's credential, and return its JSON."""
        requester = self._api(owner, posts_repeatable=repeatable).requester
        content = {"query": query, "variables": dict(variables)}
        return requester.requestJsonAndCheck("POST", requester.graphql_url, input=content)[1]

    def _api(self, owner: str, *, posts_repeatable: bool = False) -> pygithub.Github:
        """Return PyGithub's API with an owner's credential. An App has one for each owner."""
        account = owner.lower() if self.installations else ""
        key = account, posts_repeatable
        with self._lock:
            if key not in self._apis:
                auth = OwnerAuth(lambda: self._token(owner))
                methods = READS | {"POST"} if posts_repeatable else READS
                self._apis[key] = self._transport.api(auth, account, methods)
            return self._apis[key]

    @contextmanager
    def _reporting(self, where: str, failure: str, advice: Advice | None = None) -> Iterator[None]:
        """Say in errors of requests what failed where."""
        try:
            yield
        except GitHubError as error:
            error.about(where, failure, advice)
            raise
        except pygithub.BadAttributeException as error:
            message = f"{failure}: PyGithub cannot read the response"
            raise GitHubError(message, Location(where)) from error


def _checked_owner(repository: str) -> str:
    """Return the owner in `owner/name`. Raises UsageError for any other text."""
    owner = owner_of(repository)
    if owner is None:
        raise UsageError(
            f"{repository!r} is not a repository of GitHub", advice="write it as owner/name"
        )
    return owner
