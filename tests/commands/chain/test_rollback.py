"""`kalypso rollback`: to the last good commit, with a hold, along the chain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kalypso_actions.clients.git import PushConflictError, RemoteRepositories
from kalypso_actions.commands.rollback import (
    RollbackRun,
    rollback,
    show_rollback,
    start_rollback,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.status import status
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import RollbackInputs, StatusInputs
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.rollback_document import RollbackDocument
from kalypso_actions.report.status_document import StatusDocument
from kalypso_actions.runner import JobContext
from tests.breaks import breaks, returning, turned
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import DEV, SCHEDULE, bring, change_main, has, promote, run
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import CONTROL_PLANE, Dispatch, Organisation

HOLD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\nspec:\n"


def go_back(acme: Organisation, environment: str = "dev", **inputs: Any) -> CommandResult:
    return acme.run(rollback, RollbackInputs, environment=environment, **inputs)


def document(result: CommandResult) -> RollbackDocument:
    assert isinstance(result.document, RollbackDocument)
    return result.document


def actions(result: CommandResult) -> list[tuple[str, str, str]]:
    return [
        (entry.environment, entry.action, entry.commit) for entry in document(result).environments
    ]


def holds(acme: Organisation, branch: str = "dev") -> str:
    """Return the policy of an environment, "" without one."""
    return acme.files(branch).get(POLICY_FILE, "")


def message(result: CommandResult) -> str:
    return document(result).problems[0].message


def test_to_the_last_good_commit(acme: Organisation) -> None:
    good, never = promote(acme, "1"), promote(acme, "2", deployed=False)
    bad = promote(acme, "3")
    before = acme.head("dev")
    acme.forget()
    result = go_back(acme, reason="incident 4711")
    assert actions(result) == [("dev", "write", good)]
    assert has(acme) == good
    # One commit writes both.
    made = acme.sandbox.git(CONTROL_PLANE).commit("dev")
    assert made.parents == (before,)
    assert made.message.startswith("Promoting Commit_Id to the environment\n\nRolled back from ")
    assert holds(acme).endswith(
        f"spec:\n  holds:\n  - reason: 'rolled back from {bad[:7]} (incident 4711)'\n"
        f"    by: 'somebody'\n    at: '{good}'\n"
    )
    assert acme.statuses(good)[DEV] == ("pending", "Promoted")
    assert acme.statuses(bad)[DEV] == ("success", "Deployed")
    assert acme.statuses(never)[DEV] == ("pending", f"Superseded by {bad[:7]}")
    assert acme.dispatches()[-1] == SCHEDULE
    assert result.document.outputs() == {"changed": "true", "commit": good}
    assert result.summary.startswith(
        f"## kalypso rollback: dev goes back from {bad[:7]} to {good[:7]}\n"
    )


@breaks(
    "a rollback that is repeated goes further back",
    turned(
        "kalypso_actions.promotion.rollbacks.decide_rollback",
        "facts.is_rolled_back and to in {'', present}",
        "False",
    ),
)
def test_a_repeated_rollback_goes_no_further_back(acme: Organisation) -> None:
    oldest, good = promote(acme, "1"), promote(acme, "2")
    promote(acme, "3")
    go_back(acme)
    head = acme.head("dev")
    result = go_back(acme)
    assert (actions(result), acme.head("dev")) == ([("dev", "unchanged", good)], head)
    assert document(result).headline == f"dev has gone back to {good[:7]} already"
    # A person who wants more names the commit; the hold of the rollback before goes.
    assert actions(go_back(acme, to=oldest)) == [("dev", "write", oldest)]
    assert holds(acme).count("reason:") == 1
    assert f"at: '{oldest}'" in holds(acme)
    # Without its hold, the rollback is over.
    acme.commit({POLICY_FILE: None}, "dev")
    assert actions(go_back(acme))[0][1] == "refused"


@breaks(
    "a killed rollback is not completed",
    turned(
        RollbackRun.writes_of,
        "step.decision.action in {'nothing', 'present'}",
        "step.decision.action != 'write'",
    ),
)
def test_a_killed_run_is_completed_by_the_next(acme: Organisation) -> None:
    good, bad = promote(acme, "1"), promote(acme, "2")
    acme.forget()
    assert is_killed(1, lambda: go_back(acme))
    assert (has(acme), f"at: '{good}'" in holds(acme), acme.writes()) == (
        good,
        True,
        [f"push {CONTROL_PLANE}"],
    )
    started = len(acme.dispatches())
    go_back(acme)
    assert acme.dispatches()[started:] == [SCHEDULE]
    assert has(acme) == good
    assert bad


@breaks(
    "somebody else's hold does not stop a rollback",
    turned(RollbackRun.read, "self.person", "'alice'"),
    case="alice",
)
@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        pytest.param("  holds: [{reason: mine, by: alice}]\n", "hold by alice: mine", id="alice"),
        pytest.param("  holds: [{reason: mine, by: Somebody}]\n", "", id="one's own"),
        pytest.param(
            "  holds: [{reason: over, by: alice, until: '2026-02-01T00:00:00Z'}]\n", "", id="over"
        ),
        pytest.param(
            "  freezes: [{cron: '* * * * *', duration: 1h, reason: peak}]\n", "", id="a freeze"
        ),
        pytest.param("  requires: {deployed: [stage], soak: 7d}\n", "", id="requirements"),
        pytest.param(
            "  holds: [{reason: mine}]\n", "spec.holds.0.by is missing", id="an invalid policy"
        ),
    ],
)
def test_what_stops_a_rollback(acme: Organisation, spec: str, refusal: str) -> None:
    good, bad = promote(acme, "1"), promote(acme, "2")
    acme.commit({POLICY_FILE: HOLD + spec}, "dev")
    head = acme.head("dev")
    result = go_back(acme)
    if refusal:
        assert refusal in message(result)
        assert result.failed
        if refusal.startswith("hold"):
            advice = document(result).problems[0].advice
            assert advice.endswith("release it for alice: kalypso release dev --by alice")
        assert (has(acme), acme.head("dev")) == (bad, head)
    else:
        assert (actions(result), has(acme)) == ([("dev", "write", good)], good)
        assert holds(acme).startswith(HOLD)


@pytest.mark.parametrize("verify_only", ["false", "true"])
@pytest.mark.parametrize("to", ["newer", "never deployed", "present", "older"])
def test_a_commit_that_a_person_names(acme: Organisation, to: str, verify_only: str) -> None:
    older = promote(acme, "1")
    never = promote(acme, "2", deployed=False)
    promote(acme, "3")
    present = promote(acme, "4")
    newer = change_main(acme, "5")
    commit = {"newer": newer, "never deployed": never, "present": present, "older": older}[to]
    head = acme.head("dev")
    result = go_back(acme, to=commit, verify_only=verify_only)
    expected = {
        "newer": f"{newer[:7]} is not older than {present[:7]}, which dev has",
        "never deployed": f"{never[:7]} was never Deployed in dev",
    }
    if to in expected:
        assert (message(result), acme.head("dev")) == (expected[to], head)
    else:
        action = "present" if to == "present" else "write"
        assert actions(result) == [("dev", action, commit)]
        written = to == "older" and verify_only == "false"
        assert has(acme) == (older if written else present)


def test_wrong_inputs(acme: Organisation) -> None:
    with pytest.raises(UsageError, match="there is no Environment 'prod'"):
        go_back(acme, "prod")
    with pytest.raises(UsageError, match="is not on main"):
        go_back(acme, to="e" * 40)
    refused = go_back(acme)
    assert "there is no commit to which dev can go back" in message(refused)
    advice = document(refused).problems[0].advice
    assert advice == "promote a correction: it has had no other commit"
    acme.commit({"base-repo.yaml": None}, "dev")
    assert "there is no commit to which dev can go back" in message(go_back(acme))


@pytest.mark.parametrize("actor", ["GITHUB_ACTOR", "GITHUB_TRIGGERING_ACTOR"])
def test_only_a_person_rolls_back(acme: Organisation, actor: str) -> None:
    promote(acme, "1")
    promote(acme, "2")
    head = acme.head("dev")
    with pytest.raises(UsageError, match="only a person may start a rollback"):
        go_back(acme, variables={actor: "kalypso-notifier[bot]"})
    assert acme.head("dev") == head
    trusted = go_back(acme, variables={actor: "pager[bot]"}, trusted_dispatchers="pager[bot]")
    assert not trusted.failed


def chain_of(acme: Organisation) -> tuple[str, str, str]:
    """Bring commits to dev and stage, the last one to both; return them."""
    first, second = promote(acme, "1"), promote(acme, "2")
    bring(acme, first, "stage")
    bad = promote(acme, "3")
    bring(acme, bad, "stage")
    return first, second, bad


@breaks(
    "an environment goes back before those behind it",
    turned(RollbackRun.of, "(*behind, name)", "(name, *behind)"),
)
def test_the_chain_goes_back_last_first(acme: Organisation) -> None:
    first, second, _ = chain_of(acme)
    started = len(acme.dispatches())
    result = go_back(acme, chain="true", reason="it leaks")
    assert actions(result) == [("stage", "write", first), ("dev", "write", second)]
    assert [has(acme, name) for name in ("dev", "stage")] == [second, first]
    assert f"at: '{first}'" in holds(acme, "stage")
    assert acme.dispatches()[started:] == [
        Dispatch("schedule.yaml", {"environment": "stage"}),
        SCHEDULE,
    ]
    # Killed after each write, the next run completes it.
    result = go_back(acme, chain="true")
    assert actions(result) == [("stage", "unchanged", first), ("dev", "unchanged", second)]


@breaks(
    "a rollback knows no environment that a variable names as next",
    turned(RollbackRun.of, "_origins(name, environments, context)", "{}"),
)
@pytest.mark.parametrize("killed_after", [0, 2])
def test_a_variable_says_the_order(acme: Organisation, killed_after: int) -> None:
    acme.commit({".environments/dev.yaml": documents.environment(acme.url(), "dev")})
    first, second, bad = chain_of(acme)
    acme.status(bad, "kalypso / cd stage", "Received: dev", "success")
    if killed_after:
        is_killed(killed_after, lambda: go_back(acme, chain="true"))
        assert [has(acme, name) for name in ("dev", "stage")] == [bad, first]
    result = go_back(acme, chain="true")
    assert [has(acme, name) for name in ("dev", "stage")] == [second, first]
    assert [entry.environment for entry in document(result).environments] == ["stage", "dev"]


@breaks(
    "a rollback leaves cd's proposal as it is",
    returning(RollbackRun._proposal_status, ()),
)
def test_what_cd_has_proposed_may_not_be_merged_after_a_rollback(acme: Organisation) -> None:
    promote(acme, "1")
    bad = promote(acme, "2")
    newer = change_main(acme, "3")
    run(acme, newer, promoted_from="ci", mode="pull-request")
    assert waits(acme, "review and merge")
    head = acme.head("kalypso/promote/dev") or ""
    go_back(acme, reason="it leaks")
    held = f"hold by somebody: rolled back from {bad[:7]} (it leaks)"
    assert acme.statuses(head)["kalypso / policy"] == ("failure", f"Waiting: {held}")
    assert not waits(acme, "review and merge")
    (number,) = [pull["number"] for pull in acme.pulls(CONTROL_PLANE)]
    end = "after the end of this: hold by somebody"
    assert waits(acme, f"merge {CONTROL_PLANE}#{number} {end}")
    assert waits(acme, f"release the {held}")


def waits(acme: Organisation, beginning: str) -> list[str]:
    """Return what dev waits for, as far as it begins like this."""
    read: list[StatusDocument] = []

    def command(inputs: StatusInputs, context: CommandContext) -> CommandResult:
        read.append(status(inputs, context))
        return CommandResult(read[0], "")  # type: ignore[arg-type]  # it has no summary

    acme.run(command, StatusInputs, environment="dev")
    texts = [wait.text for wait in read[0].environments[0].waits]
    return [text for text in texts if text.startswith(beginning)]


def test_the_same_target_where_it_was_deployed(acme: Organisation) -> None:
    first, second, bad = chain_of(acme)
    bring(acme, second, "stage")
    bring(acme, first, "stage")
    bring(acme, bad, "stage")
    result = go_back(acme, chain="true", to=first)
    assert actions(result) == [("stage", "write", first), ("dev", "write", first)]
    assert second


def test_an_environment_without_the_commit_stays(acme: Organisation) -> None:
    first, second = promote(acme, "1"), promote(acme, "2")
    bring(acme, first, "stage")
    bad = promote(acme, "3")
    head = acme.head("stage")
    assert actions(go_back(acme, chain="true")) == [
        ("stage", "nothing", ""),
        ("dev", "write", second),
    ]
    assert acme.head("stage") == head
    assert bad


def test_one_environment_that_cannot_go_back_stops_all(acme: Organisation) -> None:
    chain_of(acme)
    acme.commit({POLICY_FILE: HOLD + "  holds: [{reason: audit, by: alice}]\n"}, "stage")
    heads = [acme.head(name) for name in ("dev", "stage")]
    result = go_back(acme, chain="true")
    assert "hold by alice: audit" in message(result)
    assert document(result).headline == "stage does not go back, so no environment goes back"
    assert [acme.head(name) for name in ("dev", "stage")] == heads
    assert not go_back(acme).failed


@pytest.mark.parametrize(
    "killed_after",
    [
        *(1, 4, 7, 10),
        *(pytest.param(count, marks=pytest.mark.slow) for count in (2, 3, 5, 6, 8, 9, 11)),
    ],
)
def test_a_chain_killed_anywhere(acme: Organisation, killed_after: int) -> None:
    first, second, _ = chain_of(acme)
    acme.forget()
    is_killed(killed_after, lambda: go_back(acme, chain="true"))
    go_back(acme, chain="true")
    assert [has(acme, name) for name in ("dev", "stage")] == [second, first]
    assert {dispatch.inputs["environment"] for dispatch in acme.dispatches()} >= {"dev", "stage"}
    assert [holds(acme, name).count("reason:") for name in ("dev", "stage")] == [1, 1]


@breaks(
    "a rollback writes over a hold that came in between",
    turned(
        RollbackRun.carry_out,
        "next(steps, None) or self.read_again(name)",
        "step",
    ),
)
def test_a_hold_that_comes_in_between(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    promote(acme, "1")
    bad = promote(acme, "2")
    push = RemoteRepositories.push

    def late(remotes: RemoteRepositories, *given: Any, **named: Any) -> None:
        monkeypatch.setattr(RemoteRepositories, "push", push)
        acme.commit({POLICY_FILE: HOLD + "  holds: [{reason: late, by: alice}]\n"}, "dev")
        push(remotes, *given, **named)

    monkeypatch.setattr(RemoteRepositories, "push", late)
    result = go_back(acme)
    assert "hold by alice: late" in message(result)
    assert has(acme) == bad


def test_a_branch_that_moves_all_the_time(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote(acme, "1")
    promote(acme, "2")
    push = RemoteRepositories.push

    def late(remotes: RemoteRepositories, *given: Any, **named: Any) -> None:
        acme.commit({"notes.txt": str(acme.clock())}, "dev")
        push(remotes, *given, **named)

    monkeypatch.setattr(RemoteRepositories, "push", late)
    with pytest.raises(PushConflictError) as moved:
        go_back(acme)
    assert isinstance(moved.value, KalypsoError)


def at_terminal(acme: Organisation, **inputs: Any) -> RollbackDocument:
    """Roll back dev as a person at a terminal does."""
    shown: list[RollbackDocument] = []

    def command(given: RollbackInputs, context: CommandContext) -> CommandResult:
        context = replace(context, runtime=replace(context.runtime, job=JobContext()))
        shown.append(start_rollback(given, context))
        return CommandResult(shown[0], "")

    acme.run(command, RollbackInputs, environment="dev", control_plane=CONTROL_PLANE, **inputs)
    return shown[0]


@pytest.mark.parametrize("end", ["success", "failure"])
def test_a_person_starts_the_workflow_and_follows_it(acme: Organisation, end: str) -> None:
    good, bad = promote(acme, "1"), promote(acme, "2")
    started = len(acme.dispatches())
    sleep = acme.clock.sleep
    looks: list[float] = []
    told: list[list[str]] = []

    def run_meanwhile(seconds: float) -> None:
        sleep(seconds)
        looks.append(seconds)
        with acme.sandbox.lock:
            run = acme.sandbox.repository(CONTROL_PLANE).runs[-1]
            run.title = "Roll back dev"
            if len(looks) == 3:
                run.status, run.conclusion = "completed", end
        told.append(waits(acme, "of the rollback, which was started"))

    acme.clock.sleep = run_meanwhile  # type: ignore[method-assign]  # of this clock only
    read = at_terminal(acme, reason="incident 4711", chain="true")
    inputs = {"environment": "dev", "to": good, "chain": "true", "reason": "incident 4711"}
    assert acme.dispatches()[started:] == [Dispatch("rollback.yaml", inputs)]
    assert [len(each) for each in told] == [1, 1, 0]
    assert read.run_url.startswith(f"{acme.url()}/actions/runs/")
    assert [problem.message for problem in read.problems] == (
        [] if end == "success" else ["the run of rollback.yaml ended with failure"]
    )
    assert read.next_step.endswith("until kalypso release dev." if end == "success" else "")
    assert bool(read.next_step) == (end == "success")
    assert has(acme) == bad


@breaks(
    "a person's dry run asks what the person has deployed",
    turned(
        "kalypso_actions.commands.shared.policy_entry.read_verdict",
        "goes_back and was_deployed(context, commit, table.context(name), any_app=True)",
        "goes_back and was_deployed(context, commit, table.context(name))",
    ),
)
def test_requirements_stop_no_dry_run_of_a_person(acme: Organisation) -> None:
    """Kalypso's App has posted what a person reads with a token of its own."""
    good = change_main(acme, "1")
    bring(acme, good, deployed=False)
    token = acme.sandbox.create_token("user", None, login="kalypso[bot]", owner="acme")
    deployed = {"context": DEV, "description": "Deployed", "state": "success"}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{good}", deployed, token=token)
    promote(acme, "2")
    acme.commit({POLICY_FILE: HOLD + "  requires: {deployed: [stage], soak: 7d}\n"}, "dev")
    shown: list[CommandResult] = []

    def command(given: RollbackInputs, context: CommandContext) -> CommandResult:
        context = replace(context, runtime=replace(context.runtime, job=JobContext()))
        shown.append(rollback(given, context))
        return shown[0]

    acme.run(command, RollbackInputs, environment="dev", dry_run="true")
    assert actions(shown[0]) == [("dev", "write", good)]
    lines = [write.line for write in document(shown[0]).writes]
    assert lines[0].startswith(f"{CONTROL_PLANE}: push: ")
    assert not [line for line in lines if "Waiting" in line]


