"""GitHub Apps and their installations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.store import App, Installation, Permissions

CREATED_AT: Final = timestamp(datetime(2024, 1, 1, tzinfo=UTC))
"""A fixed time, because the sandbox does not record when Apps are created and installed."""


def app(view: View, app: App) -> Json:
    """Return GitHub's `integration`; the owner is the first account that installed it."""
    owner = next(iter(app.installations), app.slug)
    page = f"{view.server_url}/apps/{app.slug}"
    return {
        "id": app.id,
        "slug": app.slug,
        "client_id": app.client_id,
        "node_id": node_id("Integration", app.id),
        "owner": accounts.simple(view, owner),
        "name": app.slug,
        "description": "",
        "external_url": page,
        "html_url": page,
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
        "permissions": granted(app),
        "events": [],
        "installations_count": len(app.installations),
    }


def installation(view: View, app: App, login: str, installed: Installation) -> Json:
    """Return GitHub's `installation` of an App in an account."""
    url = f"{view.api_url}/app/installations/{installed.id}"
    account = view.store.account(login)
    return {
        "id": installed.id,
        "client_id": app.client_id,
        "account": accounts.simple(view, login),
        "repository_selection": "all" if installed.repositories is None else "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{view.api_url}/installation/repositories",
        "html_url": f"{view.server_url}/organizations/{quote(login)}/settings/installations/"
        f"{installed.id}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": account.id,
        "target_type": account.kind,
        "permissions": granted(app),
        "events": [],
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": accounts.simple(view, login) if installed.suspended else None,
        "suspended_at": CREATED_AT if installed.suspended else None,
    }


def granted(app: App) -> Permissions:
    """Return an App's permissions, which always include `metadata`."""
    return {**app.permissions, "metadata": "read"}
