"""The OIDC token with which a job of GitHub Actions authenticates."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import quote, urlsplit, urlunsplit

import requests

from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.clients.resource_graph.errors import UNTRUSTED_CERTIFICATE
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import is_loopback

log = logging.getLogger(__name__)

URL_VARIABLE: Final = "ACTIONS_ID_TOKEN_REQUEST_URL"
TOKEN_VARIABLE: Final = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - a variable's name
PERMISSION: Final = "give the job `permissions: id-token: write`"
DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each further attempt."""


class _MayPassError(Exception):
    """A fault after which the same request may succeed."""


@dataclass(frozen=True, slots=True)
class OidcIssuer:
    """The issuer of a job's OIDC tokens, and the token for requests to it."""

    url: str
    request_token: str = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Self | None:
        """Return the job's issuer; None outside a job, or without the permission.

        Raise KalypsoError if the address would send the request's token unprotected.
        """
        url = environment.get(URL_VARIABLE, "")
        token = environment.get(TOKEN_VARIABLE, "")
        if not (url and token):
            return None
        scheme = urlsplit(url).scheme
        if scheme != "https" and not (scheme == "http" and is_loopback(url)):
            raise KalypsoError(f"{URL_VARIABLE} does not begin with https://")
        return cls(url, token, environment)

    def token(self, audience: str, sleep: Callable[[float], None] = time.sleep) -> str:
        """Return a new token for an audience; it expires after minutes.

        Raise KalypsoError; after a temporary fault, only if several attempts fail.
        """
        delays = iter(DELAYS)
        while True:
            try:
                return self._ask(audience)
            except _MayPassError as fault:
                delay = next(delays, None)
                message = f"GitHub gave the job no OIDC token: {fault}"
                if delay is None:
                    advice = "see whether GitHub has an incident, and run this again"
                    raise KalypsoError(message, advice=advice) from fault
                log.debug("%s; again in %.0f s", message, delay)
                sleep(delay)

    def _ask(self, audience: str) -> str:
        started = time.monotonic()
        with Session(self.environment) as session:
            # A redirect could send the request's token to another host.
            answer = self._send(session, self._address(audience))
        status = answer.status_code
        log.debug("GET an OIDC token  %s  %.2f s", status, time.monotonic() - started)
        if status == 429 or status >= 500:
            raise _MayPassError(f"status {status}")
        if status != 200:
            message = f"GitHub refused the job an OIDC token (status {status})"
            raise KalypsoError(message, advice=PERMISSION)
        try:
            value = answer.json()["value"]
        except (ValueError, KeyError, TypeError):  # the text may hold a part of the token
            raise _MayPassError("its answer is cut short or in no known form") from None
        return str(value)

    def _send(self, session: Session, url: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.request_token}", "Accept": "application/json"}
        try:
            return session.get(url, headers=headers, timeout=TIMEOUT, allow_redirects=False)
        except requests.exceptions.SSLError as error:
            message = "the certificate of GitHub's OIDC server is not trusted"
            raise KalypsoError(message, advice=UNTRUSTED_CERTIFICATE) from error
        except requests.RequestException as error:
            raise _MayPassError(f"it cannot be reached ({type(error).__name__})") from error

    def _address(self, audience: str) -> str:
        parts = urlsplit(self.url)
        query = f"{parts.query}&" if parts.query else ""
        return urlunsplit(parts._replace(query=f"{query}audience={quote(audience, safe='')}"))
