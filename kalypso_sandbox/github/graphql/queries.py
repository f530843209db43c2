"""Answer queries with data, and with errors next to the data.

https://docs.github.com/graphql/guides/forming-calls-with-graphql
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLFormattedError,
    GraphQLResolveInfo,
    GraphQLSyntaxError,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from kalypso_sandbox.github.access import visible
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint
from kalypso_sandbox.github.graphql import mutations
from kalypso_sandbox.github.graphql.objects import Fields, check_permission, repository
from kalypso_sandbox.github.payloads.accounts import node_id, timestamp
from kalypso_sandbox.json_http import Answer

CODES: Final = {"Cannot query field": "undefinedField", "Syntax Error": "parseError"}
"""graphql-core's error messages -> GitHub's error codes."""

FOLDER: Final = Path(__file__).parent
SERVER_SCHEMA: Final = (FOLDER / "schema.graphql").read_text("utf-8")
"""The schema of a GitHub Enterprise Server that is too old for `updateRefs`."""
SCHEMA: Final = SERVER_SCHEMA + (FOLDER / "ref_updates.graphql").read_text("utf-8")

SCHEMAS: Final = {"github.com": build_schema(SCHEMA), "ghes": build_schema(SERVER_SCHEMA)}


@endpoint("POST", "/graphql", statuses=(200, 400))
def query(call: Call) -> Answer:
    """Answer a query. A field with an error is null, and the error is next to the data."""
    text = requests.text(call.body, "query")
    if not text:
        message = "A query attribute must be specified and must be a string."
        raise RefusedError(400, message)
    result = _execute(call, text)
    answer: dict[str, Any] = {}
    if result.data is not None:
        answer["data"] = result.data
    if result.errors:
        answer["errors"] = [_formatted(error) for error in result.errors]
    return Answer(200, answer)


def _execute(call: Call, text: str) -> ExecutionResult:
    document = _document(text, call.store.flavour)
    if not isinstance(document, DocumentNode):
        return ExecutionResult(None, document)
    return execute_sync(
        SCHEMAS[call.store.flavour],
        document,
        {
            "repository": _repository,
            "rateLimit": _rate_limit,
            "viewer": _viewer,
            "updateRefs": mutations.update_refs,
            "enablePullRequestAutoMerge": mutations.enable_auto_merge,
            "disablePullRequestAutoMerge": mutations.disable_auto_merge,
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
    return validate(SCHEMAS[flavour], document) or document


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
