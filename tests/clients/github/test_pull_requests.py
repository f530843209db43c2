from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, comments, pull_requests
from kalypso_actions.clients.github.idempotent_writes import WriteResult
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import PullRequest
from tests.clients.github.response_bodies import comment, merged, pull
from tests.clients.github.scripted_github import (
    LOST,
    REPOSITORY,
    Conversation,
    Step,
    conversation,
    page,
    refusal,
)

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


def listed(*result: Any) -> Step:
    return (LIST, 200, [*FOREIGN, *result])


def ensure(recorded: Conversation, **options: Any) -> tuple[PullRequest, WriteResult]:
    """Open or update the pull request that brings the changes to dev."""
    return pull_requests.ensure(
        recorded.github,
        REPOSITORY,
        head="kalypso/dev",
        base="dev",
        title="Update dev",
        body="what changes",
        **options,
    )


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
    with conversation(first, (LIST, 200, [merged(6), OTHER_BASE])) as recorded:
        result = pull_requests.find(recorded.github, REPOSITORY, head="kalypso/dev", **options)
        assert recorded.queries()[0] == {"head": "acme:kalypso/dev", "per_page": "100", **query}
    assert [pull.number for pull in result] == numbers


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
    with conversation((GET, 200, answer)) as recorded:
        result = pull_requests.get(recorded.github, REPOSITORY, 7)
    assert (result.state, result.merged, result.merge_commit, result.head_repository) == expected


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
        # Somebody has reopened and merged it.
        ([[merged(6, labels=[{"name": "withdrawn"}])]], 6),
        # After a full page of withdrawn ones, the next page is read.
        ([[closed(99, "withdrawn")] * 50, [closed(4)]], 4),
        ([[closed(99, "withdrawn")] * 50, []], None),
    ],
)
def test_the_newest_that_is_closed(pages: list[list[Any]], number: int | None) -> None:
    with conversation(*((LIST, 200, listing) for listing in pages)) as recorded:
        result = pull_requests.newest_closed(
            recorded.github, REPOSITORY, head="kalypso/dev", base="dev", without="withdrawn"
        )
        assert [query["page"] for query in recorded.queries()] == ["1", "2"][: len(pages)]
        assert recorded.queries()[0]["head"] == "acme:kalypso/dev"
    assert (result and result.number) == number


def test_every_open_one_into_a_branch() -> None:
    of_fork = pull(8, head={**IN_FORK["head"], "repo": {"id": 2, "full_name": "them/fleet"}})
    listing = [of_fork, OF_DELETED_FORK, OURS, CLOSED, OTHER_BASE, OTHER_HEAD]
    with conversation((LIST, 200, listing)) as recorded:
        result = pull_requests.open_into(recorded.github, REPOSITORY, "dev")
        assert recorded.queries()[0] == {"base": "dev", "state": "open", "per_page": "100"}
    assert [pull.number for pull in result] == [7, 8, 9, 10]


def test_the_paths_that_one_changes() -> None:
    files = [{"filename": "a"}, {"filename": "new/b", "previous_filename": "old/b"}]
    with conversation(("GET /pulls/7/files", 200, files)) as recorded:
        paths = pull_requests.changed_paths(recorded.github, REPOSITORY, 7)
    assert paths == {"a", "new/b", "old/b"}


EXISTS = refusal("Validation Failed", "A pull request already exists for acme:kalypso/dev.")


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([listed(OURS)], "unchanged"),
        ([listed(pull(body="what changes\r\n"))], "unchanged"),
        ([listed(), (POST, 201, OURS)], "created"),
        ([listed(CLOSED, merged(6)), (POST, 201, OURS)], "created"),
        # A lost response, a second delivery by a proxy, a faster run.
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
    with conversation(*steps) as recorded:
        result, change = ensure(recorded)
    assert (result.number, result.title, result.body.rstrip(), change) == (
        7,
        "Update dev",
        "what changes",
        outcome,
    )


ADA = pull(user={"login": "ada"})


def test_the_pull_request_of_somebody_else_is_not_edited() -> None:
    with conversation(listed(ADA)) as recorded, pytest.raises(KalypsoError) as caught:
        pull_requests.ensure(
            recorded.github, REPOSITORY, head="kalypso/dev", base="dev", title="t", body="b"
        )
    assert caught.value.problem.message == (
        "ada opened the pull request #7 from kalypso/dev into dev; kalypso[bot] does not edit it"
    )


def test_a_pull_request_of_a_former_identity_is_closed_before_another_is_opened() -> None:
    url = "https://github.com/acme/fleet/pulls?q=is%3Apr+is%3Aopen+head%3Akalypso%2Fdev"
    text = (
        f"kalypso[bot] writes for Kalypso now, and proposes this [in another pull request]({url})."
    )
    replaced = comment(body=f"{comments.REPLACED}\n{text}")
    steps: list[Step] = [
        listed(ADA),
        (GET, 200, ADA),
        ("GET /issues/7/labels", 200, []),
        ("POST /issues/7/labels", 200, [{"name": "withdrawn"}]),
        ("GET /issues/7/comments", 200, []),
        ("POST /issues/7/comments", 201, replaced),
        ("GET /issues/7/comments", 200, []),
        (PATCH, 200, {**ADA, "state": "closed"}),
        (POST, 201, pull(8)),
    ]
    with conversation(*steps, former_identities=["ada"]) as recorded:
        result, change = ensure(recorded, replaced_labels=["withdrawn"])
    assert (result.number, change) == (8, "created")


