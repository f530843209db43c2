"""Recorded traffic of the sandbox, held against GitHub's description."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kalypso_actions.sandbox.traffic import Exchange
from kalypso_actions.sandbox.world import World
from tests.github_api.description import (
    GITHUB,
    SERVER,
    check_answer,
    check_payload,
    check_request,
)
from tests.github_api.graphql_schema import check_data, check_query

NOT_DESCRIBED: Final = frozenset({"git", "azure"})
GRAPHQL: Final = "/graphql"
CLIENTS: Final = "kalypso"
"""In the header User-Agent of our own clients."""

CUT_SHORT: Final = frozenset({"truncated", "lost", "dropped"})
"""Faults after which the recorded answer is not what an endpoint said."""


def check_exchanges(exchanges: Iterable[Exchange]) -> None:
    """Every answer is one of GitHub's; so is every request that succeeded or is a client's.

    Raises AssertionError.
    """
    for exchange in exchanges:
        if exchange.template not in NOT_DESCRIBED:
            _check(exchange)


def check_events(world: World) -> None:
    """Every event's payload is as GitHub's. Raises AssertionError."""
    for event in world.events:
        check_payload(event.name, event.payload)


def by_client(exchange: Exchange) -> bool:
    """Whether our own clients sent the request."""
    return CLIENTS in exchange.request_headers.get("user-agent", "").lower()


def _check(exchange: Exchange) -> None:
    method, template = exchange.method, exchange.template
    meant = by_client(exchange) or 200 <= exchange.status < 300
    if not template:
        assert not by_client(exchange), f"{method} {exchange.path} is no endpoint"
        assert exchange.status in {0, 401, 403, 404}, exchange
        return
    whole = exchange.status != 0 and not CUT_SHORT & set(exchange.fault.split(", "))
    if template == GRAPHQL:
        query, variables = exchange.request_body["query"], exchange.request_body["variables"]
        check_query(query, variables)
        if whole and exchange.status == 200:
            check_data(query, variables, exchange.response_body)
        return
    enterprise = "x-github-enterprise-version" in exchange.response_headers
    flavour = SERVER if enterprise else GITHUB
    if meant:
        check_request(method, template, exchange.query, exchange.request_body, flavour=flavour)
    if whole:
        check_answer(
            method,
            template,
            exchange.status,
            exchange.response_body,
            exchange.response_headers,
            flavour=flavour,
        )
