"""A GitHub App's tokens: one for each owner for which the App is installed.

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

from kalypso_actions.clients.github.errors import (
    GitHubError,
    error_response,
    message_of,
    no_response_error,
)
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

EXPIRY_MARGIN: Final = timedelta(minutes=5)
"""A token expires after an hour. It is renewed earlier, so that a started operation can finish."""

CLOCK_SKEW: Final = timedelta(minutes=1)
"""GitHub refuses a JWT from the future. Backdate it, because this machine's clock may be fast."""

JWT_LIFETIME: Final = timedelta(minutes=5)

UNKNOWN_APP: Final = "Integration not found"
"""GitHub's message (404) if it does not know the App."""


@lru_cache(maxsize=4)
def _load_key(key: str) -> Any:
    """Load a private key; cache it, since the check takes time and all jobs use the same key."""
    from jwt.algorithms import RSAAlgorithm  # noqa: PLC0415

    return RSAAlgorithm(RSAAlgorithm.SHA256).prepare_key(key)


@dataclass(frozen=True, slots=True)
class AppAuth:
    """A GitHub App: its id (or client id) and its private key (PEM).

    Its methods import `jwt` when they need it, because the import takes time.

    `repositories` (owner/name) and `permissions` (`contents` -> `write`) restrict its tokens;
    empty: no restriction.
    """

    app_id: str
    private_key: str = field(repr=False)
    repositories: tuple[str, ...] = ()
    permissions: Mapping[str, str] = field(default_factory=dict)
    _key: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raises UsageError for an invalid key."""
        from jwt import PyJWTError  # noqa: PLC0415

        # A variable of one line may contain "\\n" in place of the key's newlines.
        key = self.private_key.strip().replace("\\n", "\n")
        object.__setattr__(self, "private_key", key)
        object.__setattr__(self, "app_id", self.app_id.strip())
        if not self.app_id:
            raise UsageError("the GitHub App's id is empty")
        try:
            object.__setattr__(self, "_key", _load_key(key))
            self.sign(datetime.fromtimestamp(0, UTC))
        except (AttributeError, TypeError, ValueError, PyJWTError):  # a public key cannot sign
            raise UsageError(
                "the GitHub App's private key cannot be used",
                advice="give the whole content of the App's .pem file from GitHub",
            ) from None

    def sign(self, now: datetime) -> str:
        """Return a JWT that identifies the App itself."""
        import jwt  # noqa: PLC0415

        issued, expires = now - CLOCK_SKEW, now + JWT_LIFETIME
        claims = {
            "iat": int(issued.timestamp()),
            "exp": int(expires.timestamp()),
            "iss": self.app_id,
        }
        return jwt.encode(claims, self._key, algorithm="RS256")


class NoInstallationError(GitHubError):
    """The App is not installed for the owner, is suspended, or is restricted to other owners."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str = field(repr=False)
    expires: datetime


