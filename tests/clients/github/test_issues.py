from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, comments, issues
from tests.clients.github.response_bodies import comment, issue
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, page, refusal

LIST = "GET /issues"
POST = "POST /issues"
GET = "GET /issues/3"
PATCH = "PATCH /issues/3"

OURS = issue()
CLOSED = issue(state="closed")
STALE = issue(body="another reason")
FOREIGN = [issue(1, title="it fails"), issue(2, title="It fails "), issue(4, title="Other")]
PULL = issue(5, pull_request={"url": "https://api.github.com/repos/acme/fleet/pulls/5"})


def listed(*result: Any) -> Step:
    return (LIST, 200, [*FOREIGN, PULL, *result])


NOWHERE = [listed(), listed()]


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([listed(OURS), listed()], "unchanged"),
        ([*NOWHERE, (POST, 201, OURS), listed(OURS)], "created"),
        ([*NOWHERE, (POST, 201, OURS), listed()], "created"),
        ([*NOWHERE, (POST, LOST, None), listed(OURS), listed(OURS)], "created"),
        ([*NOWHERE, (POST, 502, None), listed(), (POST, 201, OURS), listed(OURS)], "created"),
        ([listed(STALE), listed(), (PATCH, 200, OURS)], "updated"),
        ([listed(STALE), listed(), (PATCH, LOST, None), (GET, 200, OURS)], "updated"),
        (
            [listed(STALE), listed(), (PATCH, 500, None), (GET, 200, STALE), (PATCH, 200, OURS)],
            "updated",
        ),
        ([listed(), listed(CLOSED), (PATCH, 200, OURS)], "updated"),
        # Open issues precede closed ones; among these, older ones precede newer ones.
        ([listed(OURS), listed(issue(1, state="closed"))], "unchanged"),
    ],
)
def test_there_is_one_open_issue_of_the_title(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        result, change = issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
    assert (result.number, result.state, result.body, change) == (3, "open", "because", outcome)


def test_issues_are_looked_for_in_lists() -> None:
    with conversation(*NOWHERE, (POST, 201, OURS), listed(OURS)) as recorded:
        issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
        assert recorded.queries() == [
            {"state": "open", "sort": "created", "direction": "asc", "per_page": "100"},
            {
                "state": "closed",
                "sort": "created",
                "direction": "asc",
                "per_page": "100",
                "labels": "kalypso",
            },
            {
                "state": "open",
                "sort": "created",
                "direction": "desc",
                "per_page": "100",
                "labels": "kalypso",
            },
        ]
        assert recorded.bodies("POST") == [
            {"title": "It fails", "body": "because", "labels": ["kalypso"]}
        ]


TWIN = issue(6)
CLOSING_OF_TWIN: list[Step] = [
    ("GET /issues/6/comments", 200, []),
    ("POST /issues/6/comments", 201, comment(body=f"{issues.DUPLICATE}\nDuplicate of #3")),
    ("GET /issues/6/comments", 200, []),
    ("PATCH /issues/6", 200, issue(6, state="closed")),
]


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        # A proxy has delivered the request twice, and has returned the second response.
        ([*NOWHERE, (POST, 201, TWIN), listed(OURS, TWIN), *CLOSING_OF_TWIN], "created"),
        # The run ended before it saw the duplicate.
        ([listed(TWIN, OURS), listed(), *CLOSING_OF_TWIN], "unchanged"),
        # The run ended in between.
        (
            [
                listed(OURS, TWIN),
                listed(),
                (
                    "GET /issues/6/comments",
                    200,
                    [comment(body=f"{issues.DUPLICATE}\nDuplicate of #3")],
                ),
                ("PATCH /issues/6", LOST, None),
                ("GET /issues/6", 200, issue(6, state="closed")),
            ],
            "unchanged",
        ),
    ],
)
def test_a_doubled_issue_is_closed_and_the_oldest_stays(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        result, change = issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
        assert recorded.bodies("PATCH") == [{"state": "closed", "state_reason": "not_planned"}]
    assert (result.number, change) == (3, outcome)


def test_the_same_issue_in_both_lists_is_no_double() -> None:
    with conversation(listed(OURS), listed(CLOSED), (PATCH, 200, OURS)) as recorded:
        _, change = issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
    assert change == "updated"


def test_a_person_s_issue_of_the_same_title_is_not_closed() -> None:
    with conversation(listed(OURS, issue(6, user={"login": "ada"})), listed()) as recorded:
        _, change = issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
    assert change == "unchanged"


def test_a_former_identity_s_issue_is_closed_and_replaced() -> None:
    former = issue(6, labels=[], user={"login": "Ada"})
    text = "kalypso[bot] writes for Kalypso now: #3 replaces this issue."
    replaced = comment(body=f"{comments.REPLACED}\n{text}")
    steps: list[Step] = [
        listed(former),
        listed(),
        (POST, 201, OURS),
        listed(OURS, former),
        ("GET /issues/6/comments", 200, []),
        ("POST /issues/6/comments", 201, replaced),
        ("GET /issues/6/comments", 200, []),
        ("PATCH /issues/6", 200, {**former, "state": "closed"}),
    ]
    with conversation(*steps, former_identities=["ada"]) as recorded:
        result, change = issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
        assert recorded.bodies("POST")[1] == {"body": replaced["body"]}
        assert recorded.bodies("PATCH") == [{"state": "closed", "state_reason": "not_planned"}]
    assert (result.number, change) == (3, "created")


@pytest.mark.parametrize(
    ("labels", "body", "is_ours"),
    [(["bug"], "because", False), (["kalypso"], "", True), ([], "<!-- kalypso:v1 a=b -->", True)],
)
def test_an_issue_of_a_job_s_token_is_ours_with_a_label_or_marker(
    labels: list[str], body: str, is_ours: bool
) -> None:
    """All workflows of a repository write as github-actions[bot]."""
    jobs = issue(user={"login": "github-actions[bot]"}, labels=labels, body=body)
    with conversation(
        (LIST, 200, [jobs]), (LIST, 200, []), login="github-actions[bot]"
    ) as recorded:
        candidates = issues.candidates(recorded.github, REPOSITORY, ["kalypso"])
    assert [item.number for item in candidates] == ([3] if is_ours else [])


def test_an_issue_that_lost_its_label_gets_it_again() -> None:
    steps: list[Step] = [
        listed(issue(labels=[])),
        listed(),
        ("GET /issues/3/labels", 200, []),
        ("POST /issues/3/labels", 200, [{"name": "kalypso"}]),
    ]
    with conversation(*steps) as recorded:
        result, change = issues.ensure(
            recorded.github, REPOSITORY, title="It fails", body="because", labels=["kalypso"]
        )
    assert (result.labels, change) == (("kalypso",), "updated")


def test_one_reading_serves_many() -> None:
    other = issue(4, title="Other")
    with conversation((LIST, 200, [OURS, other]), (LIST, 200, [])) as recorded:
        known = issues.candidates(recorded.github, REPOSITORY, ["kalypso"])
        for title in ("It fails", "Other"):
            _, change = issues.ensure(
                recorded.github,
                REPOSITORY,
                title=title,
                body="because",
                labels=["kalypso"],
                among=known,
            )
            assert change == "unchanged"


def test_a_long_title_is_found_again() -> None:
    title = "t" * 300
    kept = issue(title="t" * 255 + "…")
    with conversation((LIST, 200, [kept]), (LIST, 200, [])) as recorded:
        _, change = issues.ensure(
            recorded.github, REPOSITORY, title=title, body="because", labels=["kalypso"]
        )
    assert change == "unchanged"


def test_every_issue_of_every_page_without_the_pull_requests() -> None:
    first = page((LIST, 200, [issue(9), PULL]), "/issues?page=2")
    with conversation(first, (LIST, 200, [issue(8, body=None)])) as recorded:
        result = issues.find_all(recorded.github, REPOSITORY, label="kalypso", state="all")
        assert recorded.queries()[0]["state"] == "all"
    assert [(issue.number, issue.body, issue.labels) for issue in result] == [
        (8, "", ("kalypso",)),
        (9, "because", ("kalypso",)),
    ]


WHY = "<!-- kalypso:v1 kind=healed -->"
LISTED: Step = ("GET /issues/3/comments", 200, [])
COMMENTED: Step = ("GET /issues/3/comments", 200, [comment(body=f"{WHY}\nIt works again.")])
COMMENT: Step = ("POST /issues/3/comments", 201, comment(body=f"{WHY}\nIt works again."))


@pytest.mark.parametrize(
    ("steps", "was_open"),
    [
        ([(GET, 200, CLOSED)], False),
        ([(GET, 200, OURS), LISTED, COMMENT, COMMENTED, (PATCH, 200, CLOSED)], True),
        ([(GET, 200, OURS), COMMENTED, (PATCH, 200, CLOSED)], True),
        ([(GET, 200, OURS), COMMENTED, (PATCH, LOST, None), (GET, 200, CLOSED)], True),
        (
            [
                (GET, 200, OURS),
                COMMENTED,
                (PATCH, 503, None),
                (GET, 200, OURS),
                (PATCH, 200, CLOSED),
            ],
            True,
        ),
    ],
)
def test_an_issue_is_closed_with_its_reason(steps: list[Step], was_open: bool) -> None:
    with conversation(*steps) as recorded:
        change = issues.close(recorded.github, REPOSITORY, 3, mark=WHY, comment="It works again.")
        sent = recorded.bodies("PATCH")
    assert change is was_open
    assert all(body == {"state": "closed", "state_reason": "completed"} for body in sent)


def test_a_repository_without_issues_is_a_refusal() -> None:
    gone = refusal("Issues has been disabled in this repository.")
    with conversation((LIST, 410, gone)) as recorded, pytest.raises(GitHubError) as caught:
        issues.ensure(recorded.github, REPOSITORY, title="t", body="b", labels=["kalypso"])
    assert "turn on Issues" in caught.value.problem.advice


def test_the_events_of_a_pull_request() -> None:
    events: list[dict[str, Any]] = [
        {"event": "closed", "actor": {"login": "ada", "type": "User"}},
        {"event": "head_ref_deleted", "actor": {"login": "cleaner[bot]", "type": "Bot"}},
        {"event": "closed", "actor": None},
    ]
    body = [{**event, "created_at": "2026-03-01T12:00:00Z"} for event in events]
    with conversation(("GET /issues/3/events", 200, body)) as recorded:
        result = issues.events(recorded.github, REPOSITORY, 3)
    assert [(issue.name, issue.actor, issue.by_bot) for issue in result] == [
        ("closed", "ada", False),
        ("head_ref_deleted", "cleaner[bot]", True),
        ("closed", "", False),
    ]
    assert {issue.date for issue in result} == {datetime(2026, 3, 1, 12, tzinfo=UTC)}
