"""A GitHub App's tokens: one for each owner, found by where the App is installed.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, TypeVar
from urllib.parse import quote

import jwt
from jwt.algorithms import RSAAlgorithm

from kalypso_actions.clients.github.errors import GitHubError, no_response_error, refusal, words
from kalypso_actions.clients.github.messages import (
    ErrorResponseError,
    Json,
    NoResponseError,
    Request,
)
from kalypso_actions.clients.github.server import ForeignUrlError, GitHubServer
from kalypso_actions.clients.github.transport import Transport
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.github import AppInstallation

T = TypeVar("T")

MARGIN: Final = timedelta(minutes=5)
"""A token ends after an hour. It is renewed earlier, so that what it is given to can still end."""

SIGNED_BEFORE: Final = timedelta(minutes=1)
SIGNED_FOR: Final = timedelta(minutes=5)
"""How long the App's own token is good; clocks differ, so it is made to look older than it is."""

RS256: Final = RSAAlgorithm(RSAAlgorithm.SHA256)

NO_APP: Final = "Integration not found"
"""What GitHub answers (404) to an App that it does not know."""


@lru_cache(maxsize=4)
def _loaded(key: str) -> Any:
    """A private key, which is proven before it is used; jobs of one process have the same one."""
    return RS256.prepare_key(key)


@dataclass(frozen=True, slots=True)
class AppAuth:
    """A GitHub App: its id (or client id) and its private key (PEM).

    `repositories` (owner/name) and `permissions` (`contents` -> `write`) narrow its tokens to what
    is needed; empty: whatever the App was granted.
    """

    app_id: str
    private_key: str = field(repr=False)
    repositories: tuple[str, ...] = ()
    permissions: Mapping[str, str] = field(default_factory=dict)
    _key: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raises UsageError for a faulty key."""
        # A key that went through a variable of one line has its line ends spelled out.
        key = self.private_key.strip().replace("\\n", "\n")
        object.__setattr__(self, "private_key", key)
        object.__setattr__(self, "app_id", self.app_id.strip())
        if not self.app_id:
            raise UsageError("the GitHub App's id is empty")
        try:
            object.__setattr__(self, "_key", _loaded(key))
            self.sign(datetime.fromtimestamp(0, UTC))
        except (AttributeError, TypeError, ValueError, jwt.PyJWTError):  # public keys sign nothing
            raise UsageError(
                "the GitHub App's private key cannot be used",
                advice="give the whole content of the .pem file that GitHub made for the App",
            ) from None

    def sign(self, now: datetime) -> str:
        """A token of the App itself, good for five minutes."""
        issued, expires = now - SIGNED_BEFORE, now + SIGNED_FOR
        claims = {
            "iat": int(issued.timestamp()),
            "exp": int(expires.timestamp()),
            "iss": self.app_id,
        }
        return jwt.encode(claims, self._key, algorithm="RS256")


class NoInstallationError(GitHubError):
    """The App is not installed for the owner, or suspended there, or its tokens are for others."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str = field(repr=False)
    expires: datetime


