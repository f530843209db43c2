"""GraphQL queries about one repository, and commit statuses in their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.errors import Location
from kalypso_actions.model.github import CommitStatus

STATUS_FIELDS: Final = (
    "oid status { contexts { context state description createdAt targetUrl "
    "creator { __typename login } } }"
)
"""The fields of a commit that `by_context` reads."""


def query_repository(
    github: GitHub,
    repository: str,
    failure: str,
    query: str,
    variables: Mapping[str, Json],
    permissions: str = "contents: read and statuses: read",
) -> Json:
    """Return the answer about a repository, `$owner` and `$name`.

    `permissions` are those that the query needs. Raises GitHubError.
    """
    owner, _, name = repository.partition("/")
    parameters = {"owner": owner, "name": name, **variables}
    data, errors = github.graphql(owner, failure, query, parameters)
    if errors:
        message = f"{failure}: GitHub says: {errors[0].get('message', '')}"
        advice = f"give the token the permissions {permissions}"
        status = 403 if errors[0].get("type") == "FORBIDDEN" else None
        raise GitHubError(message, Location(repository), advice, status=status)
    return data["repository"]


def by_context(status: Json) -> Mapping[str, CommitStatus]:
    """Return the statuses in a commit's `status` (`STATUS_FIELDS`), by context in lower case."""
    contexts: Sequence[Json] = [] if status is None else status["contexts"]
    return {
        context["context"].lower(): CommitStatus(
            context=context["context"],
            state=context["state"].lower(),
            description=context["description"] or "",
            target_url=context["targetUrl"] or "",
            author=login(context["creator"]),
            created_at=datetime.fromisoformat(context["createdAt"]),
        )
        for context in contexts
    }


def login(actor: Json) -> str:
    """Return an actor's login as REST writes it: GraphQL omits the `[bot]`."""
    if actor is None:
        return ""
    name = str(actor["login"]).removesuffix("[bot]")
    return f"{name}[bot]" if actor["__typename"] == "Bot" else name
