"""Recorded traffic of the sandbox, checked against GitHub's description."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from kalypso_sandbox.state import Exchange
from kalypso_sandbox.store import Event
from tests.github_api.description import (
    GITHUB,
    SERVER,
    check_answer,
    check_payload,
    check_request,
)
from tests.github_api.graphql_schema import check_data, check_query

NOT_DESCRIBED: Final = frozenset({"git", "azure", "argocd"})
GRAPHQL: Final = "/graphql"
CLIENTS: Final = "kalypso"
"""The text in the header User-Agent of our own clients."""

VARYING: Final = b"0123456789abcdef"
"""The digits of ids, numbers, times and commits."""

CUT_SHORT: Final = frozenset({"truncated", "lost", "dropped"})
"""Faults after which the recorded answer differs from the endpoint's."""


def check_exchanges(exchanges: Iterable[Exchange], known: set[bytes] | None = None) -> None:
    """Check every answer, and every request of our clients, by GitHub's description.

    Pass over exchanges whose kinds are `known`, and add the others' kinds. Raises AssertionError.
    """
    for exchange in exchanges:
        if exchange.template in NOT_DESCRIBED:
            continue
        kind = _kind(
            *(exchange.method, exchange.template, exchange.query, exchange.status),
            *(sorted(exchange.response_headers), by_client(exchange), exchange.fault),
            contents=(exchange.request_content, exchange.response_content),
        )
        if known is None or kind not in known:
            _check(exchange)
        if known is not None:
            known.add(kind)


def check_events(events: Iterable[Event], known: set[bytes] | None = None) -> None:
    """Check every event's payload in the same way. Raises AssertionError."""
    for event in events:
        kind = _kind(event.name, contents=(json.dumps(event.payload).encode(),))
        is_webhook = event.name != "schedule"  # of GitHub Actions alone
        if is_webhook and (known is None or kind not in known):
            check_payload(event.name, event.payload)
        if known is not None:
            known.add(kind)


def _kind(*values: object, contents: tuple[bytes, ...]) -> bytes:
    """Return a digest that ignores ids, numbers, times and commits."""
    parts = (json.dumps(values).encode(), *contents)
    return blake2b(b"\0".join(parts).translate(None, VARYING), digest_size=16).digest()


def by_client(exchange: Exchange) -> bool:
    """Tell whether our own clients sent the request."""
    return CLIENTS in exchange.request_headers.get("user-agent", "").lower()


def _check(exchange: Exchange) -> None:
    method, template = exchange.method, exchange.template
    if method == "HEAD":  # as the answer to GET, without a body
        return
    if not template:
        assert not by_client(exchange), f"{method} {exchange.path} is no endpoint"
        assert exchange.status in {0, 401, 403, 404}, exchange
        return
    whole = exchange.status != 0 and not CUT_SHORT & set(exchange.fault.split(", "))
    if template == GRAPHQL:
        _check_graphql(exchange, whole=whole)
        return
    # An Enterprise Server refuses newer fields; the client then repeats the request without them.
    if by_client(exchange) and not (_flavour(exchange) == SERVER and exchange.status == 400):
        check_client_request(exchange)
    if whole:
        check_answer(
            method,
            template,
            exchange.status,
            exchange.response_body,
            exchange.response_headers,
            flavour=_flavour(exchange),
        )


def check_client_request(exchange: Exchange) -> None:
    """Check that GitHub accepts the request. Raises AssertionError."""
    check_request(
        exchange.method,
        exchange.template,
        exchange.query,
        exchange.request_body,
        flavour=_flavour(exchange),
    )


def _flavour(exchange: Exchange) -> str:
    return SERVER if "x-github-enterprise-version" in exchange.response_headers else GITHUB


def _check_graphql(exchange: Exchange, *, whole: bool) -> None:
    body, answer = exchange.request_body or {}, exchange.response_body or {}
    query, variables = body.get("query", ""), body.get("variables") or {}
    if by_client(exchange) or "data" in answer:
        check_query(query, variables)
    if whole and exchange.status == 200:
        check_data(query, variables, answer)
    elif whole:
        assert isinstance(answer["message"], str), answer
