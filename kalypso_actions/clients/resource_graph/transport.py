"""How Azure's libraries send: with our proxies and certificates, and without words of their own."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from azure.core.pipeline.transport import RequestsTransport

from kalypso_actions.clients.network import TIMEOUT, Session

# Without a handler Python prints their warnings, which our errors repeat with advice.
logging.getLogger("azure").addHandler(logging.NullHandler())


def transport_of(environment: Mapping[str, str]) -> RequestsTransport:
    """One for each client, which closes it. Raises UsageError where certificates are missing."""
    session = Session(environment)
    connect, read = TIMEOUT
    return RequestsTransport(
        session=session,
        connection_timeout=connect,
        read_timeout=read,
        connection_verify=session.verify,
    )
