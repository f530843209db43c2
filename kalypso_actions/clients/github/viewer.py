"""The account of the credential."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.github import Account

QUERY: Final = "query Viewer { viewer { login databaseId } }"


def account(github: GitHub, owner: str) -> Account:
    """Return the account of the credential for an owner; for an App or a job, its bot.

    `GET /user` is refused for these. Raises GitHubError.
    """
    data, _ = github.graphql(owner, "the token's account cannot be read", QUERY, {})
    viewer = data["viewer"]
    return Account(viewer["login"], viewer["databaseId"])
