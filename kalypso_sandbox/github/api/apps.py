"""GitHub Apps: their installations and tokens; the rate limits of every token.

https://docs.github.com/rest/apps/apps, https://docs.github.com/rest/rate-limit/rate-limit
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.access import LEVELS, covers
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint
from kalypso_sandbox.github.payloads.accounts import (
    simple_repository,
    timestamp,
    user,
)
from kalypso_sandbox.github.tokens import TOKEN_LIFETIME, issue
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import App, Identity, Installation, Permissions, Repository

CREATED_AT: Final = timestamp(datetime(2024, 1, 1, tzinfo=UTC))
"""A fixed time, because the sandbox does not record when Apps are created and installed."""

UNUSED: Final = ("search", "code_search", "source_import", "integration_manifest")
"""The resources of rate limits that the sandbox does not have."""


@endpoint("GET", "/app/installations", statuses=(200,))
def read_installations(call: Call) -> Answer:
    """List the App's installations."""
    installations = list(_app(call).installations.items())
    return requests.listed(call, installations, lambda _, pair: _payload(call, *pair))


@endpoint("GET", "/orgs/{org}/installation", statuses=(200, 404))
def read_of_organization(call: Call) -> Answer:
    """Return the App's installation in an organization."""
    account = call.store.accounts.get(call.parameters["org"].lower())
    if account is None or account.kind != "Organization":
        raise requests.not_found()
    return Answer(200, _payload(call, *_installed(call, call.parameters["org"])))


@endpoint("GET", "/users/{username}/installation", statuses=(200, 404))
def read_of_user(call: Call) -> Answer:
    """Return the App's installation in an account."""
    return Answer(200, _payload(call, *_installed(call, call.parameters["username"])))


@endpoint("GET", "/repos/{owner}/{repo}/installation", statuses=(200, 404))
def read_of_repository(call: Call) -> Answer:
    """Return the installation that covers a repository."""
    login, installed = _installed(call, call.repository.owner)
    names = installed.repositories
    if names is not None and call.repository.full_name.lower() not in map(str.lower, names):
        raise requests.not_found()
    return Answer(200, _payload(call, login, installed))


@endpoint(
    "POST",
    "/app/installations/{installation_id}/access_tokens",
    statuses=(201, 403, 404, 422),
)
def create_token(call: Call) -> Answer:
    """Create a token with all or some of an installation's permissions and repositories."""
    app = _app(call)
    wanted = call.parameters["installation_id"]
    installations = app.installations.items()
    installation = next((pair for pair in installations if str(pair[1].id) == wanted), None)
    if installation is None:
        raise requests.not_found()
    login, installed = installation
    if installed.suspended:
        raise RefusedError(403, "This installation has been suspended")
    identity = Identity(
        kind="installation",
        login=f"{app.slug}[bot]",
        permissions=_permissions(call, _granted(app)),
        owner=login,
        repositories=installed.repositories,
        app_id=app.id,
        expires_at=call.store.now + TOKEN_LIFETIME,
    )
    chosen = _chosen(call, identity)
    if chosen is not None:
        identity.repositories = [repository.full_name for repository in chosen]
    answer = {
        "token": issue(call.store, identity),
        "expires_at": timestamp(call.store.now + TOKEN_LIFETIME),
        "permissions": identity.permissions,
        "repository_selection": _selection(identity),
    }
    if chosen is not None:
        answer["repositories"] = [simple_repository(call.at(each)) for each in chosen]
    return Answer(201, answer)


@endpoint("GET", "/user", statuses=(200,))
def read_own_user(call: Call) -> Answer:
    """Return the account of the token, without what only its owner sees."""
    account = user(call, call.identity.login)
    counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    texts = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
    return Answer(
        200, {**account, **texts, **counts, "created_at": CREATED_AT, "updated_at": CREATED_AT}
    )


@endpoint("GET", "/rate_limit", statuses=(200, 404))
def read_rate_limits(call: Call) -> Answer:
    """Return the usage of every resource; 404 on GitHub Enterprise Server without limits."""
    if call.store.flavour == "ghes":
        raise requests.not_found()
    core = _usage(call, "core")
    unused = {"limit": 30, "used": 0, "remaining": 30, "reset": core["reset"]}
    resources = {"core": core, "graphql": _usage(call, "graphql"), **dict.fromkeys(UNUSED, unused)}
    return Answer(200, {"resources": resources, "rate": core})


def _usage(call: Call, resource: str) -> Json:
    usage = call.rate_limits.usage(call.identity, resource, call.store.now)
    return {
        "limit": usage.limit,
        "used": usage.used,
        "remaining": usage.limit - usage.used,
        "reset": usage.reset,
    }


def _app(call: Call) -> App:
    return call.store.apps[call.identity.app_id]


def _granted(app: App) -> Permissions:
    """Return an App's permissions, which always include `metadata`."""
    return {**app.permissions, "metadata": "read"}


def _selection(holder: Identity | Installation) -> str:
    return "all" if holder.repositories is None else "selected"


def _installed(call: Call, account: str) -> tuple[str, Installation]:
    for login, installed in _app(call).installations.items():
        if login.lower() == account.lower():
            return login, installed
    raise requests.not_found()


def _payload(call: Call, login: str, installed: Installation) -> Json:
    """Return GitHub's `installation` of the App in an account."""
    app, account = _app(call), call.store.account(login)
    settings = f"{call.server_url}/organizations/{quote(login)}/settings"
    return {
        "id": installed.id,
        "client_id": app.client_id,
        "account": user(call, login),
        "repository_selection": _selection(installed),
        "access_tokens_url": f"{call.api_url}/app/installations/{installed.id}/access_tokens",
        "repositories_url": f"{call.api_url}/installation/repositories",
        "html_url": f"{settings}/installations/{installed.id}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": account.id,
        "target_type": account.kind,
        "permissions": _granted(app),
        "events": [],
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user(call, login) if installed.suspended else None,
        "suspended_at": CREATED_AT if installed.suspended else None,
    }


def _permissions(call: Call, granted: Permissions) -> Permissions:
    """Return the requested permissions; the App must have them."""
    requested = requests.mapping(call.body, "permissions")
    if not requested:
        return granted
    for name, level in requested.items():
        if LEVELS.get(str(level), 9) > LEVELS.get(granted.get(name, ""), 0):
            message = "The permissions requested are not granted to this installation."
            raise RefusedError(422, message)
    return {**requested, "metadata": "read"}


def _chosen(call: Call, identity: Identity) -> list[Repository] | None:
    """Return the requested repositories, by name or id; None means all."""
    names = requests.listing(call.body, "repositories")
    numbers = requests.listing(call.body, "repository_ids")
    if names is None and numbers is None:
        return None
    known = list(_visible(call, identity))
    by_name: dict[Json, Repository] = {repository.name.lower(): repository for repository in known}
    by_name |= {repository.id: repository for repository in known}
    requested = [*(str(name).lower() for name in names or ()), *(numbers or ())]
    if not all(key in by_name for key in requested):
        message = "There is at least one repository that does not exist or is not accessible to "
        raise RefusedError(422, f"{message}the parent installation.")
    return [by_name[key] for key in requested]


def _visible(call: Call, identity: Identity) -> Iterator[Repository]:
    return (
        repository
        for repository in call.store.repositories.values()
        if covers(identity, repository)
    )
