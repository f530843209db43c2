"""A GitHub App's tokens: one for each owner for which the App is installed.

PyGithub's own authentication for Apps cannot restrict a token to repositories, mask it before its
first use, or use another clock.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

import jwt
from github.Auth import Auth
from jwt.algorithms import RSAAlgorithm

from kalypso_actions.clients.github.errors import GitHubError, Json
from kalypso_actions.clients.github.transport import READS, Transport
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.github import AppInstallation

EXPIRY_MARGIN: Final = timedelta(minutes=5)
"""A token expires after an hour. It is renewed earlier, so that a started operation can finish."""

CLOCK_SKEW: Final = timedelta(minutes=1)
"""GitHub refuses a JWT from the future. Backdate it, because this machine's clock may be fast."""

JWT_LIFETIME: Final = timedelta(minutes=5)

UNKNOWN_APP: Final = "Integration not found"
"""GitHub's message (404) if it does not know the App."""


class OwnerAuth(Auth):
    """PyGithub's credential for one owner: it reads the token anew for each request."""

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    @property
    def token_type(self) -> str:
        """The scheme of the header Authorization."""
        return "Bearer"

    @property
    def token(self) -> str:
        """The current token. Raises GitHubError if there is none."""
        return self._read()


@lru_cache(maxsize=4)
def _load_key(key: str) -> Any:
    """Load a private key; cache it, since the check takes time and all jobs use the same key."""
    return RSAAlgorithm(RSAAlgorithm.SHA256).prepare_key(key)


@dataclass(frozen=True, slots=True)
class AppAuth:
    """A GitHub App: its id (or client id) and its private key (PEM).

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
        # A variable of one line may contain "\\n" in place of the key's newlines.
        key = self.private_key.strip().replace("\\n", "\n")
        object.__setattr__(self, "private_key", key)
        object.__setattr__(self, "app_id", self.app_id.strip())
        if not self.app_id:
            raise UsageError("the GitHub App's id is empty")
        try:
            object.__setattr__(self, "_key", _load_key(key))
            self.sign(datetime.fromtimestamp(0, UTC))
        except (AttributeError, TypeError, ValueError, jwt.PyJWTError):  # a public key cannot sign
            raise UsageError(
                "the GitHub App's private key cannot be used",
                advice="give the whole content of the App's .pem file from GitHub",
            ) from None

    def sign(self, now: datetime) -> str:
        """Return a JWT that identifies the App itself."""
        issued, expires = now - CLOCK_SKEW, now + JWT_LIFETIME
        claims = {
            "iat": int(issued.timestamp()),
            "exp": int(expires.timestamp()),
            "iss": self.app_id,
        }
        return jwt.encode(claims, self._key, algorithm="RS256")


class NoInstallationError(GitHubError):
    """The App is not installed for the owner, is suspended, or is restricted to other owners."""


class Installations:
    """An App's installations and tokens by owner. Thread-safe."""

    def __init__(self, app: AppAuth, transport: Transport, mask: Callable[[str], object]) -> None:
        self._app = app
        self._name = f"the GitHub App {app.app_id}"
        self._now = transport.now
        # A second token from a retry is harmless.
        auth = OwnerAuth(lambda: app.sign(transport.now()))
        self._api = transport.api(auth, "the App", READS | {"POST"}).requester
        self._mask = mask
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._installations: dict[str, Json] = {}
        self._tokens: dict[str, tuple[str, datetime]] = {}
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
            token, expires = self._tokens.get(key, ("", self._now()))
            if expires - EXPIRY_MARGIN <= self._now():
                with self._reporting(owner, f"{self._name} gets no token for {owner}"):
                    token, expires = self._tokens[key] = self._new_token(owner)
            return token

    def installation(self, owner: str) -> AppInstallation:
        """Return the App's permissions for an owner. Raises NoInstallationError, GitHubError."""
        with self._reporting(owner, f"the permissions of {self._name} for {owner} cannot be read"):
            answer = self._installation(owner)
        return AppInstallation(dict(answer["permissions"]), answer["html_url"])

    def is_installed(self, repository: str) -> bool:
        """Whether the App is installed for `owner/name`. Raises GitHubError."""
        with self._reporting(repository, f"the installation of {self._name} cannot be read"):
            try:
                self._send("GET", f"/repos/{quote(repository)}/installation")
            except GitHubError as error:
                if not _is_not_found(error):
                    raise
                return False
        return True

    def _new_token(self, owner: str) -> tuple[str, datetime]:
        """Request a token, and return it with the time when it expires."""
        content: dict[str, Json] = {}
        if self._app.repositories:
            pairs = [repository.split("/", 1) for repository in self._app.repositories]
            content["repositories"] = [name for of, name in pairs if of.lower() == owner.lower()]
            if not content["repositories"]:
                raise NoInstallationError(
                    f"the GitHub App's token is restricted to {', '.join(self._app.repositories)}",
                    Location(owner),
                    f"add the repository of {owner} to them",
                )
        if self._app.permissions:
            content["permissions"] = dict(self._app.permissions)
        path = f"/app/installations/{self._installation(owner)['id']}/access_tokens"
        answer = self._send("POST", path, content)
        token = str(answer["token"])
        self._mask(token)
        return token, datetime.fromisoformat(answer["expires_at"])

    def _installation(self, owner: str) -> Json:
        """Return the installation for an organization or a user; request it once."""
        key = owner.lower()
        if key not in self._installations:
            name = quote(owner, safe="")
            try:
                installation = self._send("GET", f"/orgs/{name}/installation")
            except GitHubError as error:
                if not _is_not_found(error):
                    raise
                installation = self._send("GET", f"/users/{name}/installation")
            if installation.get("suspended_at"):
                raise self._suspended(owner)
            self._installations[key] = installation
        return self._installations[key]

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        """Send a request as the App itself."""
        return self._api.requestJsonAndCheck(method, path, input=body)[1]

    @contextmanager
    def _reporting(self, owner: str, failure: str) -> Iterator[None]:
        """Say in errors of requests what failed for which owner."""
        try:
            yield
        except GitHubError as error:
            if error.problem.where is not None:
                raise
            status, reason = error.status, error.reason
            if status == 401 or reason == UNKNOWN_APP:
                raise GitHubError(
                    f"{failure}: GitHub does not know the App by this id and key: {reason}",
                    Location(owner),
                    "check the App's id, its private key, and this machine's clock",
                    status=status,
                    reason=reason,
                ) from None
            if status == 404:
                raise self._not_installed(owner) from None
            if status == 403 and "suspended" in reason:
                raise self._suspended(owner) from None
            if status == 422 and not error.limited:
                error.advise(
                    "grant the App these permissions and repositories, and accept them where "
                    "installed"
                )
            error.about(owner, failure)
            raise

    def _not_installed(self, owner: str) -> NoInstallationError:
        self._missing[owner.lower()] = self._not_installed
        return NoInstallationError(
            f"{self._name} is not installed for {owner}",
            Location(owner),
            f"install it for {owner} on the App's page, with the repositories that you use; a "
            "private App can be installed for its own owner alone",
            status=404,
        )

    def _suspended(self, owner: str) -> NoInstallationError:
        self._missing[owner.lower()] = self._suspended
        return NoInstallationError(
            f"{self._name} is suspended for {owner}",
            Location(owner),
            f"lift the suspension in the settings of {owner} (GitHub Apps)",
            status=403,
        )


def _is_not_found(error: GitHubError) -> bool:
    """Whether GitHub knows the App, but not the requested installation of the App."""
    return error.status == 404 and error.reason != UNKNOWN_APP
