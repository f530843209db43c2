"""Every status that an endpoint of the sandbox declares is provoked, and is GitHub's own answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest

from kalypso_sandbox import Exchange, Sandbox
from kalypso_sandbox.github.endpoints import ENDPOINTS, Endpoint, Routes
from tests.chain.direct_requests import direct_requests
from tests.git_repositories import programs
from tests.github_api import description
from tests.github_api.populated_sandbox import Scene
from tests.github_api.provocations import ON_SERVER, PROVOCATIONS, Provocation
from tests.github_api.traffic import GRAPHQL, check_client_request, check_events, check_exchanges
from tools.github_api.used_operations import OPERATIONS

REPOSITORY = "/repos/{owner}/{repo}"
DESCRIBED = {key: endpoint for key, endpoint in ENDPOINTS.items() if endpoint.path != GRAPHQL}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    yield from scenes(tmp_path_factory.mktemp("github"), "github.com")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    yield from scenes(tmp_path_factory.mktemp("server"), "ghes")


def scenes(folder: Path, flavour: Literal["github.com", "ghes"]) -> Iterator[Scene]:
    """Yield one scene; the last tests check its whole traffic."""
    with Sandbox(folder, programs(), flavour=flavour) as sandbox, direct_requests(sandbox):
        yield Scene(sandbox)
        check_exchanges(sandbox.traffic)
        check_events(sandbox.store.events)
        for exchange in sandbox.traffic:
            check_is_declared(exchange)


def check_is_declared(exchange: Exchange) -> None:
    endpoint = ENDPOINTS[exchange.method, exchange.template]
    assert exchange.status in declared(endpoint), (
        f"{exchange.method} {exchange.path} is answered with {exchange.status}, undeclared"
    )


def declared(endpoint: Endpoint) -> set[int]:
    """Return the endpoint's own statuses, and those of the checks before it."""
    return {*endpoint.statuses, *common_provocations(endpoint)}


def common_provocations(endpoint: Endpoint) -> Mapping[int, Provocation]:
    """Return a request for each status that every endpoint has, by status."""
    path = re.sub(r"\{\w+\}", "1", endpoint.path.removeprefix(REPOSITORY))
    of_repository = path != endpoint.path and endpoint.path.startswith(REPOSITORY)
    here, hidden, former = (
        f"/repos/acme/{name}{path}" if of_repository else path
        for name in ("fleet", "hidden", "former")
    )
    method, for_app = endpoint.method, is_for_app(endpoint)
    provocations = {401: Provocation(401, method, here, {} if endpoint.writes else None, "unknown")}
    if not for_app:
        provocations[403] = Provocation(403, method, here, who="app")
    if endpoint.writes:
        provocations[400] = Provocation(400, method, here, b"{", "app" if for_app else "owner")
    if of_repository and not for_app:
        provocations[404] = Provocation(404, method, hidden)
        status = 307 if endpoint.writes else 301
        provocations[status] = Provocation(status, method, former)
    return provocations


def is_for_app(endpoint: Endpoint) -> bool:
    path = endpoint.path
    return path == "/app" or path.startswith("/app/") or path.endswith("/installation")


def provoke(scene: Scene, provocation: Provocation) -> Exchange:
    scene.request(*provocation[1:])
    exchange = list(scene.sandbox.traffic)[-1]
    assert exchange.status == provocation.status, exchange.response_body
    check_exchanges([exchange])
    check_is_declared(exchange)
    if exchange.status < 300 and exchange.template != GRAPHQL:
        check_client_request(exchange)
    return exchange


@pytest.mark.parametrize(
    "provocation", PROVOCATIONS, ids=lambda request: " ".join(map(str, request[:3]))
)
def test_an_answer_is_githubs(scene: Scene, provocation: Provocation) -> None:
    provoke(scene, provocation)


@pytest.mark.parametrize(
    "provocation", ON_SERVER, ids=lambda request: " ".join(map(str, request[:3]))
)
def test_an_answer_is_that_of_github_enterprise_server(
    server: Scene, provocation: Provocation
) -> None:
    provoke(server, provocation)


@pytest.mark.slow
@pytest.mark.parametrize(
    "endpoint", DESCRIBED.values(), ids=lambda endpoint: f"{endpoint.method} {endpoint.path}"
)
def test_the_checks_before_an_endpoint(scene: Scene, endpoint: Endpoint) -> None:
    for provocation in common_provocations(endpoint).values():
        exchange = provoke(scene, provocation)
        assert (exchange.method, exchange.template) == (endpoint.method, endpoint.path)


@pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in DESCRIBED.values() if set(endpoint.permissions) - {"metadata: read"}],
    ids=lambda endpoint: f"{endpoint.method} {endpoint.path}",
)
def test_a_token_without_the_permission(scene: Scene, endpoint: Endpoint) -> None:
    provocation = common_provocations(endpoint)[401]
    provoke(scene, provocation._replace(status=403, who="powerless"))


def test_every_declared_status_is_provoked() -> None:
    routes = Routes(ENDPOINTS)
    provoked = defaultdict(set)
    for provocation in (*PROVOCATIONS, *ON_SERVER):
        path = provocation.path.partition("?")[0]
        path = path if path.startswith("/") else f"/repos/acme/fleet/{path}"
        route = routes.find(provocation.method, path)
        assert route, f"{provocation.method} {provocation.path} is no endpoint"
        provoked[route.endpoint.method, route.endpoint.path].add(provocation.status)
    missing = {
        f"{method} {path}": set(endpoint.statuses) - provoked[method, path]
        for (method, path), endpoint in ENDPOINTS.items()
        if not set(endpoint.statuses) <= provoked[method, path]
    }
    assert missing == {}


def test_the_description_is_of_the_endpoints_and_no_others() -> None:
    assert set(OPERATIONS) == set(DESCRIBED)


@pytest.mark.parametrize(
    "endpoint", DESCRIBED.values(), ids=lambda endpoint: f"{endpoint.method} {endpoint.path}"
)
def test_a_declared_status_is_one_of_githubs(endpoint: Endpoint) -> None:
    for status in declared(endpoint):
        description.describe(description.GITHUB).answer(endpoint.method, endpoint.path, status)
