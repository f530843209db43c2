"""GraphQL, by graphql-core over a part of GitHub's schema."""

from __future__ import annotations

from kalypso_sandbox.github.endpoints import Call, endpoint
from kalypso_sandbox.json_http import Answer


@endpoint("POST", "/graphql", statuses=(200, 400))
def query(call: Call) -> Answer:
    """Answer a query. A field with an error is null, and the error is next to the data."""
    # The library is slow to import, and the first page does not need it.
    from kalypso_sandbox.github.graphql import queries  # noqa: PLC0415

    return queries.answer(call)