def test_a_person_starts_nothing_in_vain(acme: Organisation) -> None:
    promote(acme, "1")
    promote(acme, "2")
    acme.commit({POLICY_FILE: HOLD + "  holds: [{reason: mine, by: alice}]\n"}, "dev")
    started = len(acme.dispatches())
    assert at_terminal(acme).problems
    assert len(acme.dispatches()) == started


def test_a_dry_run_shows_what_changes(acme: Organisation) -> None:
    good, bad = promote(acme, "1"), promote(acme, "2")
    asked: list[tuple[str, str, str]] = []

    def compare(*given: str) -> ComparisonEntry:
        asked.append(given)  # type: ignore[arg-type]  # three texts
        return ComparisonEntry()

    def command(given: RollbackInputs, context: CommandContext) -> CommandResult:
        return CommandResult(show_rollback(given, context, compare), "")

    head = acme.head("dev")
    result = acme.run(command, RollbackInputs, environment="dev", dry_run="true", chain="true")
    assert asked == [("dev", bad, good)]
    assert [entry.changes is None for entry in document(result).environments] == [True, False]
    assert document(result).writes[0].what == f"2 files to dev: {POLICY_FILE}, base-repo.yaml"
    left = f"dev environment: Rolled back to {good[:7]} (on {bad[:7]}, unless that is Deployed)"
    assert left in [write.what for write in document(result).writes]
    hold = document(result).environments[1].hold
    assert hold
    assert hold.line == f"held by somebody, except {good[:7]}: rolled back from {bad[:7]}"
    assert acme.head("dev") == head
