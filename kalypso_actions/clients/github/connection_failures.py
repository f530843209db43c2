"""What it means when `requests` gets no answer."""

from __future__ import annotations

from typing import Final

import requests
from requests import exceptions
from urllib3.exceptions import NameResolutionError, NewConnectionError

from kalypso_actions.clients.github.messages import NoResponseError

REACH: Final = "check the network, the proxy and GITHUB_API_URL"
TRUST: Final = "put the certificate of the server's authority into the file SSL_CERT_FILE names"

LOST: Final = (
    requests.ConnectionError,
    exceptions.ChunkedEncodingError,
    exceptions.ContentDecodingError,
)


def lost(error: Exception) -> NoResponseError:
    """A failure of `requests` in our words; its own stay out, since they may quote a header."""
    if isinstance(error, exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        reason = "the server's certificate is not trusted"
        return NoResponseError(reason, TRUST, sent=False, permanent=True)
    reason = _no_connection(error)
    if reason:
        return NoResponseError(reason, REACH, sent=False)
    if isinstance(error, requests.Timeout):
        return NoResponseError("the server did not answer in time")
    if isinstance(error, LOST):
        return NoResponseError("the connection was lost")
    reason = f"the request cannot be sent ({type(error).__name__})"
    return NoResponseError(reason, REACH, sent=False, permanent=True)


def _no_connection(error: Exception) -> str:
    """Why no connection was made, so that nothing was sent; "" where one was."""
    cause = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(error, exceptions.ProxyError) or "Tunnel connection failed" in str(error):
        return "the proxy cannot be reached, or refuses"
    if isinstance(cause, NameResolutionError):
        return "the server's name is not known"
    if isinstance(error, requests.ConnectTimeout) or isinstance(cause, NewConnectionError):
        return "the server cannot be reached"
    return ""
