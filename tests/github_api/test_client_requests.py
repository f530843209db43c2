"""Every function of the clients uses exactly the listed endpoints, as GitHub describes them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import kalypso_actions.clients.github as clients
from kalypso_actions.clients.github import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    branches,
)
from kalypso_sandbox import Exchange, Sandbox
from kalypso_sandbox.github.endpoints import ENDPOINTS
from tests.git_repositories import programs
from tests.github_api.client_calls import APP_ENDPOINTS, CALLS, CLIENT_ENDPOINTS, FLEET
from tests.github_api.populated_sandbox import Scene
from tests.github_api.traffic import by_client, check_exchanges

INFRASTRUCTURE = {"idempotent_writes"}
"""The other modules send their requests through it."""

METHODS = {"connection.identity", "connection.account"}
"""Methods of GitHub that send requests of their own."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Sandbox(tmp_path_factory.mktemp("sandbox"), programs()) as sandbox:
        yield Scene(sandbox)


def connect(scene: Scene, auth: TokenAuth | AppAuth) -> GitHub:
    """Connect without pauses between writes, which the sandbox does not need."""
    server = GitHubServer(scene.sandbox.api_url, scene.sandbox.url)
    return GitHub(server, auth, {}, sleep=lambda _: None)


def client_exchanges(scene: Scene) -> list[Exchange]:
    return [exchange for exchange in scene.sandbox.traffic if by_client(exchange)]


def endpoints(exchanges: list[Exchange]) -> set[str]:
    return {f"{exchange.method} {exchange.template}" for exchange in exchanges}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_uses_the_listed_endpoints(scene: Scene, name: str) -> None:
    before = len(client_exchanges(scene))
    CALLS[name].act(connect(scene, TokenAuth(scene.token("owner"))), scene)
    exchanges = client_exchanges(scene)[before:]
    check_exchanges(exchanges)
    assert endpoints(exchanges) == CALLS[name].endpoints


def test_every_function_is_listed() -> None:
    functions = set()
    for module in pkgutil.iter_modules(clients.__path__):
        loaded = importlib.import_module(f"{clients.__name__}.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            own = function.__module__ == loaded.__name__ and not name.startswith("_")
            if own and "github" in inspect.signature(function).parameters:
                functions.add(f"{module.name}.{name}")
    listed = {name for name in functions if name.partition(".")[0] not in INFRASTRUCTURE}
    assert listed | METHODS == set(CALLS)


def test_an_app_asks_for_its_installations(scene: Scene) -> None:
    before = len(client_exchanges(scene))
    auth = AppAuth(str(scene.app), scene.key, permissions={"contents": "read"})
    github = connect(scene, auth)
    branches.head(github, FLEET, "main")
    with pytest.raises(GitHubError, match="suspended"):
        branches.head(github, "somebody/fleet", "main")
    assert github.installations is not None
    assert github.installations.is_installed(FLEET)
    assert not github.installations.is_installed("acme/nothing")
    assert github.installations.installation("acme").permissions
    exchanges = client_exchanges(scene)[before:]
    check_exchanges(exchanges)
    assert endpoints(exchanges) == APP_ENDPOINTS | CALLS["branches.head"].endpoints


def test_the_sandbox_has_every_endpoint_of_the_clients() -> None:
    assert {f"{method} {path}" for method, path in ENDPOINTS} >= CLIENT_ENDPOINTS
