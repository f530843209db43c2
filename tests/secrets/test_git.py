"""No other server gets a credential from git: not by redirects, submodules or registrations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kalypso_actions.clients.git import CredentialTable, RemoteRepositories, Signature, basic
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox import Sandbox
from tests.clients.git.remotes import remotes
from tests.git_repositories import programs
from tests.secrets.foreign_server import Listener, listening
from tests.secrets.proxy import between, redirected
from tests.secrets.secret_forms import found

FLEET = "acme/fleet"


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    with Sandbox(tmp_path / "sandbox", programs()) as made:
        made.create_repository(FLEET, {"README.md": "fleet\n"})
        yield made


@pytest.fixture
def other() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


def opened(token: str, *prefixes: str) -> RemoteRepositories:
    """Return remote repositories with a credential for these URLs."""
    table = CredentialTable({prefix: basic("x-access-token", token) for prefix in prefixes})
    return remotes(credentials=table.authorize)


def push(repositories: RemoteRepositories, url: str) -> object:
    before = repositories.heads(url, ["main"])["main"]
    commit = repositories.commit(
        url,
        parent=before,
        changes={"new.txt": b"1"},
        message="New",
        author=Signature("n", "n@example.com"),
        date=datetime(2026, 3, 1, tzinfo=UTC),
    )
    return repositories.push(url, commit, branch="main", expected=before)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("end", ["/info/refs", "/git-upload-pack", "/git-receive-pack"])
def test_redirects_that_lead_elsewhere(
    sandbox: Sandbox, other: Listener, end: str, status: int
) -> None:
    token = sandbox.create_token()
    with between(sandbox.url, redirected(other.url, status, end=end)) as changed:
        url = f"{changed.url}/{FLEET}"
        with opened(token, changed.url) as repositories, pytest.raises(KalypsoError) as caught:
            push(repositories, url)
    assert other.requests == []
    assert found([token], str(caught.value)) == []


def test_a_redirect_to_the_same_host_by_another_name(sandbox: Sandbox, other: Listener) -> None:
    token = sandbox.create_token()
    elsewhere = other.url.replace("127.0.0.1", "localhost")
    with (
        between(sandbox.url, redirected(elsewhere, 301)) as changed,
        opened(token, changed.url) as repositories,
        pytest.raises(KalypsoError, match=f"the server redirects git elsewhere to {elsewhere}"),
    ):
        repositories.fetch(f"{changed.url}/{FLEET}", branch="main")
    assert other.requests == []


def test_submodules_and_large_files_are_not_fetched(sandbox: Sandbox, other: Listener) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 1\n".format("0" * 64)
    files = {
        ".gitmodules": f'[submodule "m"]\n\tpath = m\n\turl = {other.url}/acme/m\n',
        ".lfsconfig": f"[lfs]\n\turl = {other.url}/lfs\n",
        ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "large.bin": pointer,
    }
    sandbox.commit(FLEET, files)
    url = f"{sandbox.url}/{FLEET}"
    with opened(sandbox.create_token(), sandbox.url) as repositories:
        read = repositories.fetch(url, branch="main")
        assert read.read(["large.bin"])["large.bin"].decode() == pointer
        assert push(repositories, url) == "pushed"
    assert other.requests == []


def test_a_server_that_asks_for_a_password_gets_none(sandbox: Sandbox, other: Listener) -> None:
    """A repository on another server gets requests without a credential."""
    token = sandbox.create_token()
    with opened(token, sandbox.url) as repositories, pytest.raises(KalypsoError):
        repositories.fetch(f"{other.url}/{FLEET}", branch="main")
    assert other.requests
    assert "authorization" not in other.text.lower()


def test_each_server_gets_its_own(sandbox: Sandbox, other: Listener) -> None:
    token, another = sandbox.create_token(), "glpat-0123456789abcdefghij"
    table = CredentialTable(
        {
            sandbox.url: basic("x-access-token", token),
            f"{other.url}/team": basic("kalypso", another),
        }
    )
    with remotes(credentials=table.authorize) as repositories:
        repositories.fetch(f"{sandbox.url}/{FLEET}", branch="main")
        for path in ("team/app", "teams/app"):
            with pytest.raises(KalypsoError) as caught:
                repositories.fetch(f"{other.url}/{path}", branch="main")
            assert found([token, another], str(caught.value)) == []
    to_team = [request for request in other.requests if request.startswith("GET /team/")]
    to_others = [request for request in other.requests if request not in to_team]
    assert to_team and all(found([another], request) for request in to_team)
    assert to_others and found([another], "".join(to_others)) == []
    assert found([token], other.text) == []
