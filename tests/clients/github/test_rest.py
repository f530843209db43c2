from __future__ import annotations

import pytest

from kalypso_actions.clients.github import GitHubError, rest
from tests.clients.github.scripts import LOST, REPOSITORY, VISIBLE, conversation, page, refusal


def test_every_page_is_read_with_the_most_entries() -> None:
    steps = [
        page(("GET /labels", 200, [{"name": "a"}]), "/labels?page=2&per_page=100"),
        page(("GET /labels", 200, [{"name": "b"}]), "/labels?page=3&per_page=100"),
        ("GET /labels", 200, []),
    ]
    with conversation(*steps) as told:
        found = rest.read_all(told.github, REPOSITORY, "no labels", "/labels", {"x": "y"})
        assert found == [{"name": "a"}, {"name": "b"}]
        assert told.queries() == [
            {"x": "y", "per_page": "100"},
            {"page": "2", "per_page": "100"},
            {"page": "3", "per_page": "100"},
        ]


def test_a_page_that_is_lost_is_no_shorter_list() -> None:
    step = page(("GET /labels", 200, [{"name": "a"}]), "/labels?page=2")
    with conversation(step, ("GET /labels", 403, refusal("No"))) as told:
        with pytest.raises(GitHubError, match=r"no labels: GitHub says: No"):
            rest.read_all(told.github, REPOSITORY, "no labels", "/labels")


def test_what_is_absent_is_none_where_the_repository_is_seen() -> None:
    with conversation(("GET /x", 404, refusal("Not Found")), VISIBLE) as told:
        assert rest.read_optional(told.github, REPOSITORY, "no x", "/x") is None


def test_advice_belongs_to_the_words_of_github() -> None:
    advice = {"no CARROTS": "grow some", "no peas": "buy some"}
    with conversation(("POST /x", 422, refusal("Validation Failed", "No carrots here"))) as told:
        with pytest.raises(GitHubError) as caught:
            rest.write(told.github, REPOSITORY, "no x", "POST", "/x", {}, advice=advice)
    error = caught.value
    assert (error.problem.advice, error.status, error.uncertain) == ("grow some", 422, False)
    assert error.problem.message == "no x: GitHub says: Validation Failed: No carrots here"
    assert error.errors == ({"resource": "R", "code": "custom", "message": "No carrots here"},)


def test_a_write_is_sent_once() -> None:
    with conversation(("POST /x", LOST, None)) as told:
        with pytest.raises(GitHubError) as caught:
            rest.write(told.github, REPOSITORY, "no x", "POST", "/x", {"a": 1})
        assert caught.value.uncertain
        assert told.bodies("POST") == [{"a": 1}]
        assert told.slept == []


def test_a_name_is_one_segment() -> None:
    assert rest.segment("a/b c#ä") == "a%2Fb%20c%23%C3%A4"