def test_what_is_sent() -> None:
    with conversation(listed(), (POST, 201, OURS)) as recorded:
        ensure(recorded)
        assert recorded.queries() == [
            {"head": "acme:kalypso/dev", "base": "dev", "state": "open", "per_page": "100"}
        ]
        assert recorded.bodies("POST") == [
            {"head": "kalypso/dev", "base": "dev", "title": "Update dev", "body": "what changes"}
        ]


LABELS: Step = ("GET /issues/7/labels", 200, [{"name": "Kalypso"}])
LABELLED: Step = ("POST /issues/7/labels", 200, [])


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([listed(pull(labels=[{"name": "Kalypso"}, {"name": "promoted"}]))], "unchanged"),
        ([listed(pull(labels=[{"name": "Kalypso"}])), LABELLED], "updated"),
        ([listed(), (POST, 201, OURS), LABELLED], "created"),
    ],
)
def test_labels_that_are_missing_are_added(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        result, change = ensure(recorded, labels=["kalypso", "promoted"])
    assert change == outcome
    assert {label.lower() for label in result.labels} == {"kalypso", "promoted"}


@pytest.mark.parametrize(
    ("complaint", "message", "advice"),
    [
        ("No commits between dev and kalypso/dev", "No commits between", "nothing to propose"),
        (
            {"resource": "PullRequest", "field": "head", "code": "invalid"},
            "PullRequest.head invalid",
            "push the head branch",
        ),
        (
            {"resource": "PullRequest", "field": "base", "code": "invalid"},
            "PullRequest.base invalid",
            "create the base branch",
        ),
        ("A pull request already exists for new:kalypso/dev.", "already exists", "new name"),
    ],
)
def test_a_refusal_says_what_to_change(complaint: Any, message: str, advice: str) -> None:
    refused: Step = (POST, 422, refusal("Validation Failed", complaint))
    with (
        conversation(listed(), refused, listed()) as recorded,
        pytest.raises(GitHubError) as caught,
    ):
        pull_requests.ensure(
            recorded.github, REPOSITORY, head="kalypso/dev", base="dev", title="t", body="b"
        )
    problem = caught.value.problem
    assert problem.message.startswith("the pull request from kalypso/dev into dev cannot be opened")
    assert message in problem.message
    assert advice in problem.advice


WHY = "<!-- kalypso:v1 kind=withdrawn -->"
LISTED: Step = ("GET /issues/7/comments", 200, [])
COMMENT: Step = ("POST /issues/7/comments", 201, comment(body=f"{WHY}\nNothing to change."))
COMMENTED: Step = ("GET /issues/7/comments", 200, [comment(body=f"{WHY}\nNothing to change.")])
WITHDRAWN: Step = ("GET /issues/7/labels", 200, [{"name": "withdrawn"}])


@pytest.mark.parametrize(
    ("steps", "was_open"),
    [
        ([(GET, 200, CLOSED)], False),
        ([(GET, 200, merged())], False),
        (
            [(GET, 200, OURS), LABELS, LABELLED, LISTED, COMMENT, COMMENTED, (PATCH, 200, CLOSED)],
            True,
        ),
        ([(GET, 200, OURS), WITHDRAWN, COMMENTED, (PATCH, LOST, None), (GET, 200, CLOSED)], True),
        (
            [
                (GET, 200, OURS),
                WITHDRAWN,
                COMMENTED,
                (PATCH, 503, None),
                (GET, 200, OURS),
                (PATCH, 200, CLOSED),
            ],
            True,
        ),
    ],
)
def test_it_is_closed_with_its_reason(steps: list[Step], was_open: bool) -> None:
    with conversation(*steps) as recorded:
        change = pull_requests.close(
            recorded.github,
            REPOSITORY,
            7,
            mark=WHY,
            comment="Nothing to change.",
            labels=["withdrawn"],
        )
        assert all(body == {"state": "closed"} for body in recorded.bodies("PATCH"))
    assert change is was_open


def test_a_caller_that_has_found_none_saves_the_search() -> None:
    with conversation((POST, 201, OURS)) as recorded:
        assert ensure(recorded, read_first=False)[1] == "created"


def test_one_that_another_run_has_opened_meanwhile() -> None:
    refused = {
        "message": "Validation Failed",
        "errors": [{"message": "A pull request already exists for acme:kalypso/dev."}],
    }
    with conversation((POST, 422, refused), listed(OURS)) as recorded:
        assert ensure(recorded, read_first=False)[0].number == 7
