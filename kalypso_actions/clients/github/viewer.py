"""The account of the credential."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.github import Account
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.urls import owner_of

QUERY: Final = "query Viewer { viewer { login databaseId } }"


def account(github: GitHub, owner: str) -> Account:
    """Return the account of the credential for an owner; for an App or a job, its bot.

    Read the account once, by GraphQL, since GitHub refuses `GET /user` to Apps and jobs. Raises
    GitHubError.
    """
    key = owner.lower()
    if key not in github.accounts:
        data, _ = github.graphql(owner, "the token's account cannot be read", QUERY, {})
        viewer = data["viewer"]
        github.accounts[key] = Account(viewer["login"], viewer["databaseId"])
    return github.accounts[key]


def identity(github: GitHub, repository: str) -> Identity:
    """Return who writes to a repository with this credential. Raises GitHubError."""
    login = account(github, owner_of(repository) or "").login
    return Identity(login, github.former_identities)
