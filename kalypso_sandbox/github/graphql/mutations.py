"""Mutations: update refs, all or none; enable and disable the auto-merge of a pull request.

https://docs.github.com/graphql/reference/mutations: `updateRefs`, `enablePullRequestAutoMerge`.
The refusals of auto-merge: peter-evans/enable-pull-request-automerge#343, mmtk/mmtk-core#992,
AliceJump/ok-end-field#211.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo

from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.repositories import NO_OBJECT, RefUpdate, is_valid_ref
from kalypso_sandbox.github.access import visible
from kalypso_sandbox.github.branch_rules import check_mergeability, refusal
from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.graphql.objects import check_permission
from kalypso_sandbox.github.payloads.accounts import node_id
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.store import AutoMerge, Issue

Input = Mapping[str, Any]


def update_refs(info: GraphQLResolveInfo[Any], input: Input) -> Input:  # noqa: A002 (GitHub's)
    """Create, move and delete refs, each with its expected head."""
    call: Call = info.context
    wanted = input["repositoryId"]
    for repository in call.store.repositories.values():
        if node_id("Repository", repository.id) == wanted and visible(call.identity, repository):
            break
    else:
        raise _unresolved(wanted)
    call = call.at(repository)
    check_permission(call, "contents: write")
    for update in [_checked(call, requested) for requested in input["refUpdates"]]:
        try:
            moved = call.git.update_ref(update.ref, update.after, update.before)
        except ProcessError:
            moved = False
        if not moved:
            raise _refused("Reference update failed")
        handle_push(call, update)
    return _done(call, input)


def enable_auto_merge(
    info: GraphQLResolveInfo[Any],
    input: Input,  # noqa: A002 (GitHub's)
) -> Input:
    """Let GitHub merge a pull request as soon as its requirements are met."""
    call, issue = _pull_request(info.context, input["pullRequestId"])
    if not call.repository.allow_auto_merge:
        raise _refused("Auto merge is not allowed for this repository")
    if issue.state == "closed":
        raise _refused("Can't enable auto-merge for this pull request.")
    if input.get("expectedHeadOid") not in {None, call.head(issue.pull)}:
        raise _refused("Head branch is out of date. Review and try the merge again.")
    state = check_mergeability(call, issue).state
    if state != "blocked":
        raise _refused(f"Pull request Pull request is in {state} status")
    method = str(input.get("mergeMethod", "MERGE")).lower()
    issue.pull.auto_merge = AutoMerge.model_validate({"identity": call.identity, "method": method})
    return _done(call, input)


def disable_auto_merge(
    info: GraphQLResolveInfo[Any],
    input: Input,  # noqa: A002 (GitHub's)
) -> Input:
    """Keep GitHub from merging a pull request."""
    call, issue = _pull_request(info.context, input["pullRequestId"])
    if issue.pull.auto_merge is None or issue.state == "closed":
        raise _refused("Can't disable auto-merge for this pull request.")
    issue.pull.auto_merge = None
    return _done(call, input)


def _done(call: Call, given: Input) -> Input:
    call.store.save()
    return {"clientMutationId": given.get("clientMutationId")}


def _checked(call: Call, requested: Input) -> RefUpdate:
    """Return one update. Raises GraphQLError if it is refused."""
    git, ref, after = call.git, requested["name"], _object(requested["afterOid"])
    before = git.refs().get(ref)
    if not is_valid_ref(ref):
        raise _refused(f"{ref} is not a valid ref name.")
    if "beforeOid" in requested and _object(requested["beforeOid"]) != before:
        raise _refused(f"{ref} is at {before or NO_OBJECT} but expected {requested['beforeOid']}")
    if after and git.object_type(after) != "commit":
        raise _refused(f"{after} does not exist")
    if before and after and not requested.get("force") and not git.is_ancestor(before, after):
        raise _refused("Update is not a fast forward")
    update = RefUpdate(ref, before, after)
    reason = refusal(call, update) if before != after else None
    if reason:
        raise _refused(f"Repository rule violations found\n\n{reason}\n\n")
    return update


def _object(oid: str | None) -> str | None:
    return None if oid in {None, NO_OBJECT} else oid


def _pull_request(call: Call, wanted: str) -> tuple[Call, Issue]:
    """Return the pull request with an id, and the access to its repository."""
    for repository in call.store.repositories.values():
        for issue in repository.issues.values():
            if node_id("PullRequest", issue.id) != wanted or issue.pull_request is None:
                continue
            lags = call.store.lags(issue.created_at, call.identity)
            if lags or not visible(call.identity, repository):
                raise _unresolved(wanted)
            call = call.at(repository)
            check_permission(call, "contents: write")
            check_permission(call, "pull_requests: write")
            return call, issue
    raise _unresolved(wanted)


def _unresolved(wanted: str) -> GraphQLError:
    message = f"Could not resolve to a node with the global id of '{wanted}'"
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


def _refused(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "UNPROCESSABLE"})
