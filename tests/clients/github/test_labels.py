from __future__ import annotations

import pytest

from kalypso_actions.clients.github import GitHubError, labels
from kalypso_actions.errors import KalypsoError
from tests.clients.github.scripted_github import (
    LOST,
    REPOSITORY,
    VISIBLE,
    Step,
    conversation,
    refusal,
)

ABSENT: Step = ("GET /labels/in%20progress", 404, refusal("Not Found"))
PRESENT: Step = ("GET /labels/in%20progress", 200, {"name": "In Progress"})
CREATED: Step = ("POST /labels", 201, {"name": "in progress"})
EXISTS: Step = (
    "POST /labels",
    422,
    refusal("Validation Failed", {"resource": "Label", "code": "already_exists", "field": "name"}),
)


@pytest.mark.parametrize(
    ("steps", "made"),
    [
        ([PRESENT], False),
        ([ABSENT, VISIBLE, CREATED], True),
        ([ABSENT, VISIBLE, EXISTS, PRESENT], True),
        ([ABSENT, VISIBLE, ("POST /labels", LOST, None), PRESENT], True),
        ([ABSENT, VISIBLE, ("POST /labels", 502, None), ABSENT, CREATED], True),
        ([ABSENT, VISIBLE, ("POST /labels", LOST, None), ABSENT, EXISTS, PRESENT], True),
    ],
)
def test_a_label_exists_once(steps: list[Step], made: bool) -> None:
    with conversation(*steps) as recorded:
        assert labels.ensure(recorded.github, REPOSITORY, "in progress", color="0e8a16") is made


def test_a_description_is_cut() -> None:
    with conversation(ABSENT, VISIBLE, CREATED) as recorded:
        labels.ensure(
            recorded.github, REPOSITORY, "in progress", color="c0ffee", description="d" * 101
        )
        assert recorded.bodies("POST") == [
            {"name": "in progress", "color": "c0ffee", "description": "d" * 99 + "…"}
        ]


@pytest.mark.parametrize("name", ["", "n" * 51])
def test_a_name_that_github_does_not_take_is_not_sent(name: str) -> None:
    with conversation() as recorded:
        with pytest.raises(KalypsoError, match="1 to 50 characters"):
            labels.ensure(recorded.github, REPOSITORY, name)
        with pytest.raises(KalypsoError, match="1 to 50 characters"):
            labels.add(recorded.github, REPOSITORY, 3, ["kalypso", name])


ON_ISSUE: Step = ("GET /issues/3/labels", 200, [{"name": "Kalypso"}, {"name": "bug"}])
BARE: Step = ("GET /issues/3/labels", 200, [{"name": "bug"}])
ADDED: Step = ("POST /issues/3/labels", 200, [{"name": "bug"}, {"name": "kalypso"}])


@pytest.mark.parametrize(
    ("steps", "added"),
    [
        ([ON_ISSUE], False),
        ([BARE, ADDED], True),
        ([BARE, ("POST /issues/3/labels", LOST, None), ON_ISSUE], True),
        ([BARE, ("POST /issues/3/labels", 503, None), BARE, ADDED], True),
    ],
)
def test_a_label_is_put_on_once(steps: list[Step], added: bool) -> None:
    with conversation(*steps) as recorded:
        assert labels.add(recorded.github, REPOSITORY, 3, ["kalypso"]) is added


TAKEN: Step = ("DELETE /issues/3/labels/kalypso", 200, [{"name": "bug"}])
GONE: Step = ("DELETE /issues/3/labels/kalypso", 404, refusal("Label does not exist"))


@pytest.mark.parametrize(
    ("steps", "removed"),
    [
        ([BARE], False),
        ([ON_ISSUE, TAKEN], True),
        # Another run was faster; the answer was lost.
        ([ON_ISSUE, GONE, BARE], True),
        ([ON_ISSUE, ("DELETE /issues/3/labels/kalypso", LOST, None), BARE], True),
        ([ON_ISSUE, ("DELETE /issues/3/labels/kalypso", 502, None), ON_ISSUE, TAKEN], True),
    ],
)
def test_a_label_is_taken_off_once(steps: list[Step], removed: bool) -> None:
    with conversation(*steps) as recorded:
        assert labels.remove(recorded.github, REPOSITORY, 3, "kalypso") is removed


@pytest.mark.parametrize(
    ("steps", "deleted"),
    [
        ([ABSENT, VISIBLE], False),
        ([PRESENT, ("DELETE /labels/in%20progress", 204, None)], True),
        ([PRESENT, ("DELETE /labels/in%20progress", LOST, None), ABSENT], True),
    ],
)
def test_a_label_is_deleted_once(steps: list[Step], deleted: bool) -> None:
    with conversation(*steps) as recorded:
        assert labels.delete(recorded.github, REPOSITORY, "in progress") is deleted


def test_a_refusal_of_another_kind_is_reported() -> None:
    wrong = refusal("Validation Failed", {"resource": "Label", "code": "invalid", "field": "color"})
    with (
        conversation(ABSENT, VISIBLE, ("POST /labels", 422, wrong), ABSENT) as recorded,
        pytest.raises(GitHubError, match=r"Label\.color invalid"),
    ):
        labels.ensure(recorded.github, REPOSITORY, "in progress", color="blue")
