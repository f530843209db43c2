"""The chain's commands check who started their run: people, bots, and on which branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.check_promote import check_promote
from kalypso_actions.commands.poll import poll
from kalypso_actions.commands.schedule import schedule
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import CdInputs, CheckPromoteInputs, PollInputs, ScheduleInputs
from kalypso_actions.promotion.start_records import cd_context, schedule_context, starting
from tests.breaks import breaks, turned
from tests.commands.chain import cd_runs
from tests.commands.chain.organisation import GITOPS, Job, Organisation
from tests.commands.chain.polls import post

BOT = "kalypso-notifier[bot]"
BY_BOT = Job(actor=BOT)
AGAIN_BY_BOT = Job(actor="ada", triggering_actor=BOT, attempt=2)
EVENT = {"repository": {"default_branch": "main"}}

COMMANDS: list[tuple[Callable[..., Any], type[Any], dict[str, Any]]] = [
    (cd, CdInputs, {"environment": "dev", "commit": "a" * 40}),
    (schedule, ScheduleInputs, {"environment": "dev"}),
    (check_promote, CheckPromoteInputs, {"environment": "dev", "gitops_commit": "a" * 40}),
    (poll, PollInputs, {}),
]


@breaks(
    "a command does not check its start",
    turned("kalypso_actions.commands.poll.poll", "checked_start(context)", "None"),
    case="poll",
)
@pytest.mark.parametrize(("command", "model", "given"), COMMANDS)
@pytest.mark.parametrize("payload", [{}, EVENT], ids=["no default", "default"])
def test_a_run_on_another_branch_ends(
    acme: Organisation,
    command: Callable[..., Any],
    model: type[Any],
    given: dict[str, Any],
    payload: dict[str, Any],
) -> None:
    job = Job(ref="refs/heads/dev", payload=payload)
    with pytest.raises(UsageError, match="the run was started on refs/heads/dev"):
        acme.run(command, model, job=job, **given)
    assert acme.writes() == []


def cd_by(acme: Organisation, job: Job, commit: str, **inputs: Any) -> Any:
    return acme.run(cd, CdInputs, job=job, environment="dev", commit=commit, **inputs)


@breaks(
    "a bot leaves promoted-from empty",
    turned("kalypso_actions.commands.cd._check_start", "not inputs.promoted_from", "False"),
    case="empty",
)
@breaks(
    "a bot allows a rollback",
    turned("kalypso_actions.commands.cd._check_start", "inputs.allow_rollback", "False"),
    case="rollback",
)
@pytest.mark.parametrize("job", [BY_BOT, AGAIN_BY_BOT], ids=["started", "again"])
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        pytest.param({}, "only a person may leave promoted-from empty", id="empty"),
        pytest.param(
            {"promoted_from": "ci", "allow_rollback": "true"},
            "only a person may give allow-rollback",
            id="rollback",
        ),
        pytest.param({"promoted_from": "ci"}, "no status 'kalypso / cd dev'", id="unrecorded"),
    ],
)
def test_what_a_bot_may_not_ask_of_cd(
    acme: Organisation, job: Job, inputs: dict[str, str], message: str
) -> None:
    commit = cd_runs.change_main(acme)
    before = acme.head("dev")
    if "allow_rollback" in inputs:
        post(acme, commit, starting("ci").status(cd_context("dev")))
    acme.forget()
    for verify_only in ("true", "false"):
        with pytest.raises(UsageError, match=message):
            cd_by(acme, job, commit, verify_only=verify_only, **inputs)
    assert acme.head("dev") == before
    assert acme.writes() == []
    cd_by(acme, job, commit, trusted_dispatchers=BOT, **inputs)
    assert cd_runs.has(acme) == commit


@breaks(
    "the record of another start counts",
    turned(
        "kalypso_actions.commands.shared.own_statuses.was_recorded",
        "latest is None or latest.subject == subject",
        "True",
    ),
)
@breaks(
    "anybody's record counts",
    turned(
        "kalypso_actions.commands.shared.own_statuses._ever_posted",
        "identity.may_be_of_chain(status.author)",
        "True",
    ),
)
def test_a_recorded_start_by_a_bot(acme: Organisation) -> None:
    commit, name = cd_runs.change_main(acme), cd_context("dev")
    person = acme.sandbox.create_token("user", None, login="eve", owner="acme")
    body = {"context": name, "description": starting("ci").description, "state": "pending"}
    acme.ask("POST", f"acme/control-plane/statuses/{commit}", body, token=person)
    with pytest.raises(UsageError, match="no status"):
        cd_by(acme, BY_BOT, commit, promoted_from="ci")
    post(acme, commit, starting("qa").status(name))
    with pytest.raises(UsageError, match="no status"):
        cd_by(acme, BY_BOT, commit, promoted_from="ci")
    post(acme, commit, starting("ci").status(name))
    post(acme, commit, starting("qa").status(name))
    assert cd_by(acme, BY_BOT, commit, promoted_from="ci").document.changed
    # The record of the run stays, so that it can be run again.
    assert cd_by(acme, BY_BOT, commit, promoted_from="ci").document.action == "unchanged"


@breaks(
    "a bot allows removals",
    turned("kalypso_actions.commands.schedule._checked", "inputs.allow_removals", "False"),
)
def test_what_a_bot_may_not_ask_of_schedule(acme: Organisation) -> None:
    given: dict[str, Any] = {"environment": "dev", "allow_removals": "true"}
    with pytest.raises(UsageError, match="only a person may give allow-removals"):
        acme.run(schedule, ScheduleInputs, job=BY_BOT, **given)
    acme.run(schedule, ScheduleInputs, job=BY_BOT, trusted_dispatchers=BOT, **given)
    assert acme.pulls()


def test_force_by_a_bot(acme: Organisation) -> None:
    given: dict[str, Any] = {"environment": "dev", "force": "true"}
    acme.run(schedule, ScheduleInputs, environment="dev")
    (pull,) = acme.pulls(GITOPS)
    acme.close(pull["number"], GITOPS)
    acme.forget()
    acme.run(schedule, ScheduleInputs, job=BY_BOT, **given)
    assert acme.pulls(GITOPS) == []
    assert any("force does not count: kalypso-notifier[bot]" in line for line in acme.logged)
    head = acme.head("dev") or ""
    post(acme, head, starting("inputs not read yet", force=True).status(schedule_context("dev")))
    acme.run(schedule, ScheduleInputs, job=BY_BOT, **given)
    assert len(acme.pulls(GITOPS)) == 1
