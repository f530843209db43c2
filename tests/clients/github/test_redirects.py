"""Redirects and links to pages are followed only on the same server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kalypso_actions.clients.github import GitHub, GitHubError
from kalypso_actions.errors import KalypsoError
from tests.clients.github import connections
from tests.clients.github.connections import TOKEN, Reply, Scripted, connect, scripted

FINE = Reply(body={"id": 1})


def moved(status: int, location: str) -> Reply:
    return Reply(status, {"message": "Moved Permanently"}, {"Location": location})


def read(github: GitHub) -> object:
    return connections.read(github, "acme/old", "/pulls", state="open")


def write(github: GitHub) -> object:
    return connections.write(github, "acme/old", "POST", "/pulls", {"title": "x"})


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("start", ["{url}", ""])
def test_a_read_follows_a_renamed_repository(status: int, start: str) -> None:
    place = start + "/repositories/7/pulls?state=open"
    with scripted(moved(status, place), FINE) as script:
        assert read(connect(url=script.url)) == {"id": 1}
    assert script.requests == [
        "GET /repos/acme/old/pulls?state=open",
        "GET /repositories/7/pulls?state=open",
    ]


def test_a_write_follows_where_github_keeps_the_method() -> None:
    with scripted(moved(307, "{url}/repositories/7/pulls"), FINE) as script:
        assert write(connect(url=script.url)) == {"id": 1}
    assert script.requests == ["POST /repos/acme/old/pulls", "POST /repositories/7/pulls"]


@pytest.mark.parametrize("status", [301, 302])
def test_a_write_does_not_become_another_request(status: int) -> None:
    with (
        scripted(moved(status, "{url}/repositories/7/pulls")) as script,
        pytest.raises(GitHubError, match="write the repository's new name") as caught,
    ):
        write(connect(url=script.url))
    assert not caught.value.uncertain
    assert len(script.requests) == 1


@pytest.mark.parametrize("call", [read, write])
@pytest.mark.parametrize("other", ["{other}/repos/acme/old/pulls", "//127.0.0.2/x"])
def test_no_other_host_gets_a_request(call: Callable[[GitHub], object], other: str) -> None:
    with scripted() as stranger, scripted() as script:
        script.replies.append(moved(307, other.format(other=stranger.url)))
        with pytest.raises(KalypsoError, match=r"outside of http://127\.0\.0\.1"):
            call(connect(url=script.url))
    assert stranger.requests == []
    assert script.authorizations == [f"Bearer {TOKEN}"]


def test_a_circle_ends() -> None:
    circle = [moved(301, "{url}/repos/acme/old/pulls")] * 5
    with (
        scripted(*circle) as script,
        pytest.raises(GitHubError, match="redirects in a circle"),
    ):
        read(connect(url=script.url))


def page(script: Scripted, link: str) -> Reply:
    return Reply(body=[{"number": 1}], headers={"Link": f'<{link}>; rel="next"'})


def test_pages_of_another_host_are_not_requested() -> None:
    with scripted() as stranger, scripted() as script:
        script.replies.append(page(script, f"{stranger.url}/repositories/7/pulls?page=2"))
        with pytest.raises(KalypsoError, match="set GITHUB_API_URL"):
            connections.read_all(connect(url=script.url), "acme/old", "/pulls")
    assert stranger.requests == []


def test_pages_keep_their_parameters_after_a_redirect() -> None:
    with scripted() as script:
        script.replies += [
            moved(301, "{url}/repositories/7/pulls?per_page=100&state=all"),
            page(script, "{url}/repositories/7/pulls?per_page=100&state=all&page=2"),
            Reply(body=[{"number": 2}]),
        ]
        github = connect(url=script.url)
        result = connections.read_all(github, "acme/old", "/pulls", state="all")
    assert [pull["number"] for pull in result] == [1, 2]
    assert script.requests[1:] == [
        "GET /repositories/7/pulls?per_page=100&state=all",
        "GET /repositories/7/pulls?page=2&per_page=100&state=all",
    ]
