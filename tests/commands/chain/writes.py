"""The writes in the traffic of the sandbox, and the records of starts among them."""

from __future__ import annotations

from typing import Final

from kalypso_sandbox import Exchange

RECORDS: Final = (
    "kalypso / cd ",
    "kalypso / check-promote ",
    "kalypso / schedule ",
    "kalypso / tree ",
)
"""The prefix of the contexts of records of starts."""

STATUSES: Final = "/repos/{owner}/{repo}/statuses/{sha}"


def written(exchange: Exchange) -> str:
    """Return `POST <path>` or `push <repository>`; "" for a request that only reads."""
    if exchange.template == "git":
        repository, _, service = exchange.path.removeprefix("/").rpartition("/")
        pushes = exchange.method == "POST" and service == "git-receive-pack"
        return f"push {repository.removesuffix('.git')}" if pushes else ""
    if exchange.template == "/graphql":
        is_mutation = str(exchange.request_body.get("query", "")).startswith("mutation")
        return f"POST {exchange.path}" if is_mutation else ""
    reads = exchange.method in {"GET", "HEAD"} or exchange.template == "azure"
    return "" if reads else f"{exchange.method} {exchange.path}"


def recorded(exchange: Exchange) -> str:
    """Return the context of the record of a start that a request posts; "" for others."""
    is_status = exchange.method == "POST" and exchange.template == STATUSES
    context = str(exchange.request_body.get("context", "")) if is_status else ""
    return context if context.startswith(RECORDS) else ""
