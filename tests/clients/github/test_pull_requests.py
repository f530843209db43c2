from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, pull_requests
from tests.clients.github.answers import comment, merged, pull
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, page, refusal

LIST = "GET /pulls"
POST = "POST /pulls"
GET = "GET /pulls/7"
PATCH = "PATCH /pulls/7"

OURS = pull()
STALE = pull(body="what changed before")
CLOSED = pull(state="closed")
IN_FORK = pull(8, head={"ref": "kalypso/dev", "sha": "f" * 40, "repo": {"id": 2}})
OF_DELETED_FORK = pull(9, head={"ref": "kalypso/dev", "sha": "f" * 40, "repo": None})
OTHER_HEAD = pull(10, head={**OURS["head"], "ref": "kalypso/dev2"})
OTHER_BASE = pull(12, base={**OURS["base"], "ref": "qa"})
FOREIGN = [IN_FORK, OF_DELETED_FORK, OTHER_HEAD]


def listed(*found: Any) -> Step:
    return (LIST, 200, [*FOREIGN, *found])


@pytest.mark.parametrize(
    ("options", "query", "numbers"),
    [
        ({}, {"state": "open"}, [12, 7]),
        ({"base": "dev"}, {"state": "open", "base": "dev"}, [7]),
        ({"state": "all"}, {"state": "all"}, [12, 7, 6, 5]),
        ({"base": "dev", "state": "closed"}, {"state": "closed", "base": "dev"}, [6, 5]),
    ],
)
def test_ours_are_found_newest_first(
    options: Any, query: dict[str, str], numbers: list[int]
) -> None:
    first = page(listed(pull(5, state="closed"), OURS), "/pulls?page=2")
    with conversation(first, (LIST, 200, [merged(6), OTHER_BASE])) as told:
        found = pull_requests.find(told.github, REPOSITORY, head="kalypso/dev", **options)
        assert told.queries()[0] == {"head": "acme:kalypso/dev", "per_page": "100", **query}
    assert [one.number for one in found] == numbers


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (OURS, ("open", False, "", "acme/fleet")),
        (CLOSED, ("closed", False, "", "acme/fleet")),
        (merged(), ("closed", True, "e" * 40, "acme/fleet")),
        (pull(head={**OURS["head"], "repo": None}), ("open", False, "", "")),
    ],
)
def test_a_pull_request_as_a_value(answer: Any, expected: tuple[object, ...]) -> None:
    with conversation((GET, 200, answer)) as told:
        found = pull_requests.get(told.github, REPOSITORY, 7)
    assert (found.state, found.merged, found.merge_commit, found.head_repository) == expected


def closed(number: int, *labels: str) -> Any:
    return pull(number, state="closed", labels=[{"name": name} for name in labels])


@pytest.mark.parametrize(
    ("pages", "number"),
    [
        ([[]], None),
        ([FOREIGN], None),
        ([[closed(6, "kalypso"), merged(5)]], 6),
        ([[closed(6, "Withdrawn"), merged(5), closed(4)]], 5),
        ([[closed(6, "withdrawn")]], None),
        # Somebody has opened it again and merged it.
        ([[merged(6, labels=[{"name": "withdrawn"}])]], 6),
        # A full page of withdrawn ones: the next is asked for.
        ([[closed(99, "withdrawn")] * 50, [closed(4)]], 4),
        ([[closed(99, "withdrawn")] * 50, []], None),
    ],
)
def test_the_newest_that_is_closed(pages: list[list[Any]], number: int | None) -> None:
    with conversation(*((LIST, 200, one) for one in pages)) as told:
        found = pull_requests.newest_closed(
            told.github, REPOSITORY, head="kalypso/dev", base="dev", without="withdrawn"
        )
        assert [query["page"] for query in told.queries()] == ["1", "2"][: len(pages)]
        assert told.queries()[0]["head"] == "acme:kalypso/dev"
    assert (found and found.number) == number


def test_every_open_one_into_a_branch() -> None:
    of_fork = pull(8, head={**IN_FORK["head"], "repo": {"id": 2, "full_name": "them/fleet"}})
    found_there = [of_fork, OF_DELETED_FORK, OURS, CLOSED, OTHER_BASE, OTHER_HEAD]
    with conversation((LIST, 200, found_there)) as told:
        found = pull_requests.into(told.github, REPOSITORY, "dev")
        assert told.queries()[0] == {"base": "dev", "state": "open", "per_page": "100"}
    assert [one.number for one in found] == [7, 8, 9, 10]


def test_the_paths_that_one_changes() -> None:
    files = [{"filename": "a"}, {"filename": "new/b", "previous_filename": "old/b"}]
    with conversation(("GET /pulls/7/files", 200, files)) as told:
        paths = pull_requests.changed_paths(told.github, REPOSITORY, 7)
    assert paths == {"a", "new/b", "old/b"}


