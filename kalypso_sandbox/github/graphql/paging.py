"""The pages of GraphQL's connections.

https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from graphql import GraphQLError

MAX_RECORDS: Final = 100
"""The maximum number of records in one page of a connection."""


def first_page(first: int | None, connection: str) -> int:
    """Return the number of records that a query asks for. Raises GraphQLError."""
    if first is None:
        message = "You must provide a `first` or `last` value to properly paginate the"
        extensions = {"type": "MISSING_PAGINATION_BOUNDARIES"}
        raise GraphQLError(f"{message} `{connection}` connection.", extensions=extensions)
    if not 0 <= first <= MAX_RECORDS:
        message = f"Requesting {first} records on the `{connection}` connection exceeds the `first`"
        extensions = {"type": "EXCESSIVE_PAGINATION"}
        raise GraphQLError(f"{message} limit of {MAX_RECORDS} records.", extensions=extensions)
    return first


def check_supported(others: Iterable[str]) -> None:
    """Raise GraphQLError for arguments of a connection that the sandbox does not support."""
    for name in others:
        raise GraphQLError(f"the sandbox does not support the argument {name}")
