"""The repositories that a run reads with its own credentials."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.clients.git.credentials import Authorize, no_credential
from kalypso_actions.model.urls import repository_key


class TrustedRepositories:
    """Gives the run's credentials to all repositories, until `restrict` names some."""

    def __init__(self, authorize: Authorize) -> None:
        """`authorize` returns the run's credential for a URL."""
        self._authorize = authorize
        self._keys: frozenset[str] | None = None
        self._others: Authorize = no_credential

    def authorize(self, url: str) -> str:
        """Return the header Authorization for a URL; "" for none."""
        if self._keys is None or repository_key(url) in self._keys:
            return self._authorize(url)
        return self._others(url)

    def restrict(self, urls: Iterable[str], others: Authorize) -> None:
        """From now on, give the run's credentials only to these repositories.

        `others` returns the credential for every other URL.
        """
        self._keys = frozenset(map(repository_key, urls))
        self._others = others
