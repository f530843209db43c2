"""`kalypso schedule` while a freeze or hold of the environment applies."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.rollback import rollback
from kalypso_actions.commands.schedule import schedule
from kalypso_actions.commands.schedule.writes import ScheduleWrites
from kalypso_actions.commands.shared.policy_entry import read_closed
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.gitops import proposal_decision
from kalypso_actions.gitops.proposal_decision import ProposalDecision, held
from kalypso_actions.inputs.chain import RollbackInputs, ScheduleInputs
from kalypso_actions.promotion.policy import POLICY_CONTEXT, PolicyVerdict, next_closing
from kalypso_actions.report.markdown import plain
from kalypso_actions.report.pull_request import WAITING, means
from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_sandbox import Fault
from tests.breaks import breaks, returning, turned
from tests.commands.chain import documents
from tests.commands.chain.cd_runs import promote
from tests.commands.chain.organisation import GITOPS, Organisation
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


def shown(acme: Organisation) -> tuple[str, str, str]:
    """Return the status of the open pull request's head, and what its text says of a hold."""
    (pull,) = acme.pulls()
    state, told = acme.statuses(pull["head"]["sha"], GITOPS).get(POLICY_CONTEXT, ("", ""))
    begin, _, text = plain(pull["body"]).partition(WAITING)
    assert "After the merge" in begin
    return state, told, text.partition(".")[0].strip() if text else ""


FREE = ("success", "The environment's policy lets it in", "")
INCIDENT = ("failure", "Waiting: hold by alice: incident 42", "hold by alice: incident 42")


@breaks(
    "an open pull request does not say what has come to hold it",
    turned(ScheduleWrites._closed, 'proposal.decision.action == "wait"', "False"),
    case="changed",
)
@breaks(
    "a blocked environment's pull request does not say what holds it",
    turned(ScheduleWrites._closed, "decision.writes_nothing or not decision.proposals", "False"),
    case="blocked",
)
@breaks(
    "a proposal to a GitOps branch counts as allowed during a hold",
    turned(ScheduleWrites._policy_status, "snapshot.closed.description", "''"),
)
@breaks(
    "a faulty policy lets merge what a hold kept out",
    turned(ScheduleWrites._closed, "snapshot.policy.problems", "()"),
    case="invalid",
)
@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ("none", "meaning"),
        ("changed", "meaning"),
        ("changed", "upstream"),
        ("blocked", "meaning"),
        ("failing", "meaning"),
        ("invalid", "meaning"),
        ("absent", "meaning"),
    ],
)
def test_an_open_pull_request_says_what_holds_it(
    acme: Organisation, changes: str, title: str
) -> None:
    run(acme, title=title)
    assert shown(acme) == ("", "", "")
    (pull,) = acme.pulls()
    policy(acme, HELD)
    if changes == "changed":
        configure(acme, REGION="north")
    if changes == "blocked":
        acme.commit({"fault.yaml": "kind: ["}, "dev")
    if changes == "failing":
        broken = documents.cluster_type("large", reconciler="nowhere")
        acme.commit({"cluster-types/large.yaml": broken}, "dev")
    result = run(acme, title=title, auto_merge="always")
    assert result.failed == (changes in {"blocked", "failing"})
    assert shown(acme) == INCIDENT
    if changes == "changed":
        assert warned(result) == ["nothing is proposed: hold by alice: incident 42"]
        assert acme.pulls()[0]["head"]["sha"] == pull["head"]["sha"]
    if changes == "invalid":
        policy(acme, "hold: []")
        run(acme, title=title)
        assert shown(acme)[:2] == INCIDENT[:2]
    if changes == "absent":
        acme.commit({".github/kalypso/promotion.yaml": None}, "dev")
    else:
        policy(acme, OPEN)
    run(acme, title=title)
    assert shown(acme) == FREE


def test_without_its_permission_the_text_says_what_holds(acme: Organisation) -> None:
    policy(acme, HELD)
    refused = Fault("POST", f"/repos/{GITOPS}/statuses/*", "status", status=403, count=0)
    with acme.sandbox.faults.on(refused):
        assert not run(acme, force="true").failed
    assert shown(acme) == ("", "", INCIDENT[2])
    assert any(line.startswith("'kalypso / policy' is not posted: ") for line in acme.logged)


@breaks(
    "an open pull request does not say that a freeze has begun",
    returning(next_closing, None),
)
def test_the_beginning_of_a_freeze_is_recorded_for_poll(acme: Organisation) -> None:
    policy(acme, FREEZE.replace("2020", "2049"))
    run(acme)
    record = acme.records(acme.head("dev") or "")["kalypso / schedule dev"][1]
    assert record.endswith(", again at 2049-01-01T00:00:00Z")
    run(acme, auto_merge="always")
    assert acme.pulls() == []
    assert "again at" not in acme.records(acme.head("dev") or "")["kalypso / schedule dev"][1]


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


def test_the_end_of_a_freeze_matters_to_no_branch_that_has_everything(acme: Organisation) -> None:
    run(acme, auto_merge="always")
    policy(acme, FREEZE)
    run(acme)
    assert "again at" not in acme.records(acme.head("dev") or "")["kalypso / schedule dev"][1]


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
