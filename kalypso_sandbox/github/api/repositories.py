"""Repositories and their settings: environments, variables, names of secrets, Actions, Pages.

https://docs.github.com/rest/repos/repos, https://docs.github.com/rest/pages/pages
https://docs.github.com/rest/deployments/environments
https://docs.github.com/rest/actions: permissions, secrets, variables
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.access import allowed
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.payloads.accounts import (
    node_id,
    own_person,
    simple_repository,
    timestamp,
    user,
)
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import REPOSITORY, Environment, Repository

INVALID_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9._-]+")
"""The characters that GitHub replaces with a hyphen."""

PATH: Final = "/repos/{owner}/{repo}"

ACTIONS: Final = f"{PATH}/actions"

SITE: Final = f"{PATH}/pages"

ENVIRONMENTS: Final = f"{PATH}/environments"

ENVIRONMENT: Final = f"{ENVIRONMENTS}/{{environment_name}}"

VARIABLES: Final = f"{ACTIONS}/variables"

OF_ENVIRONMENT: Final = f"{ENVIRONMENT}/variables"

NAME: Final = re.compile(r"(?!GITHUB_)[A-Z_][A-Z0-9_]*")

MAX_SIZE: Final = 48 * 1024

DEFAULT_PAGE_SIZE: Final = 10

MAX_PAGE_SIZE: Final = 30
"""The largest page of variables, which is smaller than that of other lists."""


@endpoint("GET", "/repos/{owner}/{repo}", "metadata: read", statuses=(200,))
def read(call: Call) -> Answer:
    """Return a repository."""
    return Answer(200, _payload(call))


@endpoint("POST", "/orgs/{org}/repos", "administration: write", statuses=(201, 404, 422))
def create_in_organization(call: Call) -> Answer:
    """Create a repository of an organization."""
    account = call.store.accounts.get(call.parameters["org"].lower())
    own = call.identity.owner.lower()
    if account is None or account.kind != "Organization" or own not in {"", account.login.lower()}:
        raise requests.not_found()
    owner = account.login
    name = INVALID_CHARACTERS.sub("-", requests.required_text(call.body, "name"))
    private, auto_init = (requests.flag(call.body, field) for field in ("private", "auto_init"))
    if not REPOSITORY.fullmatch(name):
        raise invalid("Repository", "name")
    if f"{owner}/{name}".lower() in call.store.repositories:
        message = "name already exists on this account"
        raise invalid("Repository", "name", "custom", message)
    repository = call.store.add_repository(owner, name, private=private)
    if auto_init:
        files = {"README.md": f"# {name}\n"}
        person = own_person(call)
        git = call.store.git(repository)
        git.commit_files(repository.default_branch, files, "Initial commit", person)
    return requests.created(_payload(call.at(repository)))


def _payload(call: Call) -> Json:
    """Return GitHub's `full-repository`, with the token's permissions."""
    repository = call.repository
    permissions = {
        "admin": allowed(call.identity, ["administration: write"], repository),
        "push": allowed(call.identity, ["contents: write"], repository),
        "pull": allowed(call.identity, ["contents: read"], repository),
    }
    answer = {
        **simple_repository(call),
        "network_count": 0,
        "subscribers_count": 0,
        "permissions": {
            **permissions,
            "maintain": permissions["admin"],
            "triage": permissions["push"],
        },
        "allow_merge_commit": True,
        "allow_squash_merge": True,
        "allow_rebase_merge": True,
        "allow_auto_merge": repository.allow_auto_merge,
        "allow_update_branch": False,
        "delete_branch_on_merge": False,
    }
    if call.store.account(repository.owner).kind == "Organization":
        answer["organization"] = user(call, repository.owner)
    return answer


@endpoint("GET", ENVIRONMENTS, "actions: read", statuses=(200,))
def read_environments(call: Call) -> Answer:
    """List the environments."""
    environments = list(call.repository.environments.values())
    return requests.counted(call, "environments", environments, _environment)


@endpoint("PUT", ENVIRONMENT, "administration: write", statuses=(200,))
def put_environment(call: Call) -> Answer:
    """Create an environment. An existing one stays as it is, since it has no protection rules."""
    name = call.parameters["environment_name"]
    known = call.repository.environments
    if name.lower() not in known:
        environment = Environment(id=call.store.new_id(), name=name, created_at=call.store.now)
        known[name.lower()] = environment
    return Answer(200, _environment(call, _named(call)))


@endpoint("GET", VARIABLES, "actions_variables: read", statuses=(200,))
@endpoint("GET", OF_ENVIRONMENT, "environments: read", statuses=(200, 404))
def read_variables(call: Call) -> Answer:
    """List the variables of the repository or an environment."""
    holder = _holder(call)
    return _variables(call, holder.variables, holder.created_at)


@endpoint("POST", VARIABLES, "actions_variables: write", statuses=(201, 409, 422))
@endpoint("POST", OF_ENVIRONMENT, "environments: write", statuses=(201, 404, 409, 422))
def create_variable(call: Call) -> Answer:
    """Create a variable."""
    variables = _holder(call).variables
    name = requests.required_text(call.body, "name").upper()
    value = requests.required_text(call.body, "value")
    if len(value.encode()) > MAX_SIZE:
        raise RefusedError(422, "Variable value is too large (maximum is 48 KB)")
    if not NAME.fullmatch(name):
        raise RefusedError(422, "Variable names can only contain alphanumeric characters and _")
    if name in variables:
        raise RefusedError(409, "Already exists - Variable already exists")
    variables[name] = value
    return Answer(201, {})


@endpoint("GET", f"{OF_ENVIRONMENT}/{{name}}", "environments: read", statuses=(200, 404))
def read_variable(call: Call) -> Answer:
    """Return a variable."""
    holder, name = _holder(call), call.parameters["name"].upper()
    if name not in holder.variables:
        raise requests.not_found()
    return Answer(200, _variable(name, holder.variables[name], holder.created_at))


@endpoint("GET", f"{ACTIONS}/organization-variables", "actions_variables: read", statuses=(200,))
def read_shared_variables(call: Call) -> Answer:
    """List the organization's variables that the repository may use."""
    return _variables(call, call.repository.shared_variables, call.repository.created_at)


