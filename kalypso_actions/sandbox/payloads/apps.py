"""GitHub Apps and their installations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from kalypso_actions.sandbox.endpoints import Json
from kalypso_actions.sandbox.payloads import accounts
from kalypso_actions.sandbox.payloads.view import View, node_id, timestamp
from kalypso_actions.sandbox.store import App, Installation, Permissions

MADE: Final = timestamp(datetime(2024, 1, 1, tzinfo=UTC))
"""When Apps were made and installed is not known here."""


def app(view: View, one: App) -> Json:
    """GitHub's `integration`; the first account that has it counts as its owner."""
    owner = next(iter(one.installations), one.slug)
    page = f"{view.server_url}/apps/{one.slug}"
    return {
        "id": one.id,
        "slug": one.slug,
        "client_id": one.client_id,
        "node_id": node_id("Integration", one.id),
        "owner": accounts.simple(view, owner),
        "name": one.slug,
        "description": "",
        "external_url": page,
        "html_url": page,
        "created_at": MADE,
        "updated_at": MADE,
        "permissions": granted(one),
        "events": [],
        "installations_count": len(one.installations),
    }


def installation(view: View, one: App, login: str, installed: Installation) -> Json:
    """GitHub's `installation` of an App in an account."""
    url = f"{view.api_url}/app/installations/{installed.id}"
    account = view.store.account(login)
    return {
        "id": installed.id,
        "client_id": one.client_id,
        "account": accounts.simple(view, login),
        "repository_selection": "all" if installed.repositories is None else "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{view.api_url}/installation/repositories",
        "html_url": f"{view.server_url}/organizations/{quote(login)}/settings/installations/"
        f"{installed.id}",
        "app_id": one.id,
        "app_slug": one.slug,
        "target_id": account.id,
        "target_type": account.kind,
        "permissions": granted(one),
        "events": [],
        "created_at": MADE,
        "updated_at": MADE,
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": accounts.simple(view, login) if installed.suspended else None,
        "suspended_at": MADE if installed.suspended else None,
    }


def granted(one: App) -> Permissions:
    """What an App may do; whatever it may, it sees what repositories there are."""
    return {**one.permissions, "metadata": "read"}
