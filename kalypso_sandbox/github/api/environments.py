"""Environments.

https://docs.github.com/rest/deployments/environments
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.api import lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import Environment

ALL: Final = "/repos/{owner}/{repo}/environments"
ONE: Final = "/repos/{owner}/{repo}/environments/{environment_name}"


@endpoint("GET", ALL, "actions: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List the environments."""
    environments = list(call.named_repository.environments.values())
    page, headers = paginate(call, environments)
    answer = [_payload(call, environment) for environment in page]
    return Answer(200, {"total_count": len(environments), "environments": answer}, headers)


@endpoint("GET", ONE, "actions: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return an environment."""
    return Answer(200, _payload(call, named(call)))


@endpoint("PUT", ONE, "administration: write", statuses=(200,))
def put(call: Call) -> Answer:
    """Create an environment. An existing one stays as it is, since it has no protection rules."""
    name = call.parameters["environment_name"]
    known = call.named_repository.environments
    if name.lower() not in known:
        environment = Environment(id=call.store.new_id(), name=name, created_at=call.store.now)
        known[name.lower()] = environment
    return Answer(200, _payload(call, named(call)))


def named(call: Call) -> Environment:
    """Return the environment of the path, ignoring case. Raises RefusedError."""
    name = call.parameters["environment_name"]
    environment = call.named_repository.environments.get(name.lower())
    if environment is None:
        raise lookups.not_found()
    return environment


def _payload(call: Call, environment: Environment) -> Json:
    view, repository = View.of(call), call.named_repository
    page_url = f"{view.html(repository)}/deployments/activity_log"
    return {
        "id": environment.id,
        "node_id": node_id("Environment", environment.id),
        "name": environment.name,
        "url": f"{view.api(repository)}/environments/{quote(environment.name, safe='')}",
        "html_url": f"{page_url}?environments_filter={quote(environment.name, safe='')}",
        "created_at": timestamp(environment.created_at),
        "updated_at": timestamp(environment.created_at),
        "can_admins_bypass": True,
        "protection_rules": [],
        "deployment_branch_policy": None,
    }
