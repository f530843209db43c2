"""The client of GitHub's API sends nothing to other servers, whatever URLs GitHub sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from kalypso_actions.clients.github import AppAuth, GitHub, GitHubError, GitHubServer, TokenAuth
from kalypso_sandbox import Sandbox
from tests.git_repositories import programs
from tests.github_api.client_calls import CALLS
from tests.github_api.populated_sandbox import Scene
from tests.secrets.foreign_server import Listener, listening
from tests.secrets.proxy import between, linked, redirected


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Sandbox(tmp_path_factory.mktemp("sandbox"), programs()) as sandbox:
        yield Scene(sandbox)


@pytest.fixture
def other() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


EVERY_CALL = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if number % 5 == 0 else pytest.mark.slow)
        for number, name in enumerate(CALLS)
    ],
)
"""Every function of the clients; `make test` tries a fifth, since one transport serves them all."""


def connect(url: str, auth: TokenAuth | AppAuth) -> GitHub:
    return GitHub(GitHubServer(url, url), auth, {}, sleep=lambda _: None)


def token(scene: Scene) -> TokenAuth:
    return TokenAuth(scene.token("owner"))


@EVERY_CALL
def test_links_that_lead_elsewhere(scene: Scene, other: Listener, name: str) -> None:
    front: list[str] = []
    with between(scene.sandbox.url, linked(lambda: front[0], other.url)) as changed:
        front.append(changed.url)
        with suppress(GitHubError):
            CALLS[name].act(connect(changed.url, token(scene)), scene)
    assert other.requests == []


@EVERY_CALL
def test_redirects_that_lead_elsewhere(scene: Scene, other: Listener, name: str) -> None:
    for status in (301, 307):
        meddle = redirected(other.url, status)
        with between(scene.sandbox.url, meddle) as changed, pytest.raises(GitHubError):
            CALLS[name].act(connect(changed.url, token(scene)), scene)
    assert other.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("end", ["", "/access_tokens"])
def test_redirects_of_what_an_app_asks(
    scene: Scene, other: Listener, status: int, end: str
) -> None:
    app = AppAuth(str(scene.app), scene.key)
    with between(scene.sandbox.url, redirected(other.url, status, end=end)) as changed:
        for name in ("branches.head", "overviews.read_registered_heads"):
            with pytest.raises(GitHubError):
                CALLS[name].act(connect(changed.url, app), scene)
        with pytest.raises(GitHubError):
            connect(changed.url, app).authorize(f"{changed.url}/acme/fleet")
    assert other.requests == []


def test_links_are_refused_where_they_are_followed(scene: Scene, other: Listener) -> None:
    front: list[str] = []
    with between(scene.sandbox.url, linked(lambda: front[0], other.url)) as changed:
        front.append(changed.url)
        scene.issue()  # links are followed from pages that have items
        with pytest.raises(GitHubError, match="outside of"):
            CALLS["issues.candidates"].act(connect(changed.url, token(scene)), scene)


def test_git_gets_no_credential_for_another_server(scene: Scene, other: Listener) -> None:
    for auth in (token(scene), AppAuth(str(scene.app), scene.key)):
        github = connect(scene.sandbox.url, auth)
        assert github.authorize(f"{scene.sandbox.url}/acme/fleet").startswith("Basic ")
        assert github.authorize(f"{other.url}/acme/fleet") == ""
        assert github.authorize(scene.sandbox.url.replace("127.0.0.1", "localhost")) == ""
