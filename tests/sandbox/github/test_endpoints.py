"""The endpoint of a path."""

from __future__ import annotations

import pytest

from kalypso_sandbox.github.endpoints import Endpoint, Routes
from kalypso_sandbox.json_http import Answer

R = "/repos/{owner}/{repo}"
PATHS = [
    R,
    f"{R}/branches/{{branch}}",
    f"{R}/commits/{{ref}}",
    f"{R}/commits/{{ref}}/status",
    f"{R}/commits/{{commit_sha}}/pulls",
    f"{R}/compare/{{basehead}}",
    f"{R}/contents/{{path}}",
    f"{R}/environments/{{environment_name}}",
    f"{R}/environments/{{environment_name}}/variables/{{name}}",
    f"{R}/labels/{{name}}",
    "/app",
]
ROUTES = Routes(
    {("GET", path): Endpoint("GET", path, (), (), lambda _: Answer(200)) for path in PATHS}
)


@pytest.mark.parametrize(
    ("path", "template", "parameters"),
    [
        ("/repos/a/b", R, {}),
        ("/repos/a/b/branches/feat/a", f"{R}/branches/{{branch}}", {"branch": "feat/a"}),
        ("/repos/a/b/branches/feat%2Fa%20b", f"{R}/branches/{{branch}}", {"branch": "feat/a b"}),
        ("/repos/a/b/commits/x/status", f"{R}/commits/{{ref}}/status", {"ref": "x"}),
        ("/repos/a/b/commits/x/y/status", f"{R}/commits/{{ref}}/status", {"ref": "x/y"}),
        ("/repos/a/b/commits/x/pulls", f"{R}/commits/{{commit_sha}}/pulls", {"commit_sha": "x"}),
        ("/repos/a/b/commits/x/y", f"{R}/commits/{{ref}}", {"ref": "x/y"}),
        ("/repos/a/b/compare/x/1...y/2", f"{R}/compare/{{basehead}}", {"basehead": "x/1...y/2"}),
        ("/repos/a/b/contents/", f"{R}/contents/{{path}}", {"path": ""}),
        ("/repos/a/b/contents/c/d.yaml", f"{R}/contents/{{path}}", {"path": "c/d.yaml"}),
        (
            "/repos/a/b/environments/prod%2Feast/variables/X",
            f"{R}/environments/{{environment_name}}/variables/{{name}}",
            {"environment_name": "prod/east", "name": "X"},
        ),
        ("/repos/a/b/labels/%F0%9F%9A%80", f"{R}/labels/{{name}}", {"name": "🚀"}),
    ],
)
def test_an_endpoint_and_its_parameters(
    path: str, template: str, parameters: dict[str, str]
) -> None:
    route = ROUTES.find("GET", path)
    assert route is not None
    assert route.endpoint.path == template
    assert route.parameters == {"owner": "a", "repo": "b", **parameters}
    assert ROUTES.find("HEAD", path) == route
    assert ROUTES.find("POST", path) is None


@pytest.mark.parametrize(
    "path",
    ["/", "/repos/a", "/repos/a/b/", "/repos/a/b/c", "/repos/a/b/labels/c/d", "/apps", "/App"],
)
def test_no_endpoint(path: str) -> None:
    assert ROUTES.find("GET", path) is None