class Installations:
    """Tokens of an App, by owner; safe to use from several threads."""

    def __init__(
        self,
        app: AppAuth,
        server: GitHubServer,
        transport: Transport,
        now: Callable[[], datetime],
        mask: Callable[[str], object],
    ) -> None:
        self._app = app
        self._server = server
        self._transport = transport
        self._now = now
        self._mask = mask
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._found: dict[str, Json] = {}
        self._tokens: dict[str, _Token] = {}
        self._absent: dict[str, Callable[[str], NoInstallationError]] = {}

    def token(self, owner: str) -> str:
        """A token for the owner's repositories that is valid for a while yet.

        Raises NoInstallationError, and GitHubError saying what to change.
        """
        key = owner.lower()
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._absent:
                raise self._absent[key](owner)
            known = self._tokens.get(key)
            if known is None or known.expires - MARGIN <= self._now():
                known = self._tokens[key] = self._new_token(owner)
            return known.text

    def installation(self, owner: str) -> AppInstallation:
        """What the App was granted where it is installed for the owner.

        Raises NoInstallationError, and GitHubError saying what to change.
        """
        failure = f"what the GitHub App {self._app.app_id} may do for {owner} cannot be read"
        found = self._told(owner, failure, lambda: self._installation(owner))
        return AppInstallation(dict(found["permissions"]), found["html_url"])

    def has(self, repository: str) -> bool:
        """Whether the App is installed for `owner/name`. Raises GitHubError."""
        failure = f"whether the GitHub App {self._app.app_id} is installed cannot be read"

        def look() -> bool:
            try:
                self._send("GET", f"/repos/{quote(repository)}/installation")
            except ErrorResponseError as error:
                if error.answer.status != 404 or words(error.answer.body) == NO_APP:
                    raise
                return False
            return True

        return self._told(repository, failure, look)

    def _new_token(self, owner: str) -> _Token:
        failure = f"the GitHub App {self._app.app_id} gets no token for {owner}"
        return self._told(owner, failure, lambda: self._request_token(owner))

    def _told(self, owner: str, failure: str, call: Callable[[], T]) -> T:
        """The result of `call`; its errors say what to change. Raises GitHubError."""
        try:
            return call()
        except ErrorResponseError as error:
            raise self._refusal(error, owner, failure) from None
        except NoResponseError as error:
            raise no_response_error(error, owner, failure) from None
        except ForeignUrlError as error:
            message, advice = f"{failure}: {error.problem.message}", error.problem.advice
            raise GitHubError(message, Location(owner), advice) from None

    def _request_token(self, owner: str) -> _Token:
        content = self._narrowed(owner)
        path = f"/app/installations/{self._installation(owner)['id']}/access_tokens"
        answer = self._send("POST", path, content)
        token = str(answer["token"])
        self._mask(token)
        return _Token(token, datetime.fromisoformat(answer["expires_at"]))

    def _narrowed(self, owner: str) -> Json:
        """The request for a token: repositories by their names, and permissions."""
        content: dict[str, Json] = {}
        if self._app.repositories:
            pairs = [repository.split("/", 1) for repository in self._app.repositories]
            names = [name for holder, name in pairs if holder.lower() == owner.lower()]
            if not names:
                raise NoInstallationError(
                    f"the GitHub App's token is asked for {', '.join(self._app.repositories)} only",
                    Location(owner),
                    f"add the repository of {owner} to them",
                )
            content["repositories"] = names
        if self._app.permissions:
            content["permissions"] = dict(self._app.permissions)
        return content

    def _installation(self, owner: str) -> Json:
        """Where the App is installed; it is asked for once."""
        key = owner.lower()
        if key not in self._found:
            self._found[key] = self._look_up(owner)
        return self._found[key]

    def _look_up(self, owner: str) -> Json:
        """GitHub has a path for organizations and one for people."""
        name = quote(owner, safe="")
        try:
            found = self._send("GET", f"/orgs/{name}/installation")
        except ErrorResponseError as error:
            if error.answer.status != 404 or words(error.answer.body) == NO_APP:
                raise
            found = self._send("GET", f"/users/{name}/installation")
        if found.get("suspended_at"):
            raise self._suspended(owner)
        return found

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        """As the App itself. A second token in place of a lost one harms nobody."""
        request = Request(
            method,
            self._server.api(path),
            lambda: f"Bearer {self._app.sign(self._now())}",
            body=body,
            idempotent=True,
            account="the App",
        )
        return self._transport.send(request).body

    def _refusal(self, error: ErrorResponseError, owner: str, failure: str) -> GitHubError:
        status, said = error.answer.status, words(error.answer.body)
        if status == 401 or said == NO_APP:
            return GitHubError(
                f"{failure}: GitHub does not know the App by this id and key: {said}",
                Location(owner),
                "check the App's id, its private key, and this machine's clock",
                status=status,
                reason=said,
            )
        if status == 404:
            return self._not_installed(owner)
        if status == 403 and "suspended" in said:
            return self._suspended(owner)
        found = refusal(error, owner, failure, self._now())
        if status != 422:
            return found
        advice = "grant the App these permissions and repositories, and accept them where installed"
        return GitHubError(
            found.problem.message, Location(owner), advice, status=status, reason=said
        )

    def _not_installed(self, owner: str) -> NoInstallationError:
        self._absent[owner.lower()] = self._not_installed
        return NoInstallationError(
            f"the GitHub App {self._app.app_id} is not installed for {owner}",
            Location(owner),
            f"install it for {owner} on the App's page, with the repositories that are used",
            status=404,
        )

    def _suspended(self, owner: str) -> NoInstallationError:
        self._absent[owner.lower()] = self._suspended
        return NoInstallationError(
            f"the GitHub App {self._app.app_id} is suspended for {owner}",
            Location(owner),
            f"lift the suspension in the settings of {owner} (GitHub Apps)",
            status=403,
        )
