"""`kalypso poll`: lost starts, and our pull requests that need schedule."""

from __future__ import annotations

import pytest

from kalypso_actions.commands.poll import Repairs
from kalypso_actions.errors import UsageError
from kalypso_actions.promotion.start_records import UNREAD
from kalypso_actions.report.chain_document import PollDocument
from tests.breaks import breaks, turned
from tests.commands.chain.lost_starts import lose, record
from tests.commands.chain.organisation import GITOPS, Dispatch, Organisation
from tests.commands.chain.polls import (
    LONG,
    asked,
    at_rest,
    document,
    end_runs,
    inputs_of,
    propose,
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
        (599, "10m", []),
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
            "success",
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


def test_a_run_that_has_not_ended_is_not_doubled(acme: Organisation) -> None:
    with_run_names(acme)
    at_rest(acme)
    at_rest(acme, "dev", kind="starting", attempt=3)
    number = start_run(acme, "schedule.yaml", "waiting", environment="dev")
    acme.clock.sleep(LONG)
    result = run(acme)
    assert (started(result), result.failed) == ([], False)
    acme.sandbox.change_run(number, "completed", "failure")
    assert run(acme).failed


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
    assert acme.records(commit)[CD] == ("success", "Starting, attempt 2: ci")
    assert result.summary.startswith("## kalypso poll: repeated lost starts\n")
    assert f"| `dev` with `{commit[:7]}` | the last start was lost, attempt 2 | " in result.summary


@breaks(
    "a commit waits for a run of cd that is not needed",
    turned(Repairs._show_newer, "table.has_begun(status)", "True"),
)
@pytest.mark.parametrize(
    ("posted", "shown"), [("Waiting: cd", "Superseded by {}"), ("Deploying", "Deploying")]
)
def test_a_lost_cd_of_an_older_commit_is_not_needed(
    acme: Organisation, posted: str, shown: str
) -> None:
    at_rest(acme)
    older, newer = main_commit(acme), main_commit(acme, "another")
    lose(acme, older, CD, "ci")
    acme.status(older, "dev environment", posted)
    name_in_base(acme, newer)
    at_rest(acme)
    assert started(run(acme)) == []
    assert acme.records(older)[CD] == ("success", "Not needed: ci")
    assert acme.statuses(older)["dev environment"] == ("pending", shown.format(newer[:7]))


@pytest.mark.parametrize(
    ("given", "starts"),
    [
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


def test_a_lost_cd_of_what_the_environment_has_is_settled(acme: Organisation) -> None:
    lost = main_commit(acme, "1")
    name_in_base(acme, main_commit(acme, "2"))
    at_rest(acme)
    lose(acme, lost, CD, "ci")
    assert started(run(acme)) == []
    assert acme.records(lost)[CD] == ("success", "Not needed: ci")
    acme.forget()
    run(acme)
    assert acme.writes() == acme.recorded() == []


CHECK = "kalypso / check-promote dev acme/gitops"
G = "c" * 40


# check-promote


def test_a_lost_check_is_started_again(acme: Organisation) -> None:
    at_rest(acme)
    commit = acme.head("main") or ""
    lose(acme, commit, CHECK, G)
    assert started(run(acme)) == [("check-promote.yaml", "dev", 2)]
    given = {
        "environment": "dev",
        "promoted_commit_id": commit,
        "commit_id": G,
        "gitops_repository": GITOPS,
    }
    assert acme.dispatches() == [Dispatch("check-promote.yaml", given)]
    assert acme.records(commit)[CHECK] == ("success", f"Starting, attempt 2: {G}")


@pytest.mark.parametrize("subject", ["ci", "c" * 39])
def test_a_check_without_a_commit_is_not_repeated(acme: Organisation, subject: str) -> None:
    at_rest(acme)
    lose(acme, acme.head("main") or "", CHECK, subject)
    assert document(run(acme)) == PollDocument()


def test_a_lost_check_of_what_is_deployed_is_settled(acme: Organisation) -> None:
    at_rest(acme)
    commit = acme.head("main") or ""
    lose(acme, commit, CHECK, G)
    acme.status(commit, "dev environment", "Deployed")
    assert started(run(acme)) == []
    assert acme.records(commit)[CHECK] == ("success", f"Not needed: {G}")


# Our pull request


def test_no_check_is_started_while_our_pull_request_is_open(acme: Organisation) -> None:
    number = propose(acme)
    at_rest(acme)
    commit = acme.head("main") or ""
    lose(acme, commit, CHECK, G)
    assert document(run(acme)) == PollDocument()
    acme.close(number)
    at_rest(acme)
    assert started(run(acme)) == [("check-promote.yaml", "dev", 2)]


def test_a_pull_request_that_is_to_be_merged(acme: Organisation) -> None:
    number = propose(acme, auto_merge="always")
    at_rest(acme)
    result = run(acme)
    assert started(result) == [("schedule.yaml", "dev", 1)]
    (start,) = document(result).started
    assert start.reason == f"acme/gitops#{number} is ready for a merge"


def test_a_pull_request_that_conflicts(acme: Organisation) -> None:
    acme.commit({"large/README.md": "Old.\n"}, "dev", GITOPS)
    number = propose(acme)
    acme.commit({"large/README.md": "Other.\n"}, "dev", GITOPS)
    assert acme.ask("GET", f"{GITOPS}/pulls/{number}")["mergeable"] is False
    at_rest(acme)
    result = run(acme)
    reasons = [start.reason for start in document(result).started]
    assert reasons == [f"acme/gitops#{number} conflicts with its branch"]
