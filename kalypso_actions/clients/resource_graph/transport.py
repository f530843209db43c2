"""The HTTP transport of Azure's libraries, with our proxies and certificates."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from azure.core.pipeline.transport import RequestsTransport

from kalypso_actions.clients.network import TIMEOUT, Session

# Without a handler Python prints the libraries' warnings, which our errors repeat.
logging.getLogger("azure").addHandler(logging.NullHandler())


def transport_of(environment: Mapping[str, str]) -> RequestsTransport:
    """Return a transport for one client. Raise UsageError if certificates are missing."""
    session = Session(environment)
    connect, read = TIMEOUT
    return RequestsTransport(
        session=session,
        connection_timeout=connect,
        read_timeout=read,
        connection_verify=session.verify,
    )
