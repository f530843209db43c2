"""`kalypso poll`: lost starts, and our pull requests that need schedule."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import UsageError
from kalypso_actions.promotion.start_records import UNREAD
from kalypso_actions.report.poll_document import PollDocument
from tests.commands.chain.lost_starts import lose, record
from tests.commands.chain.organisation import Dispatch, Organisation
from tests.commands.chain.polls import (
    LONG,
    asked,
    at_rest,
    document,
    end_runs,
    inputs_of,
    push_to_shop,
    run,
    start_run,
    started,
    with_run_names,
)
from tests.commands.chain.promotions import main_commit, name_in_base

RUNS = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs"
SCHEDULE = "kalypso / schedule dev"
CD = "kalypso / cd dev"


def test_a_blocked_environment_is_left_alone_until_something_changes(acme: Organisation) -> None:
    at_rest(acme, kind="blocked")
    assert started(run(acme)) == []
    push_to_shop(acme)
    assert started(run(acme, environments="dev")) == [("schedule.yaml", "dev", 1)]


@pytest.mark.parametrize(
    ("seconds", "repair_after", "starts"),
    [
        (0, "10m", []),
        (599, "10m", []),
        (600, "10m", [("schedule.yaml", "dev", 2)]),
        (600, "15m", []),
        (60, "60s", [("schedule.yaml", "dev", 2)]),
    ],
)
def test_how_long_a_start_of_schedule_may_be_without_a_run(
    acme: Organisation, seconds: int, repair_after: str, starts: list[tuple[str, str, int]]
) -> None:
    at_rest(acme)
    at_rest(acme, "dev", kind="starting", attempt=1)
    acme.clock.sleep(seconds)
    result = run(acme, repair_after=repair_after)
    assert started(result) == starts
    assert [start.reason for start in document(result).started] == [
        "the last start was lost"
    ] * len(starts)


def test_a_start_after_a_push_to_the_environments_branch_counts_on(acme: Organisation) -> None:
    """The record of such a start has no digest."""
    at_rest(acme)
    lose(acme, acme.head("dev") or "", SCHEDULE, UNREAD)
    assert started(run(acme)) == [("schedule.yaml", "dev", 2)]


def test_three_attempts_then_a_failure_until_the_digest_changes(acme: Organisation) -> None:
    at_rest(acme)
    push_to_shop(acme)
    head, digest = acme.head("dev") or "", inputs_of(acme)["dev"].digest
    for attempt in (1, 2, 3):
        result = run(acme, environments="dev")
        assert started(result) == [("schedule.yaml", "dev", attempt)]
        assert f", attempt {attempt}" in result.summary or attempt == 1
        assert acme.records(head)[SCHEDULE] == (
            "pending",
            f"Starting, attempt {attempt}: {digest}",
        )
        end_runs(acme)
        acme.clock.sleep(LONG)
    result = run(acme, environments="dev")
    assert result.failed and started(result) == []
    (problem,) = document(result).problems
    assert problem.message == (
        f"environment dev: 3 starts of schedule.yaml for {head[:7]} came to nothing"
    )
    assert acme.records(head)[SCHEDULE] == ("failure", f"Given up: {digest}")
    assert document(run(acme, environments="dev")) == PollDocument()
    push_to_shop(acme, text="kind: Nothing\n")
    assert started(run(acme, environments="dev")) == [("schedule.yaml", "dev", 1)]


@pytest.mark.parametrize("status", ["queued", "in_progress", "waiting", "pending", "requested"])
def test_a_run_that_has_not_ended_is_not_doubled(acme: Organisation, status: str) -> None:
    with_run_names(acme)
    at_rest(acme)
    at_rest(acme, "dev", kind="starting", attempt=3)
    number = start_run(acme, "schedule.yaml", status, environment="dev")
    acme.clock.sleep(LONG)
    result = run(acme)
    assert (started(result), result.failed) == ([], False)
    acme.sandbox.change_run(number, "completed", "failure")
    assert run(acme).failed


def test_a_run_of_another_environment_is_none_of_this_start(acme: Organisation) -> None:
    with_run_names(acme)
    at_rest(acme)
    at_rest(acme, "dev", kind="starting", attempt=1)
    start_run(acme, "schedule.yaml", environment="stage")
    acme.clock.sleep(LONG)
    assert started(run(acme)) == [("schedule.yaml", "dev", 2)]


def test_a_run_with_a_title_of_another_form_may_be_of_any_start(acme: Organisation) -> None:
    """The workflow files of this control plane have no `run-name`."""
    at_rest(acme)
    at_rest(acme, "dev", kind="starting", attempt=1)
    start_run(acme, "schedule.yaml", environment="stage")
    acme.clock.sleep(LONG)
    assert started(run(acme)) == []
    end_runs(acme)
    assert started(run(acme)) == [("schedule.yaml", "dev", 2)]


def test_runs_are_listed_once_for_each_workflow(acme: Organisation) -> None:
    with_run_names(acme)
    acme.forget()
    assert len(started(run(acme))) == 2
    assert asked(acme, RUNS) == 5


# cd


def test_a_lost_cd_is_started_again(acme: Organisation) -> None:
    at_rest(acme)
    commit = main_commit(acme)
    lose(acme, commit, CD, "ci")
    result = run(acme)
    assert started(result) == [("cd.yaml", "dev", 2)]
    given = {"promoted_commit_id": commit, "environment": "dev", "promoted_from": "ci"}
    assert acme.dispatches() == [Dispatch("cd.yaml", given)]
    assert acme.records(commit)[CD] == ("pending", "Starting, attempt 2: ci")
    assert result.summary.startswith("## kalypso poll: repeated lost starts\n")
    assert f"| `dev` with `{commit[:7]}` | the last start was lost, attempt 2 | " in result.summary


@pytest.mark.parametrize("origin", ["stage", "dev", "ci"])
def test_who_may_have_started_cd(acme: Organisation, origin: str) -> None:
    at_rest(acme)
    lose(acme, main_commit(acme), CD, origin)
    assert started(run(acme)) == [("cd.yaml", "dev", 2)]


@pytest.mark.parametrize(
    ("given", "starts"),
    [
        ("dev", [("cd.yaml", "dev", 2)]),
        ("dev,stage", [("cd.yaml", "dev", 2)]),
        ("stage", []),
    ],
)
def test_a_start_of_ci_counts_for_the_first_environments_that_are_given(
    acme: Organisation, given: str, starts: list[tuple[str, str, int]]
) -> None:
    at_rest(acme)
    lose(acme, main_commit(acme), CD, "ci")
    assert started(run(acme, first_environments=given)) == starts


def test_a_first_environment_that_does_not_exist(acme: Organisation) -> None:
    with pytest.raises(UsageError, match="first-environments: there is no Environment 'qa'"):
        run(acme, first_environments="qa")


def test_a_start_of_cd_by_others_is_not_repeated(acme: Organisation) -> None:
    at_rest(acme)
    lose(acme, main_commit(acme), CD, "qa")
    acme.forget()
    assert document(run(acme)) == PollDocument()
    assert asked(acme, RUNS) == 0


def test_a_young_start_of_cd_waits(acme: Organisation) -> None:
    at_rest(acme)
    record(acme, main_commit(acme), CD, "ci")
    assert started(run(acme)) == []


def test_a_cd_that_somebody_approves_is_not_doubled(acme: Organisation) -> None:
    with_run_names(acme)
    at_rest(acme)
    commit = main_commit(acme)
    given = {"promoted_commit_id": commit, "environment": "dev"}
    number = start_run(acme, "cd.yaml", "waiting", **given)
    start_run(acme, "cd.yaml", "waiting", promoted_commit_id="d" * 40, environment="dev")
    start_run(acme, "cd.yaml", "waiting", promoted_commit_id=commit, environment="stage")
    lose(acme, commit, CD, "ci")
    assert started(run(acme)) == []
    acme.sandbox.change_run(number, "completed", "failure")
    assert started(run(acme)) == [("cd.yaml", "dev", 2)]


@pytest.mark.parametrize("is_newer_lost", [True, False])
def test_the_newest_lost_cd_answers_for_the_older_ones(
    acme: Organisation, is_newer_lost: bool
) -> None:
    at_rest(acme)
    older, newer = main_commit(acme, "1"), main_commit(acme, "2")
    lose(acme, older, CD, "ci")
    record(acme, newer, CD, "ci")
    if is_newer_lost:
        acme.clock.sleep(LONG)
    result = run(acme)
    assert [start.commit for start in document(result).started] == [newer] * is_newer_lost


@pytest.mark.parametrize("is_later", [True, False])
def test_a_lost_cd_of_what_the_environment_has_is_settled(
    acme: Organisation, is_later: bool
) -> None:
    lost = main_commit(acme, "1")
    there = main_commit(acme, "2") if is_later else lost
    name_in_base(acme, there)
    at_rest(acme)
    lose(acme, lost, CD, "ci")
    assert started(run(acme)) == []
    assert acme.records(lost)[CD] == ("success", "Not needed: ci")
    acme.forget()
    run(acme)
    assert acme.writes() == acme.recorded() == []


def test_a_cd_that_is_given_up(acme: Organisation) -> None:
    at_rest(acme)
    commit = main_commit(acme)
    lose(acme, commit, CD, "ci", attempt=3)
    result = run(acme)
    assert result.failed
    (problem,) = document(result).problems
    assert (
        problem.message == f"environment dev: 3 starts of cd.yaml for {commit[:7]} came to nothing"
    )
    assert acme.records(commit)[CD] == ("failure", "Given up: ci")
    assert document(run(acme)) == PollDocument()
