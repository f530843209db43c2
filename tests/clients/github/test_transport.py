"""Which requests are retried."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kalypso_actions.clients.github import GitHub, GitHubError, rest
from kalypso_actions.errors import KalypsoError
from tests.clients.github import connections
from tests.clients.github.connections import (
    TOKEN,
    Clock,
    Dropped,
    Reply,
    Scripted,
    connect,
    scripted,
)

FINE = Reply(body={"id": 1})
LIMITED = {"message": "You have exceeded a secondary rate limit."}
RETRY = {"Retry-After": "7"}

FAILURES: dict[str, Reply | Dropped] = {
    "500": Reply(500, {"message": "Server Error"}),
    "502 with a page for people": Reply(502, b"<html>Bad Gateway</html>"),
    "503": Reply(503, {}),
    "504": Reply(504, b""),
    "dropped": Dropped(),
    "a body that ends early": Reply(200, {"id": 1, "name": "x" * 50}, cut=20),
    "half a JSON": Reply(200, b'{"id": 1, "na'),
    "a page for people": Reply(200, b"<html>Sign in to the network</html>"),
    "an empty success": Reply(200, b""),
}
NOT_TAKEN: dict[str, Reply | Dropped] = {
    "429 that says how long": Reply(429, {}, RETRY),
    "429 that does not": Reply(429, {"message": "Too many requests"}),
    "403 that says how long": Reply(403, LIMITED, RETRY),
    "403 that does not": Reply(403, LIMITED),
}


def send(github: GitHub, method: str) -> object:
    body = None if method == "GET" else {"title": "x"}
    return github.call(
        "acme/fleet",
        "it cannot be done",
        lambda repository: rest.send(repository, method, "", body),
    )


def outcome(script: Scripted, method: str, clock: Clock) -> object:
    try:
        return send(connect(clock, url=script.url), method)
    except GitHubError as error:
        return error


@pytest.mark.parametrize("failure", [*FAILURES.values(), *NOT_TAKEN.values()])
def test_a_read_is_sent_again(failure: Reply | Dropped) -> None:
    with scripted(failure, FINE) as script:
        assert outcome(script, "GET", Clock()) == {"id": 1, "url": "/repos/acme/fleet"}
        assert script.requests == ["GET /repos/acme/fleet"] * 2


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize("failure", FAILURES.values())
def test_a_write_that_may_have_happened_is_not(failure: Reply | Dropped, method: str) -> None:
    with scripted(failure, FINE) as script:
        error = outcome(script, method, Clock())
    assert isinstance(error, GitHubError)
    assert error.uncertain
    assert script.requests == [f"{method} /repos/acme/fleet"]


@pytest.mark.parametrize("refusal", NOT_TAKEN.values())
def test_a_write_that_was_not_taken_is_sent_again(refusal: Reply) -> None:
    with scripted(refusal, FINE) as script:
        assert outcome(script, "POST", Clock()) == {"id": 1}
        assert script.requests == ["POST /repos/acme/fleet"] * 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refusal_is_final(method: str, status: int) -> None:
    with scripted(Reply(status, {"message": "No"}), FINE) as script:
        error = outcome(script, method, Clock())
    assert isinstance(error, GitHubError)
    assert (error.status, error.reason, error.uncertain) == (status, "No", False)
    assert len(script.requests) == 1


def test_a_failure_that_stays_is_reported_after_a_few_attempts() -> None:
    clock = Clock()
    with scripted(*[Reply(502, {})] * 5) as script:
        error = outcome(script, "GET", clock)
    assert isinstance(error, GitHubError)
    assert (error.status, error.uncertain) == (502, False)
    assert clock.waits == [1, 2, 4, 8]


def test_a_failing_server_may_say_how_long() -> None:
    clock = Clock()
    with scripted(Reply(503, {}, {"Retry-After": "30"}), FINE) as script:
        outcome(script, "GET", clock)
    assert clock.waits == [30]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_failed_connection_is_tried_again(method: str) -> None:
    clock = Clock()
    with scripted() as script:
        url = script.url
    with pytest.raises(GitHubError, match="the server cannot be reached") as caught:
        send(connect(clock, url=url), method)
    assert clock.waits == [1, 2, 4, 8]
    assert (caught.value.status, caught.value.uncertain) == (None, False)


def test_an_answer_without_content_has_none() -> None:
    with scripted(Reply(204, b"")) as script:
        assert outcome(script, "POST", Clock()) is None


def test_the_log_names_each_request_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with scripted(Reply(502, {}), FINE) as script:
        outcome(script, "GET", Clock())
    assert script.authorizations[0] is not None
    token = script.authorizations[0].removeprefix("Bearer ")
    assert "GET /repos/acme/fleet 502 0." in caplog.text
    assert "GET /repos/acme/fleet 200 0." in caplog.text
    assert token not in caplog.text


NO_REDIRECT = Reply(body={"id": 1})


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
    with scripted(moved(status, place), NO_REDIRECT) as script:
        assert read(connect(url=script.url)) == {"id": 1}
    assert script.requests == [
        "GET /repos/acme/old/pulls?state=open",
        "GET /repositories/7/pulls?state=open",
    ]


def test_a_write_follows_where_github_keeps_the_method() -> None:
    with scripted(moved(307, "{url}/repositories/7/pulls"), NO_REDIRECT) as script:
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