EXISTS = refusal("Validation Failed", "A pull request already exists for acme:kalypso/dev.")


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([listed(OURS)], "unchanged"),
        ([listed(pull(body="what changes\r\n"))], "unchanged"),
        ([listed(), (POST, 201, OURS)], "created"),
        ([listed(CLOSED, merged(6)), (POST, 201, OURS)], "created"),
        # The answer was lost; a proxy has delivered it twice; another run was faster.
        ([listed(), (POST, LOST, None), listed(OURS)], "created"),
        ([listed(), (POST, 422, EXISTS), listed(OURS)], "created"),
        ([listed(), (POST, 422, EXISTS), listed(STALE), (PATCH, 200, OURS)], "created"),
        ([listed(), (POST, 502, None), listed(), (POST, 201, OURS)], "created"),
        ([listed(), (POST, LOST, None), listed(), (POST, 422, EXISTS), listed(OURS)], "created"),
        ([listed(STALE), (PATCH, 200, OURS)], "updated"),
        ([listed(pull(title="Old")), (PATCH, 200, OURS)], "updated"),
        ([listed(STALE), (PATCH, LOST, None), (GET, 200, OURS)], "updated"),
        ([listed(STALE), (PATCH, 500, None), (GET, 200, STALE), (PATCH, 200, OURS)], "updated"),
    ],
)
def test_there_is_one_open_pull_request(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as told:
        found, done = pull_requests.ensure(
            told.github,
            REPOSITORY,
            head="kalypso/dev",
            base="dev",
            title="Update dev",
            body="what changes",
        )
    assert (found.number, found.title, found.body.rstrip(), done) == (
        7,
        "Update dev",
        "what changes",
        outcome,
    )


def test_what_is_sent() -> None:
    with conversation(listed(), (POST, 201, OURS)) as told:
        pull_requests.ensure(
            told.github,
            REPOSITORY,
            head="kalypso/dev",
            base="dev",
            title="Update dev",
            body="what changes",
        )
        assert told.queries() == [
            {"head": "acme:kalypso/dev", "base": "dev", "state": "open", "per_page": "100"}
        ]
        assert told.bodies("POST") == [
            {"head": "kalypso/dev", "base": "dev", "title": "Update dev", "body": "what changes"}
        ]


LABELS: Step = ("GET /issues/7/labels", 200, [{"name": "Kalypso"}])
LABELLED: Step = ("POST /issues/7/labels", 200, [])


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([listed(pull(labels=[{"name": "Kalypso"}, {"name": "promoted"}]))], "unchanged"),
        ([listed(pull(labels=[{"name": "Kalypso"}])), LABELS, LABELLED], "updated"),
        ([listed(), (POST, 201, OURS), LABELS, LABELLED], "created"),
    ],
)
def test_labels_that_are_missing_are_added(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as told:
        found, done = pull_requests.ensure(
            told.github,
            REPOSITORY,
            head="kalypso/dev",
            base="dev",
            title="Update dev",
            body="what changes",
            labels=["kalypso", "promoted"],
        )
    assert done == outcome
    assert {label.lower() for label in found.labels} == {"kalypso", "promoted"}


@pytest.mark.parametrize(
    ("complaint", "message", "advice"),
    [
        ("No commits between dev and kalypso/dev", "No commits between", "nothing to propose"),
        (
            {"resource": "PullRequest", "field": "head", "code": "invalid"},
            "PullRequest.head invalid",
            "push the head's branch",
        ),
        (
            {"resource": "PullRequest", "field": "base", "code": "invalid"},
            "PullRequest.base invalid",
            "create the base branch",
        ),
        ("A pull request already exists for new:kalypso/dev.", "already exists", "new one"),
    ],
)
def test_a_refusal_says_what_to_change(complaint: Any, message: str, advice: str) -> None:
    refused: Step = (POST, 422, refusal("Validation Failed", complaint))
    with (
        conversation(listed(), refused, listed()) as told,
        pytest.raises(GitHubError) as caught,
    ):
        pull_requests.ensure(
            told.github, REPOSITORY, head="kalypso/dev", base="dev", title="t", body="b"
        )
    problem = caught.value.problem
    assert problem.message.startswith("the pull request from kalypso/dev into dev cannot be opened")
    assert message in problem.message
    assert advice in problem.advice


WHY = "<!-- kalypso:v1 kind=withdrawn -->"
LISTED: Step = ("GET /issues/7/comments", 200, [])
SAY: Step = ("POST /issues/7/comments", 201, comment(body=f"{WHY}\nNothing to change."))
SAID: Step = ("GET /issues/7/comments", 200, [comment(body=f"{WHY}\nNothing to change.")])
WITHDRAWN: Step = ("GET /issues/7/labels", 200, [{"name": "withdrawn"}])


@pytest.mark.parametrize(
    ("steps", "was_open"),
    [
        ([(GET, 200, CLOSED)], False),
        ([(GET, 200, merged())], False),
        ([(GET, 200, OURS), LABELS, LABELLED, LISTED, SAY, SAID, (PATCH, 200, CLOSED)], True),
        ([(GET, 200, OURS), WITHDRAWN, SAID, (PATCH, LOST, None), (GET, 200, CLOSED)], True),
        (
            [
                (GET, 200, OURS),
                WITHDRAWN,
                SAID,
                (PATCH, 503, None),
                (GET, 200, OURS),
                (PATCH, 200, CLOSED),
            ],
            True,
        ),
    ],
)
def test_it_is_closed_with_its_reason(steps: list[Step], was_open: bool) -> None:
    with conversation(*steps) as told:
        done = pull_requests.close(
            told.github,
            REPOSITORY,
            7,
            mark=WHY,
            comment="Nothing to change.",
            labels=["withdrawn"],
        )
        assert all(body == {"state": "closed"} for body in told.bodies("PATCH"))
    assert done is was_open