class Installations:
    """An App's installations and tokens by owner. Thread-safe."""

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
        self._installations: dict[str, Json] = {}
        self._tokens: dict[str, _Token] = {}
        self._missing: dict[str, Callable[[str], NoInstallationError]] = {}

    def token(self, owner: str) -> str:
        """Return a token for the owner's repositories, valid for at least `EXPIRY_MARGIN`.

        Raises NoInstallationError, GitHubError.
        """
        key = owner.lower()
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._missing:
                raise self._missing[key](owner)
            token = self._tokens.get(key)
            if token is None or token.expires - EXPIRY_MARGIN <= self._now():
                failure = f"the GitHub App {self._app.app_id} gets no token for {owner}"
                token = self._call(owner, failure, lambda: self._new_token(owner))
                self._tokens[key] = token
            return token.text

    def installation(self, owner: str) -> AppInstallation:
        """Return the App's permissions for an owner. Raises NoInstallationError, GitHubError."""
        app = f"the GitHub App {self._app.app_id}"
        failure = f"the permissions of {app} for {owner} cannot be read"
        answer = self._call(owner, failure, lambda: self._installation(owner))
        return AppInstallation(dict(answer["permissions"]), answer["html_url"])

    def is_installed(self, repository: str) -> bool:
        """Whether the App is installed for `owner/name`. Raises GitHubError."""
        failure = f"the installation of the GitHub App {self._app.app_id} cannot be read"

        def request() -> bool:
            try:
                self._send("GET", f"/repos/{quote(repository)}/installation")
            except ErrorResponseError as error:
                if not _is_not_found(error):
                    raise
                return False
            return True

        return self._call(repository, failure, request)

    def _call(self, owner: str, failure: str, send: Callable[[], T]) -> T:
        """Return the result of `send`. Raises GitHubError in place of its errors."""
        try:
            return send()
        except ErrorResponseError as error:
            raise self._error(error, owner, failure) from None
        except NoResponseError as error:
            raise no_response_error(error, owner, failure) from None
        except ForeignUrlError as error:
            message, advice = f"{failure}: {error.problem.message}", error.problem.advice
            raise GitHubError(message, Location(owner), advice) from None

    def _new_token(self, owner: str) -> _Token:
        content = self._token_request(owner)
        path = f"/app/installations/{self._installation(owner)['id']}/access_tokens"
        answer = self._send("POST", path, content)
        token = str(answer["token"])
        self._mask(token)
        return _Token(token, datetime.fromisoformat(answer["expires_at"]))

    def _token_request(self, owner: str) -> Json:
        """Return the request body for a token: names of repositories, and permissions."""
        content: dict[str, Json] = {}
        if self._app.repositories:
            pairs = [repository.split("/", 1) for repository in self._app.repositories]
            names = [name for of, name in pairs if of.lower() == owner.lower()]
            if not names:
                raise NoInstallationError(
                    f"the GitHub App's token is restricted to {', '.join(self._app.repositories)}",
                    Location(owner),
                    f"add the repository of {owner} to them",
                )
            content["repositories"] = names
        if self._app.permissions:
            content["permissions"] = dict(self._app.permissions)
        return content

    def _installation(self, owner: str) -> Json:
        """Return the App's installation for an owner; request it once."""
        key = owner.lower()
        if key not in self._installations:
            self._installations[key] = self._request_installation(owner)
        return self._installations[key]

    def _request_installation(self, owner: str) -> Json:
        """Request an owner's installation at the path of organizations, then at that of users."""
        name = quote(owner, safe="")
        try:
            installation = self._send("GET", f"/orgs/{name}/installation")
        except ErrorResponseError as error:
            if not _is_not_found(error):
                raise
            installation = self._send("GET", f"/users/{name}/installation")
        if installation.get("suspended_at"):
            raise self._suspended(owner)
        return installation

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        """Send a request as the App itself; a second token from a retry is harmless."""
        request = Request(
            method,
            self._server.api(path),
            lambda: f"Bearer {self._app.sign(self._now())}",
            body=body,
            idempotent=True,
            account="the App",
        )
        return self._transport.send(request).body

    def _error(self, error: ErrorResponseError, owner: str, failure: str) -> GitHubError:
        status, reason = error.response.status, message_of(error.response.body)
        if status == 401 or reason == UNKNOWN_APP:
            return GitHubError(
                f"{failure}: GitHub does not know the App by this id and key: {reason}",
                Location(owner),
                "check the App's id, its private key, and this machine's clock",
                status=status,
                reason=reason,
            )
        if status == 404:
            return self._not_installed(owner)
        if status == 403 and "suspended" in reason:
            return self._suspended(owner)
        converted = error_response(error, owner, failure, self._now())
        if status != 422:
            return converted
        advice = "grant the App these permissions and repositories, and accept them where installed"
        message = converted.problem.message
        return GitHubError(message, Location(owner), advice, status=status, reason=reason)

    def _not_installed(self, owner: str) -> NoInstallationError:
        self._missing[owner.lower()] = self._not_installed
        return NoInstallationError(
            f"the GitHub App {self._app.app_id} is not installed for {owner}",
            Location(owner),
            f"install it for {owner} on the App's page, with the repositories that you use; a "
            "private App can be installed for its own owner alone",
            status=404,
        )

    def _suspended(self, owner: str) -> NoInstallationError:
        self._missing[owner.lower()] = self._suspended
        return NoInstallationError(
            f"the GitHub App {self._app.app_id} is suspended for {owner}",
            Location(owner),
            f"lift the suspension in the settings of {owner} (GitHub Apps)",
            status=403,
        )


def _is_not_found(error: ErrorResponseError) -> bool:
    """Whether GitHub knows the App, but not the requested installation of the App."""
    return error.response.status == 404 and message_of(error.response.body) != UNKNOWN_APP
