"""The mutation `updateRefs`: all updates or none, each with its expected head.

https://docs.github.com/graphql/reference/mutations#updaterefs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphql import GraphQLError, GraphQLResolveInfo

from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.repositories import NO_OBJECT, is_valid_ref
from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.payloads.view import node_id
from kalypso_sandbox.github.permissions import allowed, not_accessible, visible
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.store import Repository

Update = tuple[str, str | None, str | None]
"""A ref, its head, and its new head."""

BAD: Final = "UNPROCESSABLE"

MUTATION: Final = """
  updateRefs(input: UpdateRefsInput!): UpdateRefsPayload
"""

TYPES: Final = """
input UpdateRefsInput {
  clientMutationId: String
  refUpdates: [RefUpdate!]!
  repositoryId: ID!
}

input RefUpdate {
  afterOid: GitObjectID!
  beforeOid: GitObjectID
  force: Boolean = false
  name: GitRefname!
}

type UpdateRefsPayload {
  clientMutationId: String
}
"""


def update_refs(
    info: GraphQLResolveInfo[Any],
    input: Mapping[str, Any],  # noqa: A002 (GitHub's)
) -> Mapping[str, Any]:
    """Create, move and delete refs."""
    call: Call = info.context
    repository = _repository(call, input["repositoryId"])
    updates = [_checked(call, repository, update) for update in input["refUpdates"]]
    git = call.store.git(repository)
    for ref, before, after in updates:
        try:
            moved = git.update_ref(ref, after, before)
        except ProcessError:
            moved = False
        if not moved:
            raise _refused("Reference update failed")
        handle_push(call.store, repository, ref, before, after, call.identity)
    call.store.save()
    return {"clientMutationId": input.get("clientMutationId")}


def _repository(call: Call, wanted: str) -> Repository:
    for repository in call.store.repositories.values():
        if node_id("Repository", repository.id) == wanted and visible(call.identity, repository):
            break
    else:
        message = f"Could not resolve to a node with the global id of '{wanted}'"
        raise GraphQLError(message, extensions={"type": "NOT_FOUND"})
    if not allowed(call.identity, ["contents: write"], repository):
        raise GraphQLError(not_accessible(call.identity), extensions={"type": "FORBIDDEN"})
    return repository


def _checked(call: Call, repository: Repository, update: Mapping[str, Any]) -> Update:
    """Return one update. Raises GraphQLError if it is refused."""
    git = call.store.git(repository)
    ref, after = update["name"], _object(update["afterOid"])
    before = git.refs().get(ref)
    if not is_valid_ref(ref):
        raise _refused(f"{ref} is not a valid ref name.")
    if "beforeOid" in update and _object(update["beforeOid"]) != before:
        raise _refused(f"{ref} is at {before or NO_OBJECT} but expected {update['beforeOid']}")
    if after and git.object_type(after) != "commit":
        raise _refused(f"{after} does not exist")
    if before and after and not update.get("force") and not git.is_ancestor(before, after):
        raise _refused("Update is not a fast forward")
    if before != after:
        reason = branch_rules.refusal(call.store, repository, ref, before, after, call.identity)
        if reason:
            raise _refused(f"Repository rule violations found\n\n{reason}\n\n")
    return ref, before, after


def _object(oid: str | None) -> str | None:
    return None if oid in {None, NO_OBJECT} else oid


def _refused(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": BAD})
