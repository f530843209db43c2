from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHub, GitHubError, GitHubServer, TokenAuth, rest
from kalypso_actions.clients.github.connection import NoInstallationError
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
        result = rest.read_all(
            recorded.github, REPOSITORY, "no issues", "/issues", {"state": "all"}
        )
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
        pytest.raises(GitHubError, match=r"no issues: GitHub says: No"),
    ):
        rest.read_all(recorded.github, REPOSITORY, "no issues", "/issues")


def test_a_missing_object_of_a_visible_repository_is_none() -> None:
    with conversation(("GET /labels/x", 404, refusal("Not Found")), VISIBLE) as recorded:
        assert rest.read_optional(recorded.github, REPOSITORY, "no x", "/labels/x") is None


def test_advice_belongs_to_the_words_of_github() -> None:
    advice = {"no peas": "buy some", "no carrots": "grow some"}
    with (
        conversation(
            ("POST /labels", 422, refusal("Validation Failed", "No carrots here"))
        ) as recorded,
        pytest.raises(GitHubError) as caught,
    ):
        rest.write(recorded.github, REPOSITORY, "no x", "POST", "/labels", LABEL, advice=advice)
    error = caught.value
    assert (error.problem.advice, error.status, error.uncertain) == ("grow some", 422, False)
    assert error.problem.message == "no x: GitHub says: Validation Failed: No carrots here"
    assert error.errors == ({"resource": "R", "code": "custom", "message": "No carrots here"},)


class NowhereInstalled(GitHub):
    def call(self, *_: Any, **__: Any) -> Any:
        raise NoInstallationError("not installed", None, "install it", reason="Not Found")


def test_the_advice_is_for_this_request_alone() -> None:
    github = NowhereInstalled(GitHubServer(), TokenAuth("t"), {})
    with pytest.raises(NoInstallationError) as caught:
        rest.write(github, REPOSITORY, "no x", "POST", "/labels", advice={"not found": "make it"})
    assert caught.value.problem.advice == "install it"


def test_a_write_is_sent_once() -> None:
    with conversation(("POST /labels", LOST, None)) as recorded:
        with pytest.raises(GitHubError) as caught:
            rest.write(recorded.github, REPOSITORY, "no x", "POST", "/labels", LABEL)
        assert caught.value.uncertain
        assert recorded.bodies("POST") == [LABEL]
        assert recorded.slept == []


def test_a_name_is_one_segment() -> None:
    assert rest.segment("a/b c#ä") == "a%2Fb%20c%23%C3%A4"
