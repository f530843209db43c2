from __future__ import annotations

import pytest
import responses

from kalypso_actions.clients.github import AppAuth, GitHubError, rest
from kalypso_actions.clients.github.apps import NoInstallationError
from tests.clients.github.app_keys import pem
from tests.clients.github.connections import API, connect, read_all, read_optional, write
from tests.clients.github.scripted_github import (
    LOST,
    REPOSITORY,
    VISIBLE,
    conversation,
    page,
    refusal,
)

LABEL = {"name": "x"}


def test_every_page_is_read_with_the_most_entries() -> None:
    steps = [
        page(("GET /issues", 200, [{"name": "a"}]), "/issues?page=2&per_page=100"),
        page(("GET /issues", 200, [{"name": "b"}]), "/issues?page=3&per_page=100"),
        ("GET /issues", 200, []),
    ]
    with conversation(*steps) as recorded:
        result = read_all(recorded.github, REPOSITORY, "/issues", state="all")
        assert result == [{"name": "a"}, {"name": "b"}]
        assert recorded.queries() == [
            {"state": "all", "per_page": "100"},
            {"page": "2", "per_page": "100"},
            {"page": "3", "per_page": "100"},
        ]


def test_a_page_that_is_lost_is_no_shorter_list() -> None:
    step = page(("GET /issues", 200, [{"name": "a"}]), "/issues?page=2")
    with (
        conversation(step, ("GET /issues", 403, refusal("No"))) as recorded,
        pytest.raises(GitHubError, match=r"it cannot be listed: GitHub says: No"),
    ):
        read_all(recorded.github, REPOSITORY, "/issues")


def test_a_missing_object_of_a_visible_repository_is_none() -> None:
    with conversation(("GET /labels/x", 404, refusal("Not Found")), VISIBLE) as recorded:
        assert read_optional(recorded.github, REPOSITORY, "/labels/x") is None


def test_advice_belongs_to_the_words_of_github() -> None:
    advice = {"no peas": "buy some", "no carrots": "grow some"}
    with (
        conversation(
            ("POST /labels", 422, refusal("Validation Failed", "No carrots here"))
        ) as recorded,
        pytest.raises(GitHubError) as caught,
    ):
        write(recorded.github, REPOSITORY, "POST", "/labels", LABEL, advice=advice)
    error = caught.value
    assert (error.problem.advice, error.status, error.uncertain) == ("grow some", 422, False)
    assert (
        error.problem.message
        == "it cannot be written: GitHub says: Validation Failed: No carrots here"
    )
    assert error.errors == ({"resource": "R", "code": "custom", "message": "No carrots here"},)


def test_the_advice_is_for_this_request_alone() -> None:
    github = connect(auth=AppAuth("1234", pem()))
    with responses.RequestsMock() as server:
        for owners in ("orgs", "users"):
            server.get(f"{API}/{owners}/acme/installation", status=404, json=refusal("Not Found"))
        with pytest.raises(NoInstallationError) as caught:
            write(github, REPOSITORY, "POST", "/labels", advice={"not installed": "make it"})
    assert caught.value.problem.advice.startswith("install it for acme")


def test_a_write_is_sent_once() -> None:
    with conversation(("POST /labels", LOST, None)) as recorded:
        with pytest.raises(GitHubError) as caught:
            write(recorded.github, REPOSITORY, "POST", "/labels", LABEL)
        assert caught.value.uncertain
        assert recorded.bodies("POST") == [LABEL]
        assert recorded.slept == []


def test_a_name_is_one_segment() -> None:
    assert rest.segment("a/b c#ä") == "a%2Fb%20c%23%C3%A4"
