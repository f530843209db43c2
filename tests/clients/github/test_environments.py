"""Environments and variables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import responses

from kalypso_actions.clients.github import GitHub, GitHubError, repositories
from tests.clients.github.connections import REPOSITORY, connect

Read = Callable[[GitHub], str | None]

VARIABLES: list[tuple[Read, str]] = [
    (
        lambda github: repositories.variable(github, "acme/fleet", "dev", "NEXT_ENVIRONMENT"),
        "/environments/dev/variables/NEXT_ENVIRONMENT",
    ),
    (
        lambda github: repositories.variable(github, "acme/fleet", "eu/west 1", "X"),
        "/environments/eu%2Fwest%201/variables/X",
    ),
]


def test_names_of_all_pages() -> None:
    url = f"{REPOSITORY}/environments"
    with responses.RequestsMock() as server:
        server.get(
            f"{url}?per_page=100",
            json={"total_count": 2, "environments": [{"name": "dev"}]},
            headers={"Link": f'<{url}?per_page=100&page=2>; rel="next"'},
        )
        server.get(
            f"{url}?page=2&per_page=100",
            json={"total_count": 2, "environments": [{"name": "qa"}]},
        )
        assert repositories.environments(connect(), "acme/fleet") == ("dev", "qa")


@pytest.mark.parametrize(("read", "path"), VARIABLES)
def test_a_variable(read: Read, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(REPOSITORY + path, json={"name": "X", "value": "qa"})
        assert read(connect()) == "qa"
        assert server.calls[0].request.path_url == "/repos/acme/fleet" + path


@pytest.mark.parametrize(("read", "path"), VARIABLES)
def test_a_variable_that_is_not_set(read: Read, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(REPOSITORY + path, status=404, json={"message": "Not Found"})
        server.get(REPOSITORY, json={"id": 1})
        assert read(connect()) is None


@pytest.mark.parametrize(("read", "path"), VARIABLES)
def test_an_unreadable_variable_is_not_unset(read: Read, path: str) -> None:
    with responses.RequestsMock() as server:
        server.get(REPOSITORY + path, status=403, json={"message": "No"})
        with pytest.raises(GitHubError, match="cannot be read"):
            read(connect())
