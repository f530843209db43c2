from __future__ import annotations

import pytest

from kalypso_actions.clients.github import GitHubError
from kalypso_actions.clients.github.merging import Merged, Method, Refused, merge, merge_as_allowed
from tests.clients.github.response_bodies import merged, pull
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, refusal

HEAD = "a" * 40
GET = "GET /pulls/7"
PUT = "PUT /pulls/7/merge"

OPEN: Step = (GET, 200, pull())
ALREADY_MERGED: Step = (GET, 200, merged())
MERGED: Step = (PUT, 200, {"sha": "e" * 40, "merged": True, "message": "Pull Request merged"})
MERGEABILITY_UNKNOWN: Step = (
    PUT,
    405,
    refusal("Base branch was modified. Review and try the merge again."),
)


@pytest.mark.parametrize(
    "steps",
    [
        [OPEN, MERGED],
        [ALREADY_MERGED],
        [OPEN, (PUT, LOST, None), ALREADY_MERGED],
        [OPEN, (PUT, 502, None), OPEN, MERGED],
        # A proxy delivered the request twice; the second delivery finds nothing to merge.
        [OPEN, (PUT, 405, refusal("Pull Request is not mergeable")), ALREADY_MERGED],
        [OPEN, MERGEABILITY_UNKNOWN, OPEN, OPEN, MERGED],
    ],
)
def test_it_is_merged_once(steps: list[Step]) -> None:
    with conversation(*steps) as recorded:
        assert merge(recorded.github, REPOSITORY, 7, head=HEAD) == Merged("e" * 40)


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_the_checked_head_is_named(method: Method) -> None:
    with conversation(OPEN, MERGED) as recorded:
        merge(recorded.github, REPOSITORY, 7, head=HEAD, method=method)
        assert recorded.bodies("PUT") == [{"sha": HEAD, "merge_method": method}]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (405, "At least 1 approving review is required by reviewers with write access."),
        (405, "Merge commits are not allowed on this repository."),
        (409, "Head branch was modified. Review and try the merge again."),
        (422, "Repository rule violations found"),
    ],
)
def test_a_refused_merge_is_a_value(status: int, message: str) -> None:
    with conversation(OPEN, (PUT, status, refusal(message)), OPEN) as recorded:
        assert merge(recorded.github, REPOSITORY, 7, head=HEAD) == Refused(message)


NO_MERGES = refusal("Merge commits are not allowed on this repository.")
NO_SQUASHES = refusal("Squash merges are not allowed on this repository.")
NO_REBASES = refusal("Rebase merges are not allowed on this repository.")
LINEAR = refusal("This branch must not contain merge commits.")
REVIEW = refusal("At least 1 approving review is required by reviewers with write access.")


@pytest.mark.parametrize(
    ("refusals", "methods", "is_merged"),
    [
        ([], ["merge"], True),
        ([NO_MERGES], ["merge", "squash"], True),
        ([LINEAR], ["merge", "squash"], True),
        ([NO_MERGES, NO_SQUASHES], ["merge", "squash", "rebase"], True),
        ([NO_MERGES, NO_SQUASHES, NO_REBASES], ["merge", "squash", "rebase"], False),
        ([REVIEW], ["merge"], False),
        ([NO_MERGES, REVIEW], ["merge", "squash"], False),
    ],
)
def test_the_first_method_that_is_allowed(
    refusals: list[object], methods: list[str], is_merged: bool
) -> None:
    steps: list[Step] = [step for refused in refusals for step in (OPEN, (PUT, 405, refused), OPEN)]
    with conversation(*steps, *([OPEN, MERGED] if is_merged else [])) as recorded:
        result = merge_as_allowed(recorded.github, REPOSITORY, 7, head=HEAD)
        assert [body["merge_method"] for body in recorded.bodies("PUT")] == methods
    assert isinstance(result, Merged) == is_merged


def test_a_base_that_keeps_moving_is_refused_in_the_end() -> None:
    with conversation(*[OPEN, MERGEABILITY_UNKNOWN, OPEN] * 4) as recorded:
        result = merge(recorded.github, REPOSITORY, 7, head=HEAD)
        assert recorded.slept == [1.0, 3.0, 10.0]
    assert isinstance(result, Refused)


def test_another_head_that_was_merged_is_not_ours() -> None:
    with conversation((GET, 200, merged(head={**pull()["head"], "sha": "d" * 40}))) as recorded:
        result = merge(recorded.github, REPOSITORY, 7, head=HEAD)
    assert result == Refused(f"it is already merged, with the head {'d' * 40}")


@pytest.mark.parametrize(
    "steps",
    [
        [OPEN, (PUT, 403, refusal("Resource not accessible by integration"))],
        [OPEN, *[(PUT, LOST, None), OPEN] * 3],
    ],
)
def test_everything_else_is_an_error(steps: list[Step]) -> None:
    with conversation(*steps) as recorded, pytest.raises(GitHubError, match="#7 cannot be merged"):
        merge(recorded.github, REPOSITORY, 7, head=HEAD)
