"""Commit statuses.

https://docs.github.com/rest/commits/statuses
"""

from __future__ import annotations

from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from kalypso_sandbox.github import statuses
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.api.references import SHA
from kalypso_sandbox.github.endpoints import Answer, Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import statuses as payloads
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import Status

State = Literal["error", "failure", "pending", "success"]

MAX_STATUSES: Final = 1000
"""The maximum number of statuses of one commit and context."""

MAX_DESCRIPTION_LENGTH: Final = 140
MAX_CONTEXT_LENGTH: Final = 255


@endpoint("POST", "/repos/{owner}/{repo}/statuses/{sha}", "statuses: write", statuses=(201, 422))
def create(call: Call) -> Answer:
    """Create a status; older ones of the context stay in the list."""
    repository, body = call.named_repository, call.body
    sha = call.parameters["sha"]
    state = body_fields.choice(call, "state", get_args(State))
    if state is None:
        raise body_fields.missing("state")
    context = body_fields.text(body, "context") or "default"
    description = body_fields.text(body, "description")
    target_url = body_fields.text(body, "target_url") or None
    if not SHA.fullmatch(sha) or call.store.git(repository).object_type(sha) != "commit":
        raise RefusedError(422, f"No commit found for SHA: {sha}")
    _check_length("description", description or "", MAX_DESCRIPTION_LENGTH)
    _check_length("context", context, MAX_CONTEXT_LENGTH)
    if target_url and urlsplit(target_url).scheme not in {"http", "https"}:
        raise invalid("Status", "target_url", "custom", "target_url must use http(s) scheme")
    earlier = [
        status
        for status in repository.statuses
        if status.commit == sha and status.context.lower() == context.lower()
    ]
    if len(earlier) >= MAX_STATUSES:
        message = "This SHA and context has reached the maximum number of statuses."
        raise body_fields.custom("Status", message)
    status = Status.model_validate(
        {
            "id": call.store.new_id(),
            "commit": sha,
            "context": context,
            "state": state,
            "description": description,
            "target_url": target_url,
            "author": call.identity.login,
            "created_at": call.store.now,
        }
    )
    repository.statuses.append(status)
    answer = payloads.full(View.of(call), repository, status)
    return Answer(201, answer, {"location": answer["url"]})


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/commits/{ref}/status",
    "statuses: read",
    statuses=(200, 404),
)
def read_combined(call: Call) -> Answer:
    """Return the latest status of each context, and their combined state."""
    repository = call.named_repository
    commit = lookups.known_commit(call, call.parameters["ref"]).id
    known = list(statuses.latest(repository, commit).values())
    page, headers = paginate(call, known)
    answer = payloads.combined(
        View.of(call), repository, commit, statuses.combined(known), page, len(known)
    )
    return Answer(200, answer, headers)


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/commits/{ref}/statuses",
    "statuses: read",
    statuses=(200, 404),
)
def read_all(call: Call) -> Answer:
    """List the statuses, latest first."""
    repository = call.named_repository
    commit = lookups.known_commit(call, call.parameters["ref"]).id
    known = [status for status in reversed(repository.statuses) if status.commit == commit]
    page, headers = paginate(call, known)
    view = View.of(call)
    return Answer(200, [payloads.full(view, repository, status) for status in page], headers)


def _check_length(name: str, value: str, maximum: int) -> None:
    if len(value) > maximum:
        message = f"{name} is too long (maximum is {maximum} characters)"
        raise invalid("Status", name, "custom", message)
