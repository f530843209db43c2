"""GitHub Apps: their installations and tokens.

https://docs.github.com/rest/apps/apps
"""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_sandbox.github.access import TOKEN_LIFETIME, issue
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import apps, repositories
from kalypso_sandbox.github.payloads.view import View, timestamp
from kalypso_sandbox.github.permissions import LEVELS, covers
from kalypso_sandbox.store import App, Identity, Installation, Permissions, Repository


@endpoint("GET", "/app", statuses=(200,))
def read_app(call: Call) -> Answer:
    """Return the App of the JWT."""
    return Answer(200, apps.app(View.of(call), _app(call)))


@endpoint("GET", "/app/installations", statuses=(200,))
def read_installations(call: Call) -> Answer:
    """List the App's installations."""
    app = _app(call)
    page, headers = paginate(call, list(app.installations.items()))
    view = View.of(call)
    return Answer(200, [apps.installation(view, app, *pair) for pair in page], headers)


@endpoint("GET", "/orgs/{org}/installation", statuses=(200, 404))
def read_of_organization(call: Call) -> Answer:
    """Return the App's installation in an organization."""
    account = call.store.accounts.get(call.parameters["org"].lower())
    if account is None or account.kind != "Organization":
        raise lookups.not_found()
    return _of_account(call, call.parameters["org"])


@endpoint("GET", "/users/{username}/installation", statuses=(200, 404))
def read_of_user(call: Call) -> Answer:
    """Return the App's installation in an account."""
    return _of_account(call, call.parameters["username"])


@endpoint("GET", "/repos/{owner}/{repo}/installation", statuses=(200, 404))
def read_of_repository(call: Call) -> Answer:
    """Return the installation that covers a repository."""
    repository = call.named_repository
    login, installed = _installed(call, repository.owner)
    if installed.repositories is not None and not _names(repository, installed.repositories):
        raise lookups.not_found()
    return Answer(200, apps.installation(View.of(call), _app(call), login, installed))


@endpoint(
    "POST",
    "/app/installations/{installation_id}/access_tokens",
    statuses=(201, 403, 404, 422),
)
def create_token(call: Call) -> Answer:
    """Create a token with all or some of an installation's permissions and repositories."""
    app = _app(call)
    installation_id = call.parameters["installation_id"]
    installations = app.installations.items()
    installation = next(
        (item for item in installations if str(item[1].id) == installation_id), None
    )
    if installation is None:
        raise lookups.not_found()
    login, installed = installation
    if installed.suspended:
        raise RefusedError(403, "This installation has been suspended")
    permissions = _permissions(call, apps.granted(app))
    identity = Identity(
        kind="installation",
        login=f"{app.slug}[bot]",
        permissions=permissions,
        owner=login,
        repositories=installed.repositories,
        app_id=app.id,
        expires_at=call.store.now + TOKEN_LIFETIME,
    )
    chosen = _chosen(call, identity)
    if chosen is not None:
        identity.repositories = [repository.full_name for repository in chosen]
    view = View.of(call)
    answer = {
        "token": issue(call.store, identity),
        "expires_at": timestamp(call.store.now + TOKEN_LIFETIME),
        "permissions": permissions,
        "repository_selection": "all" if identity.repositories is None else "selected",
    }
    if chosen is not None:
        answer["repositories"] = [repositories.simple(view, repository) for repository in chosen]
    return Answer(201, answer)


@endpoint("GET", "/installation/repositories", statuses=(200, 403))
def read_repositories(call: Call) -> Answer:
    """List the repositories of an installation's token."""
    if call.identity.kind == "user":
        message = "You must authenticate with an installation access token in order to list "
        raise RefusedError(403, f"{message}repositories for an installation.")
    visible = list(_visible(call, call.identity))
    page, headers = paginate(call, visible)
    view = View.of(call)
    answer = {
        "total_count": len(visible),
        "repository_selection": "all" if call.identity.repositories is None else "selected",
        "repositories": [repositories.simple(view, repository) for repository in page],
    }
    return Answer(200, answer, headers)


def _app(call: Call) -> App:
    return call.store.apps[call.identity.app_id]


def _of_account(call: Call, account: str) -> Answer:
    login, installed = _installed(call, account)
    return Answer(200, apps.installation(View.of(call), _app(call), login, installed))


def _installed(call: Call, account: str) -> tuple[str, Installation]:
    for login, installed in _app(call).installations.items():
        if login.lower() == account.lower():
            return login, installed
    raise lookups.not_found()


def _permissions(call: Call, granted: Permissions) -> Permissions:
    """Return the requested permissions; the App must have them."""
    requested = body_fields.mapping(call.body, "permissions")
    if not requested:
        return granted
    for name, level in requested.items():
        if LEVELS.get(str(level), 9) > LEVELS.get(granted.get(name, ""), 0):
            message = "The permissions requested are not granted to this installation."
            raise RefusedError(422, message)
    return {**requested, "metadata": "read"}


def _chosen(call: Call, identity: Identity) -> list[Repository] | None:
    """Return the requested repositories, by name or id; None means all."""
    names = body_fields.listing(call.body, "repositories")
    numbers = body_fields.listing(call.body, "repository_ids")
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


def _names(repository: Repository, names: list[str]) -> bool:
    return repository.full_name.lower() in map(str.lower, names)