@endpoint("GET", f"{ACTIONS}/secrets", "secrets: read", statuses=(200,))
@endpoint("GET", f"{ENVIRONMENT}/secrets", "environments: read", statuses=(200, 404))
def read_secrets(call: Call) -> Answer:
    """List the names of the secrets; nobody can read their values."""
    holder = _holder(call)
    return _secrets(call, holder.secrets, holder.created_at)


@endpoint("GET", f"{ACTIONS}/organization-secrets", "secrets: read", statuses=(200,))
def read_shared_secrets(call: Call) -> Answer:
    """List the names of the organization's secrets that the repository may use."""
    return _secrets(call, call.repository.shared_secrets, call.repository.created_at)


@endpoint("GET", f"{ACTIONS}/permissions", "administration: read", statuses=(200,))
def read_actions(call: Call) -> Answer:
    """Return whether workflows run, and which actions they may use."""
    repository = call.repository
    answer: Json = {"enabled": repository.actions_enabled, "sha_pinning_required": False}
    if repository.actions_enabled:
        answer["allowed_actions"] = repository.allowed_actions
    if repository.allowed_actions == "selected":
        answer["selected_actions_url"] = f"{call.url}/actions/permissions/selected-actions"
    return Answer(200, answer)


@endpoint("GET", f"{ACTIONS}/permissions/workflow", "administration: read", statuses=(200,))
def read_actions_of_jobs(call: Call) -> Answer:
    """Return the default permissions of GITHUB_TOKENs, and whether they may open pull requests."""
    answer = {
        "default_workflow_permissions": "read",
        "can_approve_pull_request_reviews": call.repository.actions_may_open_pull_requests,
    }
    return Answer(200, answer)


@endpoint("GET", SITE, "pages: read", statuses=(200, 404))
def read_site(call: Call) -> Answer:
    """Return the repository's site, which its workflows publish."""
    repository = call.repository
    if not repository.has_pages:
        raise requests.not_found()
    answer = {
        "url": f"{call.url}/pages",
        "status": None,
        "cname": None,
        "custom_404": False,
        "html_url": f"https://{repository.owner}.github.io/{repository.name}/",
        "build_type": "workflow",
        "source": {"branch": repository.default_branch, "path": "/"},
        "public": True,
        "protected_domain_state": None,
        "pending_domain_unverified_at": None,
        "https_enforced": True,
    }
    return Answer(200, answer)


def _holder(call: Call) -> Repository | Environment:
    """Return what holds the variables and secrets: the environment of the path, or the repository.

    Raises RefusedError.
    """
    return _named(call) if "environment_name" in call.parameters else call.repository


def _named(call: Call) -> Environment:
    """Return the environment of the path, ignoring case. Raises RefusedError."""
    name = call.parameters["environment_name"]
    environment = call.repository.environments.get(name.lower())
    if environment is None:
        raise requests.not_found()
    return environment


def _environment(call: Call, environment: Environment) -> Json:
    name = quote(environment.name, safe="")
    return {
        "id": environment.id,
        "node_id": node_id("Environment", environment.id),
        "name": environment.name,
        "url": f"{call.url}/environments/{name}",
        "html_url": f"{call.page}/deployments/activity_log?environments_filter={name}",
        **_times(environment.created_at),
        "can_admins_bypass": True,
        "protection_rules": [
            {"id": environment.id, "node_id": node_id("Gate", environment.id), **rule}
            for rule in _protection_rules(call, environment)
        ],
        "deployment_branch_policy": {"protected_branches": False, "custom_branch_policies": True}
        if environment.branches
        else None,
    }


def _protection_rules(call: Call, environment: Environment) -> Iterator[Json]:
    if environment.needs_approval:
        reviewer = {"type": "User", "reviewer": user(call, call.repository.owner)}
        yield {
            "type": "required_reviewers",
            "prevent_self_review": False,
            "reviewers": [reviewer],
        }
    if environment.branches:
        yield {"type": "branch_policy"}


def _variables(call: Call, variables: dict[str, str], created_at: datetime) -> Answer:
    page, headers = requests.paginate(call, sorted(variables), DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
    answer = [_variable(name, variables[name], created_at) for name in page]
    return Answer(200, {"total_count": len(variables), "variables": answer}, headers)


def _variable(name: str, value: str, created_at: datetime) -> Json:
    return {"name": name, "value": value, **_times(created_at)}


def _secrets(call: Call, names: Sequence[str], created_at: datetime) -> Answer:
    return requests.counted(
        call, "secrets", sorted(names), lambda _, name: {"name": name, **_times(created_at)}
    )


def _times(created_at: datetime) -> dict[str, str]:
    return {"created_at": timestamp(created_at), "updated_at": timestamp(created_at)}
