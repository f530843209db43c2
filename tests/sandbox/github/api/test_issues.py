"""Issues with their labels and comments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.api_client import ApiClient


def made(github: ApiClient, title: str = "Broken", **more: Any) -> int:
    return int(github.made("POST", "issues", {"title": title, **more})["number"])


def names(answer: list[dict[str, Any]]) -> list[str]:
    return [label["name"] for label in answer]


def test_issues_and_pull_requests_share_numbers_and_lists(github: ApiClient) -> None:
    github.branch("side")
    assert (made(github), github.propose("side"), made(github)) == (1, 2, 3)
    listed = github.made("GET", "issues")
    shown = [(issue["number"], "pull_request" in issue) for issue in listed]
    assert shown == [(3, False), (2, True), (1, False)]
    assert github.refused("GET", "pulls/1") == "404 Not Found"


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [3, 1]),
        ("state=closed", [2]),
        ("state=all", [3, 2, 1]),
        ("labels=bug", [3, 1]),
        ("labels=BUG,kalypso", [3]),
        ("labels=none", []),
        ("direction=asc", [1, 3]),
        ("sort=comments&direction=desc", [1, 3]),
        ("creator=somebody", [3, 1]),
        ("creator=nobody", []),
        ("per_page=1&page=2", [1]),
    ],
)
def test_issues_are_found(github: ApiClient, query: str, numbers: list[int]) -> None:
    made(github, labels=["bug"])
    made(github, labels=["bug", "kalypso"])
    made(github, labels=["Bug", "Kalypso"])
    github.made("PATCH", "issues/2", {"state": "closed"})
    github.made("POST", "issues/1/comments", {"body": "c"})
    assert [issue["number"] for issue in github.made("GET", f"issues?{query}")] == numbers


@pytest.mark.parametrize(
    ("body", "state", "reason"),
    [
        ({"state": "closed"}, "closed", "completed"),
        ({"state": "closed", "state_reason": "duplicate"}, "closed", "duplicate"),
        ({"title": "other"}, "open", None),
    ],
)
def test_an_issue_is_closed_for_a_reason(
    github: ApiClient, body: dict[str, str], state: str, reason: str | None
) -> None:
    made(github)
    response = github.made("PATCH", "issues/1", body)
    assert (response["state"], response["state_reason"]) == (state, reason)
    assert (response["closed_at"] is None) == (response["closed_by"] is None) == (state == "open")


def test_an_issue_is_opened_again(github: ApiClient) -> None:
    made(github)
    github.made("PATCH", "issues/1", {"state": "closed"})
    response = github.made("PATCH", "issues/1", {"state": "open"})
    assert (response["state"], response["state_reason"]) == ("open", "reopened")
    assert (response["closed_at"], response["closed_by"]) == (None, None)


def test_the_events_of_an_issue(github: ApiClient) -> None:
    number = made(github, labels=["bug"])
    closed = {"state": "closed"}
    for body in ({"title": "Other", "labels": []}, closed, closed, {"state": "open"}):
        github.made("PATCH", f"issues/{number}", body, token=github.job)
    response = github.made("GET", f"issues/{number}/events")
    assert [
        (event["event"], event["actor"]["type"], event.get("label") or event.get("rename"))
        for event in response
    ] == [
        ("labeled", "User", {"name": "bug", "color": "ededed"}),
        ("renamed", "Bot", {"from": "Broken", "to": "Other"}),
        ("unlabeled", "Bot", {"name": "bug", "color": "ededed"}),
        ("closed", "Bot", None),
        ("reopened", "Bot", None),
    ]
    assert github.refused("GET", "issues/9/events") == "404 Not Found"


def test_labels_are_made_by_using_them(github: ApiClient) -> None:
    number = made(github, labels=["New"])
    added = github.made("POST", f"issues/{number}/labels", ["new", "Other"])
    assert names(added) == ["New", "Other"]
    assert names(github.made("GET", "labels")) == ["New", "Other"]
    assert github.made("GET", "labels/NEW")["color"] == "ededed"
    assert names(github.made("DELETE", f"issues/{number}/labels/OTHER")) == ["New"]
    refused = github.refused("DELETE", f"issues/{number}/labels/Other")
    assert refused == "404 Label does not exist"
    github.ask("DELETE", "labels/NEW")
    assert github.made("GET", f"issues/{number}")["labels"] == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"name": "KNOWN"}, "422 Validation Failed: name already_exists"),
        ({"name": "n" * 51}, "422 Validation Failed: name invalid"),
        ({"name": " "}, "422 Validation Failed: name invalid"),
        ({"name": "a", "color": "#00ff00"}, "422 Validation Failed: color invalid"),
        ({"name": "a", "description": "d" * 101}, "422 Validation Failed: description is too"),
    ],
)
def test_a_label_that_is_refused(github: ApiClient, body: dict[str, str], reason: str) -> None:
    github.made("POST", "labels", {"name": "Known"})
    assert github.refused("POST", "labels", body).startswith(reason)
    assert list(github.repository.labels) == ["known"]


def test_pull_requests_list_their_labels(github: ApiClient) -> None:
    github.branch("side")
    number = github.propose("side")
    github.made("POST", f"issues/{number}/labels", ["a", "b"])
    github.made("PATCH", f"issues/{number}", {"labels": ["b"]})
    response = [
        (event.payload["action"], event.payload["label"]["name"])
        for event in github.events("pull_request")[1:]
    ]
    assert response == [("labeled", "a"), ("labeled", "b"), ("unlabeled", "a")]
    assert names(github.made("GET", f"pulls/{number}")["labels"]) == ["b"]


def test_comments_are_written_changed_and_taken_away(github: ApiClient) -> None:
    number = made(github)
    first, second = (
        github.made("POST", f"issues/{number}/comments", {"body": text}) for text in "ab"
    )
    changed = github.made("PATCH", f"issues/comments/{first['id']}", {"body": "c"})
    assert changed["issue_url"].endswith(f"/issues/{number}")
    listed = github.made("GET", f"issues/{number}/comments")
    shown = [(comment["id"], comment["body"]) for comment in listed]
    assert shown == [(first["id"], "c"), (second["id"], "b")]
    assert github.made("GET", f"issues/{number}")["comments"] == 2
    github.made("DELETE", f"issues/comments/{first['id']}")
    assert github.made("GET", f"issues/{number}/comments") == [second]
    assert second["user"]["login"] == "somebody"


@pytest.mark.parametrize("path", ["issues/1/comments", "issues"])
@pytest.mark.parametrize(("length", "taken"), [(65_536, True), (65_537, False)])
def test_how_long_a_text_may_be(github: ApiClient, path: str, length: int, taken: bool) -> None:
    made(github)
    body = {"title": "t", "body": "é" * length}
    if taken:
        github.made("POST", path, body)
    else:
        assert "too long (maximum is 65536 characters)" in github.refused("POST", path, body)
