"""A server redirects an allowed repository to another one of its repositories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kalypso_actions.clients.git import CredentialTable, RemoteRepositories
from kalypso_actions.clients.github import GitHub, GitHubServer, TokenAuth, overviews
from kalypso_actions.commands.shared.reading.allowed_repositories import AllowedRepositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import RegisteredPath
from kalypso_sandbox import Sandbox
from tests.breaks import breaks, replaced, turned
from tests.clients.git.remotes import bare
from tests.clients.git.servers import Server, serving
from tests.git_repositories import programs

ACME, EVIL = "Basic YWNtZTphY21l", "Basic ZXZpbDpldmls"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with the repositories of acme and of others."""
    bare(tmp_path, "acme/app")
    bare(tmp_path, "evil/private")
    with serving(tmp_path / "srv") as started:
        yield started


def opened(server: Server, *globs: str) -> RemoteRepositories:
    """Return repositories with a credential for each owner; only these globs are allowed."""
    table = CredentialTable({f"{server.url}/acme": ACME, f"{server.url}/evil": EVIL})
    allowed = AllowedRepositories(globs, server.url, "acme/fleet")
    return RemoteRepositories(
        programs(),
        protocols=frozenset({"http"}),
        credentials=table.authorize,
        sleep=lambda _: None,
        check=allowed.check,
    )


def redirect(server: Server, place: str, status: int = 301) -> None:
    target = f"{server.url}{place}/info/refs?service=git-upload-pack"
    server.answers["/acme/old"] = [(status, {"Location": target})] * 9


@breaks(
    "a redirect's target is not held against the allowed repositories",
    turned(
        "kalypso_actions.clients.git.connection.Connection._new_url",
        "self._accept(target)",
        "target",
    ),
)
@pytest.mark.parametrize(
    "place",
    [
        "/evil/private",
        "/acme/..%2fevil/private",
        "/acme/../evil/private",
        "//evil/private",
        "/acme/app?x=/evil/private",
    ],
)
@pytest.mark.parametrize("status", [301, 307])
def test_the_target_is_not_asked_unless_it_is_allowed(
    server: Server, place: str, status: int
) -> None:
    redirect(server, place, status)
    with opened(server) as repositories, pytest.raises(KalypsoError) as caught:
        repositories.fetch(f"{server.url}/acme/old", branch="main")
    assert {path.partition("/info")[0] for _, path, _ in server.requests} == {"/acme/old"}
    assert {credential for _, _, credential in server.requests} <= {None, ACME}
    if place == "/evil/private":
        assert str(caught.value) == (
            f"{server.url}/acme/old: the branch 'main' cannot be read: the server redirects git to "
            f"{server.url}/evil/private: this repository is not among those that may be read "
            "(add it to allowed-repositories, or correct the URL)"
        )


def test_a_renamed_repository_is_read_by_its_new_name(server: Server) -> None:
    redirect(server, "/acme/app")
    with opened(server) as repositories:
        assert repositories.fetch(f"{server.url}/acme/old", branch="main").read(["x.yaml"])


def test_a_path_alone_is_followed(server: Server) -> None:
    target = "/acme/app/info/refs?service=git-upload-pack"
    server.answers["/acme/old"] = [(301, {"Location": target})] * 9
    with opened(server) as repositories:
        assert repositories.fetch(f"{server.url}/acme/old", branch="main").read(["x.yaml"])


@pytest.mark.parametrize("last", ["/acme/app", "/acme/old"])
def test_the_second_redirect_is_named(server: Server, last: str) -> None:
    redirect(server, "/acme/mid")
    target = f"{server.url}{last}/info/refs?service=git-upload-pack"
    server.answers["/acme/mid"] = [(301, {"Location": target})] * 9
    with opened(server) as repositories, pytest.raises(KalypsoError) as caught:
        repositories.fetch(f"{server.url}/acme/old", branch="main")
    assert f"redirects git again to {server.url}{last}" in caught.value.problem.message
    assert caught.value.problem.advice == "write the repository's new URL"


def test_a_transferred_repository_gets_the_credential_of_its_new_place(server: Server) -> None:
    redirect(server, "/evil/private")
    with opened(server, "acme/*", "evil/private") as repositories:
        assert repositories.fetch(f"{server.url}/acme/old", branch="main").read(["x.yaml"])
    given = {path.split("/")[1]: credential for _, path, credential in server.requests}
    assert given == {"acme": ACME, "evil": EVIL}


def test_the_repository_itself_is_not_asked_unless_it_is_allowed(server: Server) -> None:
    with opened(server) as repositories, pytest.raises(KalypsoError, match="among those"):
        repositories.fetch(f"{server.url}/evil/private", branch="main")
    assert server.requests == []


@breaks(
    "GraphQL follows a renamed repository",
    replaced(
        overviews.heads_query,
        lambda real, *values: real(*values).replace(", followRenames: false", ""),
    ),
)
def test_the_heads_of_a_renamed_repository_are_left_to_git(tmp_path: Path) -> None:
    """GraphQL follows a rename by itself, wherever it leads."""
    with Sandbox(tmp_path / "sandbox", programs()) as sandbox:
        sandbox.create_repository("acme/shop", {"README.md": "x"})
        server = GitHubServer(sandbox.url, sandbox.url)
        github = GitHub(server, TokenAuth(sandbox.create_token()), {}, sleep=lambda _: None)
        path = RegisteredPath("acme/shop", "main", "")
        assert overviews.read_registered_heads(github, [path])[path] is not None
        sandbox.rename_repository("acme/shop", "moved")
        assert overviews.read_registered_heads(github, [path])[path] is None
