"""The URLs of a GitHub server."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kalypso_actions.clients.github.server import ForeignUrlError, GitHubServer
from kalypso_actions.errors import UsageError

GITHUB = GitHubServer()
ENTERPRISE = GitHubServer("https://ghe.acme.test/api/v3/", "https://ghe.acme.test/")


@pytest.mark.parametrize(
    ("environment", "server"),
    [
        ({}, GITHUB),
        ({"GITHUB_API_URL": "", "GITHUB_SERVER_URL": ""}, GITHUB),
        (
            {
                "GITHUB_API_URL": "https://ghe.acme.test/api/v3",
                "GITHUB_SERVER_URL": "https://ghe.acme.test",
            },
            ENTERPRISE,
        ),
        (
            {
                "GITHUB_API_URL": "http://127.0.0.1:8080",
                "GITHUB_SERVER_URL": "http://localhost:8080",
            },
            GitHubServer("http://127.0.0.1:8080", "http://localhost:8080"),
        ),
    ],
)
def test_of_environment(environment: Mapping[str, str], server: GitHubServer) -> None:
    assert GitHubServer.of_environment(environment) == server


@pytest.mark.parametrize(
    ("api_url", "message"),
    [
        ("", "GITHUB_SERVER_URL is set, but GITHUB_API_URL is not"),
        ("http://ghe.acme.test/api/v3", "is not encrypted"),
        ("ftp://ghe.acme.test", "is not the URL of a server"),
        ("ghe.acme.test/api/v3", "is not the URL of a server"),
        ("https://", "is not the URL of a server"),
        ("https://ghe.acme.test:https", "is not the URL of a server"),
        ("https://[ghe.acme.test", "is not the URL of a server"),
        ("https://ghe.acme.test/api/v3?x=1", "is not the URL of a server"),
        ("https://me:secret@ghe.acme.test/api/v3", "contains a user name"),
    ],
)
def test_refuses(api_url: str, message: str) -> None:
    environment = {"GITHUB_API_URL": api_url, "GITHUB_SERVER_URL": "https://ghe.acme.test"}
    with pytest.raises(UsageError, match=message) as caught:
        GitHubServer.of_environment(environment)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("api_url", "graphql"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://ghe.acme.test/api/v3", "https://ghe.acme.test/api/graphql"),
        ("https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql"),
    ],
)
def test_graphql(api_url: str, graphql: str) -> None:
    assert GitHubServer(api_url, "https://ghe.acme.test").graphql_url == graphql


@pytest.mark.parametrize(
    ("server", "url", "whole"),
    [
        (GITHUB, "/repos/acme/fleet", "https://api.github.com/repos/acme/fleet"),
        (GITHUB, "https://api.github.com/repos/a/b?page=2", ""),
        (GITHUB, "https://API.github.com:443/repos/a/b", ""),
        (GITHUB, "https://api.github.com/graphql", ""),
        (ENTERPRISE, "/repos/acme/fleet", "https://ghe.acme.test/api/v3/repos/acme/fleet"),
        (ENTERPRISE, "https://ghe.acme.test/api/v3/repos/a/b", ""),
        (ENTERPRISE, "https://ghe.acme.test/api/graphql", ""),
    ],
)
def test_its_own_urls(server: GitHubServer, url: str, whole: str) -> None:
    assert server.api(url) == (whole or url)


@pytest.mark.parametrize(
    ("server", "url"),
    [
        (GITHUB, "https://uploads.github.com/repos/a/b"),
        (GITHUB, "https://api.github.com.evil.test/repos/a/b"),
        (GITHUB, "https://api.github.com@evil.test/repos/a/b"),
        (GITHUB, "https://api.github.com:8443/repos/a/b"),
        (GITHUB, "http://api.github.com/repos/a/b"),
        (ENTERPRISE, "https://ghe.acme.test/acme/fleet/raw/main/x.json"),
        (ENTERPRISE, "https://ghe.acme.test/api/v30/repos/a/b"),
        (ENTERPRISE, "https://api.github.com/repos/a/b"),
        (GITHUB, "https://api.github.com:99999/repos/a/b"),
        (GITHUB, "https://[api.github.com/repos/a/b"),
        # In a request, they would be other paths: /user, and everybody's repositories.
        (GITHUB, "/repos/../user"),
        (GITHUB, "/repos/acme/fleet/git/ref/heads/../../../../../user"),
        (GITHUB, "/repos/acme/./fleet"),
    ],
)
def test_urls_of_others(server: GitHubServer, url: str) -> None:
    with pytest.raises(ForeignUrlError):
        server.api(url)
    if not url.startswith("/"):
        with pytest.raises(ForeignUrlError):
            server.api(url, seen_from=f"{server.api_url}/repos/a/b")


@pytest.mark.parametrize(
    ("server", "url", "owner"),
    [
        (GITHUB, "https://github.com/acme/fleet", "acme"),
        (GITHUB, "https://GitHub.com:443/acme/fleet.git", "acme"),
        (GITHUB, "https://github.com/", None),
        (GITHUB, "https://github.com.evil.test/acme/fleet", None),
        (GITHUB, "https://github.com@evil.test/acme/fleet", None),
        (GITHUB, "http://github.com/acme/fleet", None),
        (GITHUB, "https://gist.github.com/acme/1", None),
        (GITHUB, "ssh://git@github.com/acme/fleet", None),
        (GITHUB, "git@github.com:acme/fleet", None),
        (GITHUB, "https://github.com:x/acme/fleet", None),
        (GITHUB, "https://[github.com/acme/fleet", None),
        (ENTERPRISE, "https://ghe.acme.test/acme/fleet", "acme"),
        (ENTERPRISE, "https://github.com/acme/fleet", None),
    ],
)
def test_owner(server: GitHubServer, url: str, owner: str | None) -> None:
    assert server.owner(url) == owner
