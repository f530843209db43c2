from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, comments, idempotent_writes
from tests.clients.github.response_bodies import comment
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, page, refusal

MARK = "<!-- mark -->"
OTHER = comment(5, body="thanks!\n<!-- mark -->")
OLD = comment(11, body="<!-- mark -->\r\nold text")
OURS = comment(11)
TWIN = comment(12)
LIST = "GET /issues/3/comments"
POST = "POST /issues/3/comments"
PATCH = "PATCH /issues/comments/11"
DELETE = "DELETE /issues/comments/12"


def listed(*result: Any) -> Step:
    return (LIST, 200, [OTHER, *result])


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([listed(OURS)], "unchanged"),
        ([listed(comment(body="<!-- mark -->\r\ntext\r\n"))], "unchanged"),
        ([listed(), (POST, 201, OURS), listed(OURS)], "created"),
        ([listed(), (POST, 201, OURS), listed()], "created"),
        ([listed(), (POST, LOST, None), listed(OURS), listed(OURS)], "created"),
        ([listed(), (POST, 502, None), listed(), (POST, 201, OURS), listed(OURS)], "created"),
        ([listed(OLD), (PATCH, 200, OURS)], "updated"),
        ([listed(OLD), (PATCH, LOST, None), listed(OURS)], "updated"),
        ([listed(OLD), (PATCH, 500, None), listed(OLD), (PATCH, 200, OURS)], "updated"),
        # A proxy has delivered the comment twice, and has returned the second response.
        ([listed(), (POST, 201, TWIN), listed(OURS, TWIN), (DELETE, 204, None)], "created"),
        # The run ended before it saw the duplicate.
        ([listed(TWIN, OURS), (DELETE, 204, None)], "unchanged"),
        ([listed(OURS, TWIN), (DELETE, LOST, None), listed(OURS)], "unchanged"),
        ([listed(OURS, TWIN), (DELETE, 404, refusal("Not Found")), listed(OURS)], "unchanged"),
        ([listed(OLD, TWIN), (DELETE, 204, None), (PATCH, 200, OURS)], "updated"),
    ],
)
def test_one_comment_has_the_mark(steps: list[Step], outcome: str) -> None:
    with conversation(*steps) as recorded:
        result, change = comments.ensure(recorded.github, REPOSITORY, 3, MARK, "text")
    assert (result.id, change) == (11, outcome)
    assert idempotent_writes.same_text(result.body, "<!-- mark -->\ntext")


def test_the_comment_of_somebody_else_is_not_deleted() -> None:
    foreign = comment(12, user={"login": "mallory"})
    with conversation(listed(OURS, foreign)) as recorded:
        _, change = comments.ensure(recorded.github, REPOSITORY, 3, MARK, "text")
    assert change == "unchanged"


def test_the_comment_of_somebody_else_is_not_edited() -> None:
    foreign = comment(10, user={"login": "mallory"})
    with conversation(listed(foreign), (POST, 201, OURS), listed(foreign, OURS)) as recorded:
        result, change = comments.ensure(recorded.github, REPOSITORY, 3, MARK, "text")
    assert (result.id, change) == (11, "created")


@pytest.mark.parametrize(
    ("text", "steps", "outcome"),
    [
        ("text", [], "unchanged"),
        (
            "new text",
            [(POST, 201, comment(12, body="<!-- mark -->\nnew text")), listed()],
            "created",
        ),
    ],
)
def test_the_comment_of_a_former_identity_is_neither_doubled_nor_edited(
    text: str, steps: list[Step], outcome: str
) -> None:
    former = comment(10, user={"login": "ada"})
    with conversation(listed(former), *steps, former_identities=["ada"]) as recorded:
        _, change = comments.ensure(recorded.github, REPOSITORY, 3, MARK, text)
    assert change == outcome


def test_a_mark_is_found_on_a_later_page() -> None:
    with conversation(
        page((LIST, 200, [OTHER]), "/issues/3/comments?page=2"), (LIST, 200, [OURS])
    ) as recorded:
        _, change = comments.ensure(recorded.github, REPOSITORY, 3, MARK, "text")
    assert change == "unchanged"


def test_a_long_text_is_the_same_when_it_is_read_again() -> None:
    text = "line\n" * 20_000
    kept = idempotent_writes.truncate_body(f"{MARK}\n{text}")
    there = comment(body=kept)
    with conversation(listed(), (POST, 201, there), listed(there), listed(there)) as recorded:
        for outcome in ("created", "unchanged"):
            assert comments.ensure(recorded.github, REPOSITORY, 3, MARK, text)[1] == outcome
        assert recorded.bodies("POST") == [{"body": kept}]


def test_a_refused_comment_is_reported() -> None:
    locked = refusal("Unable to create comment because issue is locked.")
    with (
        conversation(listed(), (POST, 403, locked)) as recorded,
        pytest.raises(GitHubError, match=r"#3 cannot be commented on.*issue is locked"),
    ):
        comments.ensure(recorded.github, REPOSITORY, 3, MARK, "text")
