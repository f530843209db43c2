"""Repositories.

https://docs.github.com/rest/repos/repos
"""

from __future__ import annotations

import re
from typing import Final

from kalypso_sandbox.github.access import allowed
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, endpoint, invalid
from kalypso_sandbox.github.payloads.accounts import (
    own_person,
    simple_repository,
    user,
)
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import REPOSITORY

INVALID_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9._-]+")
"""The characters that GitHub replaces with a hyphen."""


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
