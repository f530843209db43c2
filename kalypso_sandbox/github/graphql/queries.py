"""Answer queries and mutations with data, and with errors next to the data.

https://docs.github.com/graphql/guides/forming-calls-with-graphql
https://docs.github.com/graphql/reference/mutations: `updateRefs`, `enablePullRequestAutoMerge`.
The refusals of auto-merge: peter-evans/enable-pull-request-automerge#343, mmtk/mmtk-core#992,
AliceJump/ok-end-field#211.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLFormattedError,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLSyntaxError,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.repositories import NO_OBJECT, RefUpdate, is_valid_ref
from kalypso_sandbox.github.access import visible
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.branch_rules import check_mergeability, refusal
from kalypso_sandbox.github.endpoints import Call, RefusedError
from kalypso_sandbox.github.graphql.objects import Fields, check_permission, repository
from kalypso_sandbox.github.payloads.accounts import node_id, timestamp
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.json_http import Answer
from kalypso_sandbox.store import AutoMerge, Issue

CODES: Final = {"Cannot query field": "undefinedField", "Syntax Error": "parseError"}
"""graphql-core's error messages -> GitHub's error codes."""

FOLDER: Final = Path(__file__).parent
SERVER_SCHEMA: Final = (FOLDER / "schema.graphql").read_text("utf-8")
"""The schema of a GitHub Enterprise Server that is too old for `updateRefs`."""
SCHEMA: Final = SERVER_SCHEMA + (FOLDER / "ref_updates.graphql").read_text("utf-8")


@cache
def _schema(flavour: str) -> GraphQLSchema:
    return build_schema(SERVER_SCHEMA if flavour == "ghes" else SCHEMA)


def answer(call: Call) -> Answer:
    """Answer a query. A field with an error is null, and the error is next to the data."""
    text = requests.text(call.body, "query")
    if not text:
        message = "A query attribute must be specified and must be a string."
        raise RefusedError(400, message)
    result = _execute(call, text)
    body: dict[str, Any] = {}
    if result.data is not None:
        body["data"] = result.data
    if result.errors:
        body["errors"] = [_formatted(error) for error in result.errors]
    return Answer(200, body)


def _execute(call: Call, text: str) -> ExecutionResult:
    document = _document(text, call.store.flavour)
    if not isinstance(document, DocumentNode):
        return ExecutionResult(None, document)
    return execute_sync(
        _schema(call.store.flavour),
        document,
        {
            "repository": _repository,
            "rateLimit": _rate_limit,
            "viewer": _viewer,
            "updateRefs": update_refs,
            "enablePullRequestAutoMerge": enable_auto_merge,
            "disablePullRequestAutoMerge": disable_auto_merge,
        },
        context_value=call,
        variable_values=dict(requests.mapping(call.body, "variables")),
        operation_name=requests.text(call.body, "operationName"),
    )


@lru_cache(maxsize=256)
def _document(text: str, flavour: str) -> DocumentNode | list[GraphQLError]:
    """Parse and validate a query. Cache the result, since clients repeat a few queries."""
    try:
        document = parse(text)
    except GraphQLSyntaxError as error:
        return [error]
    return validate(_schema(flavour), document) or document


def _repository(
    info: GraphQLResolveInfo[Any],
    owner: str,
    name: str,
    followRenames: bool,  # noqa: N803 (GitHub's)
) -> Fields:
    """Return the repository, if the identity may read it."""
    call: Call = info.context
    existing = call.store.repository(f"{owner}/{name}")
    renamed = existing is not None and existing.full_name.lower() != f"{owner}/{name}".lower()
    if existing is None or not visible(call.identity, existing) or (renamed and not followRenames):
        message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
        raise GraphQLError(message, extensions={"type": "NOT_FOUND"})
    check_permission(call.at(existing), "contents: read")
    return repository(call.at(existing))


def _viewer(info: GraphQLResolveInfo[Any]) -> Fields:
    """Return the account of the token; for an App or a job, its bot."""
    call: Call = info.context
    account = call.store.account(call.identity.login)
    return {
        "id": node_id(account.kind, account.id),
        "databaseId": account.id,
        "login": account.login,
    }


def _rate_limit(info: GraphQLResolveInfo[Any], dryRun: bool) -> Fields:  # noqa: N803 (GitHub's)
    call: Call = info.context
    usage = call.rate_limits.usage(call.identity, "graphql", call.store.now)
    return {
        "cost": 0 if dryRun else 1,
        "limit": usage.limit,
        "nodeCount": 0,
        "remaining": usage.limit - usage.used,
        "resetAt": timestamp(datetime.fromtimestamp(usage.reset, UTC)),
        "used": usage.used,
    }


def _formatted(error: GraphQLError) -> GraphQLFormattedError | dict[str, Any]:
    """Format an error as GitHub does: with the type next to the message, without extensions."""
    formatted: dict[str, Any] = dict(error.formatted)
    extensions = formatted.pop("extensions", {})
    if extensions:
        return {**extensions, **formatted}
    code = next((code for words, code in CODES.items() if words in error.message), "invalid")
    return {**formatted, "extensions": {"code": code}}


Input = Mapping[str, Any]


def update_refs(info: GraphQLResolveInfo[Any], input: Input) -> Input:  # noqa: A002 (GitHub's)
    """Create, move and delete refs, each with its expected head."""
    call: Call = info.context
    wanted = input["repositoryId"]
    for each in call.store.repositories.values():
        if node_id("Repository", each.id) == wanted and visible(call.identity, each):
            break
    else:
        raise _unresolved(wanted)
    call = call.at(each)
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
    for each in call.store.repositories.values():
        for issue in each.issues.values():
            if node_id("PullRequest", issue.id) != wanted or issue.pull_request is None:
                continue
            lags = call.store.lags(issue.created_at, call.identity)
            if lags or not visible(call.identity, each):
                raise _unresolved(wanted)
            call = call.at(each)
            check_permission(call, "contents: write")
            check_permission(call, "pull_requests: write")
            return call, issue
    raise _unresolved(wanted)


def _unresolved(wanted: str) -> GraphQLError:
    message = f"Could not resolve to a node with the global id of '{wanted}'"
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


def _refused(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "UNPROCESSABLE"})
