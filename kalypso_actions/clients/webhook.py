"""Send a message to a webhook: a URL that is a secret.

send(url, {"text": "…"}, environment)
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import requests

from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.urls import is_loopback


def send(url: str, message: Mapping[str, object], environment: Mapping[str, str]) -> None:
    """Post a message as JSON, once; follow no redirect.

    Raises KalypsoError, whose text has the host of the URL alone, for a URL that is not https, and
    for an answer that is no success.
    """
    parts = urlsplit(url)
    if not parts.hostname or not (parts.scheme == "https" or is_loopback(url)):
        raise KalypsoError("webhook is no https URL", advice="write https://…, as a secret")
    try:
        with Session(environment) as session:
            answer = session.post(url, json=message, timeout=TIMEOUT, allow_redirects=False)
    except requests.RequestException as error:
        # The text of the error has the URL.
        fault = type(error).__name__
        raise KalypsoError(
            f"{parts.hostname} does not answer the webhook: {fault}", advice="check the secret"
        ) from None
    if not answer.ok or answer.is_redirect:
        raise KalypsoError(
            f"{parts.hostname} refuses the webhook: HTTP {answer.status_code}",
            advice="check the secret",
        )
