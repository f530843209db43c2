"""Retries of transient failures, renamed repositories, and refusals without a retry."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.git import CredentialTable
from kalypso_actions.clients.git.connection import INTERACTIVE_DELAYS
from kalypso_actions.errors import KalypsoError
from tests.clients.git.remotes import bare, remotes
from tests.clients.git.servers import serving


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the repository does not exist, or is private"),
        (403, "the credential may not read the repository"),
        (404, "the repository does not exist, or the credential may not see it"),
    ],
)
def test_refusals_say_what_to_change_and_are_not_repeated(
    tmp_path: Path, status: int, message: str
) -> None:
    with serving(tmp_path) as server:
        server.answers["/"] = [(status, {"WWW-Authenticate": "Basic"})] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match=message):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_transient_failures_are_tried_again(tmp_path: Path, status: int) -> None:
    _, head = bare(tmp_path)
    slept: list[float] = []
    with serving(tmp_path / "srv") as server:
        server.answers["/"] = [(status, {})] * 2
        with remotes(sleep=slept.append) as opened:
            assert opened.fetch(f"{server.url}/org/repo", branch="main").commit == head
    assert slept == [1.0, 2.0]


def test_trying_again_has_an_end(tmp_path: Path) -> None:
    slept: list[float] = []
    with serving(tmp_path) as server:
        server.answers["/"] = [(503, {})] * 9
        with (
            remotes(sleep=slept.append) as opened,
            pytest.raises(KalypsoError, match="error: 503"),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 4
    assert slept == [1.0, 2.0, 4.0]


def test_a_person_waits_for_one_retry(tmp_path: Path) -> None:
    slept: list[float] = []
    with serving(tmp_path) as server:
        server.answers["/"] = [(503, {})] * 9
        with (
            remotes(sleep=slept.append, delays=INTERACTIVE_DELAYS) as opened,
            pytest.raises(KalypsoError, match="error: 503"),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
        assert len(server.requests) == 2
    assert slept == [1.0]


def test_a_server_that_does_not_listen() -> None:
    slept: list[float] = []
    with remotes(sleep=slept.append) as opened, pytest.raises(KalypsoError, match="cannot be read"):
        opened.fetch("http://127.0.0.1:9/x", branch="main")
    assert len(slept) == 3


def test_redirect_to_another_server_is_not_followed(tmp_path: Path) -> None:
    bare(tmp_path)
    with serving(tmp_path / "srv") as elsewhere, serving(tmp_path / "srv") as server:
        target = f"{elsewhere.url}/org/repo/info/refs?service=git-upload-pack"
        server.answers["/org"] = [(301, {"Location": target})] * 9
        credentials = {server.url: "Basic c2VjcmV0"}
        with (
            remotes(credentials=CredentialTable(credentials).authorize) as opened,
            pytest.raises(
                KalypsoError, match=f"redirects git elsewhere to {elsewhere.url}/org/repo"
            ),
        ):
            opened.fetch(f"{server.url}/org/repo", branch="main")
    assert elsewhere.requests == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_repository_that_was_renamed_is_found_on_its_server(tmp_path: Path, status: int) -> None:
    _, head = bare(tmp_path, "new/name")
    with serving(tmp_path / "srv") as server:
        target = f"{server.url}/new/name/info/refs?service=git-upload-pack"
        server.answers["/old"] = [(status, {"Location": target})] * 9
        credentials = {f"{server.url}/old": "Basic c2VjcmV0"}
        with remotes(credentials=CredentialTable(credentials).authorize) as opened:
            files = opened.fetch(f"{server.url}/old/name", branch="main")
            assert files.commit == head
            assert files.repository == f"{server.url}/old/name"
            assert files.read(["x.yaml"]) == {"x.yaml": b"x"}
    assert {credential for _, path, credential in server.requests if "/new/" in path} == {None}


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        target = f"{server.url}/a/info/refs?service=git-upload-pack"
        server.answers["/a"] = [(301, {"Location": target})] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match="redirects git again to"):
            opened.fetch(f"{server.url}/a", branch="main")


@pytest.mark.parametrize("headers", [{}, {"Location": "ssh://-oProxyCommand=x/y"}])
def test_redirect_that_leads_nowhere(tmp_path: Path, headers: dict[str, str]) -> None:
    with serving(tmp_path) as server:
        server.answers["/"] = [(301, headers)] * 9
        with remotes() as opened, pytest.raises(KalypsoError, match="redirects git elsewhere"):
            opened.fetch(f"{server.url}/a", branch="main")
