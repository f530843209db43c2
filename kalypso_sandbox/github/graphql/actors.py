"""Accounts in GraphQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.github.payloads.view import node_id


def actor(call: Call, login: str) -> Mapping[str, Any]:
    """Return GraphQL's `Actor`; the login of a bot lacks REST's `[bot]`."""
    account = call.store.account(login)
    kind = "Bot" if account.kind == "Bot" else "User"
    return {
        "__typename": kind,
        "id": node_id(kind, account.id),
        "databaseId": account.id,
        "login": account.login.removesuffix("[bot]"),
    }
