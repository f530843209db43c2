"""GitHub Apps: their installations, and the scope of their tokens."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from kalypso_sandbox.store import Permissions
from tests.sandbox.api_client import ApiClient
from tests.sandbox.served_sandbox import NOON

GRANTED: Permissions = {"contents": "write", "issues": "read"}


class Asked:
    """Install an App in acme, for some of its repositories or all."""

    def __init__(self, github: ApiClient, repositories: list[str] | None = None) -> None:
        self.github = github
        github.sandbox.create_repository("acme/other")
        github.sandbox.create_repository("other/fleet")
        self.id, key = github.sandbox.create_app("acme", GRANTED, repositories=repositories)
        seconds = int(NOON.timestamp())
        claims = {"iat": seconds - 5, "exp": seconds + 300, "iss": str(self.id)}
        self.jwt = jwt.encode(claims, key, algorithm="RS256")

    def made(self, method: str, path: str, body: Any = None) -> Any:
        return self.github.made(method, path, body, token=self.jwt)

    def refused(self, method: str, path: str, body: Any = None) -> str:
        return self.github.refused(method, path, body, token=self.jwt)

    @property
    def tokens(self) -> str:
        number = self.made("GET", "/orgs/acme/installation")["id"]
        return f"/app/installations/{number}/access_tokens"


def test_an_app_is_found_by_its_accounts_and_repositories(github: ApiClient) -> None:
    app = Asked(github, ["acme/fleet"])
    installation = app.made("GET", "/orgs/ACME/installation")
    assert installation["repository_selection"] == "selected"
    assert app.made("GET", "/users/acme/installation") == installation
    assert app.made("GET", "/repos/acme/fleet/installation") == installation
    assert app.made("GET", "/app/installations") == [installation]
    assert installation["app_id"] == app.id
    for path in ("/orgs/other/installation", "/repos/acme/other/installation"):
        assert app.refused("GET", path) == "404 Not Found"


def test_a_token_for_all_repositories_and_permissions(github: ApiClient) -> None:
    app = Asked(github)
    response = app.made("POST", app.tokens)
    assert response["permissions"] == {"contents": "write", "issues": "read", "metadata": "read"}
    assert response["expires_at"] == "2026-03-01T13:00:00Z"
    assert response["repository_selection"] == "all"
    for name in ("acme/fleet", "acme/other"):
        github.made("GET", f"/repos/{name}", token=response["token"])


def test_a_token_for_some_repositories_and_permissions(github: ApiClient) -> None:
    app = Asked(github)
    body = {"repositories": ["Fleet"], "permissions": {"contents": "read"}}
    response = app.made("POST", app.tokens, body)
    assert response["permissions"] == {"contents": "read", "metadata": "read"}
    assert [repository["full_name"] for repository in response["repositories"]] == ["acme/fleet"]
    assert response["repository_selection"] == "selected"
    token = response["token"]
    assert github.refused("GET", "/repos/acme/other", token=token) == "404 Not Found"
    ref = {"ref": "refs/heads/a", "sha": github.root}
    assert github.refused("POST", "git/refs", ref, token=token).startswith("403 Resource not")
    number = github.repository.id
    assert app.made("POST", app.tokens, {"repository_ids": [number]})["repositories"]


def test_an_app_acts_as_its_bot(github: ApiClient) -> None:
    app = Asked(github)
    token = app.made("POST", app.tokens)["token"]
    github.made("POST", "git/refs", {"ref": "refs/heads/a", "sha": github.root}, token=token)
    event = github.events("push")[-1]
    assert (event.actor, event.starts_workflows) == ("kalypso[bot]", True)
    assert event.payload["sender"]["type"] == "Bot"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"permissions": {"issues": "write"}}, "The permissions requested are not granted"),
        ({"permissions": {"actions": "read"}}, "The permissions requested are not granted"),
        ({"repositories": ["other"]}, "There is at least one repository that does not exist"),
        ({"repositories": ["nowhere"]}, "There is at least one repository that does not exist"),
        ({"repository_ids": [1]}, "There is at least one repository that does not exist"),
    ],
)
def test_a_token_for_more_than_was_granted(
    github: ApiClient, body: dict[str, Any], reason: str
) -> None:
    app = Asked(github, ["acme/fleet"])
    assert app.refused("POST", app.tokens, body).startswith(f"422 {reason}")
