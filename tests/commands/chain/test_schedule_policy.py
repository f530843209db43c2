"""`kalypso schedule` while a freeze or hold of the environment applies."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.rollback import rollback
from kalypso_actions.commands.schedule.command import schedule
from kalypso_actions.commands.shared.policy_entry import read_closed
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.gitops import proposal_decision
from kalypso_actions.gitops.proposal_decision import ProposalDecision, held
from kalypso_actions.inputs.chain import RollbackInputs, ScheduleInputs
from kalypso_actions.promotion.policy import PolicyVerdict
from kalypso_actions.report.markdown import plain
from kalypso_actions.report.pull_request import means
from kalypso_actions.report.schedule_document import ScheduleDocument
from tests.breaks import breaks, returning, turned
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import promote
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.proposals import configure

HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"
HELD = "holds: [{reason: incident 42, by: alice}]"
FREEZE = (
    "freezes: [{from: 2020-01-01T00:00:00Z, to: 2050-01-01T00:00:00Z, reason: x, allow: [hotfix]}]"
)
OPEN = "queue: newest"


def policy(acme: Organisation, spec: str) -> None:
    acme.commit({".github/kalypso/promotion.yaml": f"{HEAD}spec: {{{spec}}}\n"}, "dev")


def run(acme: Organisation, **inputs: Any) -> CommandResult:
    return acme.run(schedule, ScheduleInputs, environment="dev", **inputs)


def warned(result: CommandResult) -> list[str]:
    assert isinstance(result.document, ScheduleDocument)
    return [item.message for item in result.document.warnings if "proposed:" in item.message]


@breaks("schedule proposes during a freeze", returning(read_closed, PolicyVerdict()), case="freeze")
@pytest.mark.parametrize(
    ("spec", "inputs", "reason"),
    [
        (OPEN, {}, ""),
        (HELD, {}, "hold by alice: incident 42"),
        (FREEZE, {}, "freeze until 2050-01-01 00:00 UTC: x"),
        (HELD, {"force": "true"}, ""),
        ("hold: []", {}, ""),
        ("requires: {checks: [{name: smoke, from: acme-ci}]}", {}, ""),
    ],
    ids=["open", "hold", "freeze", "force", "invalid", "requires"],
)
def test_nothing_is_proposed(
    acme: Organisation, spec: str, inputs: dict[str, str], reason: str
) -> None:
    policy(acme, spec)
    result = run(acme, **inputs)
    assert not result.failed
    assert len(acme.pulls()) == (0 if reason else 1)
    assert warned(result) == ([f"nothing is proposed: {reason}"] if reason else [])
    held = f"dev has changes that are not proposed now: {reason}."
    assert ((held in acme.logged), ("up to date" in result.summary)) == (bool(reason), False)
    if reason:
        policy(acme, OPEN)
        run(acme)
        assert len(acme.pulls()) == 1


def test_an_open_pull_request_stays_as_it_is(acme: Organisation) -> None:
    run(acme, auto_merge="none")
    (pull,) = acme.pulls()
    policy(acme, HELD)
    configure(acme, REGION="north")
    result = run(acme, auto_merge="always")
    assert warned(result) == ["nothing is proposed: hold by alice: incident 42"]
    (now,) = acme.pulls()
    assert (now["head"]["sha"], now["body"]) == (pull["head"]["sha"], pull["body"])


@breaks("a pull request does not say what holds", returning(means, "promotion-meaning"))
def test_nothing_is_merged_automatically(acme: Organisation) -> None:
    run(acme)
    policy(acme, HELD)
    run(acme, auto_merge="always")
    (pull,) = acme.pulls()
    assert "Kalypso merges nothing here while this holds: hold by alice: incident 42." in plain(
        pull["body"]
    )
    policy(acme, OPEN)
    run(acme, auto_merge="always")
    assert acme.pulls() == []


@pytest.mark.parametrize(
    ("spec", "then"),
    [
        ("", "then stage"),
        ("requires: {deployed: [dev]}", "then stage"),
        ("requires: {deployed: [dev, perf]}", "then stage once perf has deployed it"),
        ("requires: {deployed: [unknown]}", "then stage"),
        ("requires: {deployed: [dev], soak: 2h}", "then stage once its policy lets it in"),
        ("hold: []", "then stage once its policy is valid"),
    ],
    ids=["no policy", "itself", "a join", "unknown", "a soak", "invalid"],
)
def test_a_pull_request_says_when_the_next_environment_lets_it_in(
    acme: Organisation, spec: str, then: str
) -> None:
    perf = documents.environment(acme.url(), "perf")
    acme.commit({".environments/perf.yaml": perf})
    if spec:
        acme.commit({".github/kalypso/promotion.yaml": f"{HEAD}spec: {{{spec}}}\n"}, "stage")
    run(acme)
    (pull,) = acme.pulls()
    assert f"; when they comply, {then}.\n" in pull["body"]


def test_the_pull_request_of_a_rollback_names_its_hold(acme: Organisation) -> None:
    good, bad = promote(acme, "1"), promote(acme, "2")
    run(acme)
    acme.merge(acme.pulls()[0]["number"])
    acme.run(rollback, RollbackInputs, environment="dev", reason="it leaks")
    run(acme)
    (pull,) = acme.pulls()
    assert pull["title"] == f"dev: roll back to {good[:7]}"
    said = f"during the hold by somebody: rolled back from {bad[:7]} (it leaks)."
    assert said in plain(pull["body"])


@breaks(
    "a rollback during a freeze is not proposed",
    turned(
        read_closed,
        "is_overridden or was_deployed(context, commit, table.context(name), any_app=True)",
        "False",
    ),
    case="rollback",
)
@pytest.mark.parametrize(
    ("context", "description"),
    [("dev environment", "Deployed"), ("kalypso / policy dev", "Overridden by ann: why")],
    ids=["rollback", "override"],
)
def test_what_cd_has_let_in_is_proposed(acme: Organisation, context: str, description: str) -> None:
    commit = acme.head("main") or ""
    acme.status(commit, context, description, "success")
    policy(acme, FREEZE)
    run(acme)
    (pull,) = acme.pulls()
    acme.merge(pull["number"])
    configure(acme, REGION="north")
    assert warned(run(acme)) == ["nothing is proposed: freeze until 2050-01-01 00:00 UTC: x"]


def test_the_end_of_a_freeze_is_recorded_for_poll(acme: Organisation) -> None:
    policy(acme, FREEZE)
    run(acme)
    (record,) = [
        text
        for name, (_, text) in acme.records(acme.head("dev") or "").items()
        if "schedule" in name
    ]
    assert record.endswith(", again at 2050-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("action", "force", "after"),
    [
        ("create", False, "wait"),
        ("update", False, "wait"),
        ("create", True, "create"),
        ("leave", False, "leave"),
        ("withdraw", False, "withdraw"),
        ("none", False, "none"),
        ("stop", False, "stop"),
    ],
)
def test_decisions(action: Any, after: str, *, force: bool) -> None:
    decision = held(ProposalDecision(action), "hold by ann: x", force=force)
    assert (decision.action, decision.hold) == (after, "hold by ann: x")
    assert held(ProposalDecision(action), "", force=force) == ProposalDecision(action)
    assert proposal_decision.ends_auto_merge(decision, merges=False, is_own=True)
