"""Commit statuses in GraphQL: the latest of each context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphql import GraphQLError

from kalypso_sandbox.github import statuses
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.graphql.actors import actor
from kalypso_sandbox.github.payloads.view import node_id, timestamp
from kalypso_sandbox.github.permissions import allowed, not_accessible
from kalypso_sandbox.store import Repository, Status

TYPES: Final = """
enum StatusState {
  ERROR
  EXPECTED
  FAILURE
  PENDING
  SUCCESS
}

type Status implements Node {
  id: ID!
  state: StatusState!
  context(name: String!): StatusContext
  contexts: [StatusContext!]!
}

type StatusContext implements Node {
  id: ID!
  context: String!
  createdAt: DateTime!
  creator: Actor
  description: String
  state: StatusState!
  targetUrl: URI
}
"""


def of_commit(call: Call, repository: Repository, oid: str) -> Mapping[str, Any] | None:
    """Return GraphQL's `Status`; None for a commit without statuses.

    Raises GraphQLError for a token that may not read statuses.
    """
    if not allowed(call.identity, ["statuses: read"], repository):
        raise GraphQLError(not_accessible(call.identity), extensions={"type": "FORBIDDEN"})
    latest = statuses.latest(repository, oid)
    if not latest:
        return None
    return {
        "id": node_id("Status", f"{repository.id}:{oid}"),
        "state": statuses.combined(latest.values()).upper(),
        "context": lambda _info, name: _optional(call, latest.get(name.lower())),
        "contexts": [_context(call, status) for status in latest.values()],
    }


def _optional(call: Call, status: Status | None) -> Mapping[str, Any] | None:
    return None if status is None else _context(call, status)


def _context(call: Call, status: Status) -> Mapping[str, Any]:
    return {
        "id": node_id("StatusContext", status.id),
        "context": status.context,
        "createdAt": timestamp(status.created_at),
        "creator": actor(call, status.author),
        "description": status.description,
        "state": status.state.upper(),
        "targetUrl": status.target_url,
    }
