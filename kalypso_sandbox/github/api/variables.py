"""Variables of a repository and of its environments.

https://docs.github.com/rest/actions/variables
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from kalypso_sandbox.github.api import body_fields, environments, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.pagination import PageRequest, paginate
from kalypso_sandbox.github.payloads.view import timestamp

REPOSITORY: Final = "/repos/{owner}/{repo}/actions/variables"
SHARED: Final = "/repos/{owner}/{repo}/actions/organization-variables"
ENVIRONMENT: Final = "/repos/{owner}/{repo}/environments/{environment_name}/variables"

NAME: Final = re.compile(r"(?!GITHUB_)[A-Z_][A-Z0-9_]*")
MAX_SIZE: Final = 48 * 1024
DEFAULT_PAGE_SIZE: Final = 10
MAX_PAGE_SIZE: Final = 30
"""The largest page of variables, which is smaller than that of other lists."""


@endpoint("GET", REPOSITORY, "actions_variables: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List the repository's variables."""
    return _all(call, call.named_repository.variables, call.named_repository.created_at)


@endpoint("POST", REPOSITORY, "actions_variables: write", statuses=(201, 409, 422))
def create(call: Call) -> Answer:
    """Create a variable of the repository."""
    return _create(call, call.named_repository.variables)


@endpoint("GET", f"{REPOSITORY}/{{name}}", "actions_variables: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a variable of the repository."""
    return _get(call, call.named_repository.variables, call.named_repository.created_at)


@endpoint("PATCH", f"{REPOSITORY}/{{name}}", "actions_variables: write", statuses=(204, 404, 422))
def update(call: Call) -> Answer:
    """Change a variable of the repository."""
    return _update(call, call.named_repository.variables)


@endpoint("GET", SHARED, "actions_variables: read", statuses=(200,))
def read_all_shared(call: Call) -> Answer:
    """List the organization's variables that the repository may use."""
    return _all(call, call.named_repository.shared_variables, call.named_repository.created_at)


@endpoint("GET", ENVIRONMENT, "environments: read", statuses=(200, 404))
def read_all_of_environment(call: Call) -> Answer:
    """List an environment's variables."""
    environment = environments.named(call)
    return _all(call, environment.variables, environment.created_at)


@endpoint("POST", ENVIRONMENT, "environments: write", statuses=(201, 404, 409, 422))
def create_in_environment(call: Call) -> Answer:
    """Create a variable of an environment."""
    return _create(call, environments.named(call).variables)


@endpoint("GET", f"{ENVIRONMENT}/{{name}}", "environments: read", statuses=(200, 404))
def read_of_environment(call: Call) -> Answer:
    """Return a variable of an environment."""
    environment = environments.named(call)
    return _get(call, environment.variables, environment.created_at)


@endpoint("PATCH", f"{ENVIRONMENT}/{{name}}", "environments: write", statuses=(204, 404, 422))
def update_in_environment(call: Call) -> Answer:
    """Change a variable of an environment."""
    return _update(call, environments.named(call).variables)


def _all(call: Call, variables: dict[str, str], created_at: datetime) -> Answer:
    page_request = PageRequest.of(call.query, default=DEFAULT_PAGE_SIZE, maximum=MAX_PAGE_SIZE)
    page, headers = paginate(call, sorted(variables), page_request)
    answer = [_payload(name, variables[name], created_at) for name in page]
    return Answer(200, {"total_count": len(variables), "variables": answer}, headers)


def _create(call: Call, variables: dict[str, str]) -> Answer:
    name = body_fields.required_text(call.body, "name").upper()
    value = _value(call)
    if value is None:
        raise body_fields.missing("value")
    if not NAME.fullmatch(name):
        raise RefusedError(422, "Variable names can only contain alphanumeric characters and _")
    if name in variables:
        raise RefusedError(409, "Already exists - Variable already exists")
    variables[name] = value
    return Answer(201, {})


def _get(call: Call, variables: dict[str, str], created_at: datetime) -> Answer:
    name = _name(call, variables)
    return Answer(200, _payload(name, variables[name], created_at))


def _update(call: Call, variables: dict[str, str]) -> Answer:
    name = _name(call, variables)
    value = _value(call)
    variables[name] = variables[name] if value is None else value
    return Answer(204)


def _name(call: Call, variables: dict[str, str]) -> str:
    name = call.parameters["name"].upper()
    if name not in variables:
        raise lookups.not_found()
    return name


def _value(call: Call) -> str | None:
    value = body_fields.text(call.body, "value")
    if value and len(value.encode()) > MAX_SIZE:
        raise RefusedError(422, "Variable value is too large (maximum is 48 KB)")
    return value


def _payload(name: str, value: str, created_at: datetime) -> Json:
    return {
        "name": name,
        "value": value,
        "created_at": timestamp(created_at),
        "updated_at": timestamp(created_at),
    }
