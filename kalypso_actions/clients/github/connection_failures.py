"""Why `requests` got no response, and what to do about it."""

from __future__ import annotations

from typing import Final

import requests
from requests import exceptions
from urllib3.exceptions import NameResolutionError, NewConnectionError

from kalypso_actions.clients.github.messages import NoResponseError

CHECK_NETWORK: Final = "check the network, the proxy and GITHUB_API_URL"
TRUST_CERTIFICATE: Final = "add the server's CA certificate to the file named by SSL_CERT_FILE"

CONNECTION_LOST: Final = (
    requests.ConnectionError,
    exceptions.ChunkedEncodingError,
    exceptions.ContentDecodingError,
)


def no_response(error: Exception) -> NoResponseError:
    """Describe a failure of `requests` without quoting it: its text may contain a header."""
    if isinstance(error, exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        reason = "the server's certificate is not trusted"
        return NoResponseError(reason, TRUST_CERTIFICATE, sent=False, permanent=True)
    reason = _no_connection(error)
    if reason:
        return NoResponseError(reason, CHECK_NETWORK, sent=False)
    if isinstance(error, requests.Timeout):
        return NoResponseError("the server did not answer in time")
    if isinstance(error, CONNECTION_LOST):
        return NoResponseError("the connection was lost")
    reason = f"the request cannot be sent ({type(error).__name__})"
    return NoResponseError(reason, CHECK_NETWORK, sent=False, permanent=True)


def _no_connection(error: Exception) -> str:
    """Say why there was no connection; "" if there was one, which may have carried the request."""
    cause = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(error, exceptions.ProxyError) or "Tunnel connection failed" in str(error):
        return "the proxy cannot be reached, or refuses the connection"
    if isinstance(cause, NameResolutionError):
        return "the server's name cannot be resolved"
    if isinstance(error, requests.ConnectTimeout) or isinstance(cause, NewConnectionError):
        return "the server cannot be reached"
    return ""
