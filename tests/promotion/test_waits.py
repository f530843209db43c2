"""The state of each environment, and the causes of waiting."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import (
    ActiveRun,
    CommitStatus,
    CommitView,
    PullRequestView,
    RunStatus,
)
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.promotion_policy import Freeze, Hold, PromotionPolicy, RequiredCheck
from kalypso_actions.promotion.environments import in_order, previous_of
from kalypso_actions.promotion.policy import EntryFacts, PolicyVerdict, closed, unreadable
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.statuses import CI_CONTEXT
from kalypso_actions.promotion.waits import (
    EnvironmentMoment,
    PipelineProposal,
    Wait,
    waits_of,
    waits_of_main,
)
from tests.breaks import breaks, turned

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WHERE = Location("cp")
FACTS = EntryFacts("stage", "1" * 40)


def commit(length: int) -> CommitView:
    return CommitView(str(length) * 40, f"change {length}", "ann", NOON, length)


def posted(description: str) -> CommitStatus:
    return CommitStatus("dev environment", "pending", description, "https://run")


PULL = PipelineProposal(
    "acme/gitops", PullRequestView(5, "dev", "https://pull", "dev", "kalypso/dev", "bot", NOON)
)


def of_person(**fields: Any) -> PipelineProposal:
    return replace(PULL, pull_request=replace(PULL.pull_request, head="patch-1", **fields))


LEFT = replace(PULL, promoted_commit="2" * 40)


def rollback_run(status: RunStatus) -> ActiveRun:
    return ActiveRun(1, "https://run", "Roll back stage", status, NOON)


def moment(description: str = "", **given: Any) -> EnvironmentMoment:
    values: dict[str, Any] = {
        "name": "stage",
        "promoted": commit(1),
        "tracked_commits": ("1" * 40,),
        "status": posted(description) if description else None,
        "checks": (),
        "record": None,
        "proposals": (),
        "main": commit(3),
    }
    return EnvironmentMoment(**values | given)


def earlier(
    description: str, length: int, here: str = "", cd: str = ""
) -> tuple[EnvironmentMoment, ...]:
    """Return dev with a commit that has a status in stage, and a record of cd's start for it."""
    given = {"stage environment": here, "kalypso / cd stage": cd}
    statuses = {name: CommitStatus(name, "pending", text) for name, text in given.items() if text}
    return (moment(description, name="dev", promoted=replace(commit(length), statuses=statuses)),)


@breaks(
    "people merge the commit that an environment has left",
    turned(
        "kalypso_actions.promotion.waits._is_outdated",
        "promoted.id != proposal.promoted_commit",
        "False",
    ),
)
@breaks(
    "nobody is asked to approve a rollback",
    turned("kalypso_actions.promotion.waits._waits_of", 'rollback.status == "waiting"', "False"),
    case="rollback",
)
@pytest.mark.parametrize(
    ("given", "waits"),
    [
        (moment("Deployed"), []),
        (moment("Superseded by 2222222"), []),
        (moment("Deploying"), [("clusters", "report that they comply")]),
        (
            moment("Failed to deploy: till"),
            [
                (
                    "people",
                    "merge a correction, which is checked by itself, "
                    "or, if the clusters alone were at fault, run check-promote again",
                )
            ],
        ),
        (
            moment("Promoted", tracked_commits=("2" * 40,)),
            [("a run", "of schedule, which proposes the tree")],
        ),
        (moment("Promoted"), [("a run", "of check-promote, which follows the clusters")]),
        (
            moment("Promoted", proposals=(PULL,)),
            [("people", "review and merge acme/gitops#5: dev")],
        ),
        (
            moment("Promoted", proposals=(replace(PULL, promoted_commit="1" * 40),)),
            [("people", "review and merge acme/gitops#5: dev")],
        ),
        (
            moment("Promoted", proposals=(LEFT,)),
            [("a run", "of schedule: acme/gitops#5 still proposes 2222222, which stage has left")],
        ),
        (
            moment("Deployed", record=StartRecord("blocked", "d")),
            [("people", "correct the problems that keep schedule from proposing")],
        ),
        (
            moment("Deployed", record=StartRecord("given up", "d")),
            [("people", "start schedule: three starts led to no run")],
        ),
        (
            moment("Deployed", record=StartRecord("starting", "d")),
            [("a run", "of schedule, which was started")],
        ),
        (
            moment("Deployed", rollbacks=(rollback_run("waiting"),)),
            [("people", "approve the rollback, which was started")],
        ),
        (
            moment("Deployed", rollbacks=(rollback_run("queued"),)),
            [("a run", "of the rollback, which was started")],
        ),
        (moment(), []),
        (moment(tracked_commits=("",)), [("a run", "of schedule, which proposes the tree")]),
        (moment(tracked_commits=("",), record=StartRecord("scheduled", "d")), []),
        (moment("Deployed", previous=earlier("Deployed", 1)), []),
        (
            moment("Deployed", previous=earlier("Deploying", 2)),
            [("an environment", "dev, until 2222222 change 2 is deployed there")],
        ),
        (moment("Deployed", previous=earlier("Deployed", 2)), []),
        (
            moment("Deployed", previous=earlier("Deployed", 2, here="Waiting: cd")),
            [("a run", "of cd with 2222222 change 2, or of the approval of its job")],
        ),
        (
            moment("Deployed", previous=earlier("Deployed", 2, cd="Received: dev") * 2),
            [("a run", "of cd with 2222222 change 2, or of the approval of its job")],
        ),
        (
            moment("Deployed", previous=earlier("Deployed", 2, cd="Given up: dev")),
            [("people", "start cd with 2222222 change 2: three starts led to no run")],
        ),
        (
            moment("Deployed", previous=earlier("Deployed", 2, "Deployed", cd="Received: dev")),
            [],
        ),
        (
            moment("Deployed", previous=earlier("Deploying", 2, here="Rolled back to 1111111")),
            [],
        ),
        (
            moment(
                promoted=None,
                proposals=(
                    replace(PULL, pull_request=replace(PULL.pull_request, head="kalypso/stage")),
                ),
                previous=earlier("Deployed", 3),
            ),
            [("an environment", "dev, from which the first promotion comes into acme/gitops#5")],
        ),
        (
            moment("Deployed", proposals=(of_person(failed=("lint", "kalypso / policy")),)),
            [("people", "correct acme/gitops#5 (lint failed): dev")],
        ),
        (
            moment("Deployed", proposals=(of_person(conflicts=True),)),
            [("people", "correct acme/gitops#5 (it conflicts with dev): dev")],
        ),
        (
            moment(
                "Deployed", proposals=(replace(of_person(failed=("lint",)), held="hold by ann"),)
            ),
            [("people", "merge acme/gitops#5 after the end of this: hold by ann")],
        ),
        (
            moment(promoted=None, previous=earlier("Deploying", 2)),
            [("an environment", "dev, until 2222222 change 2 is deployed there")],
        ),
    ],
    ids=[
        "deployed",
        "superseded",
        "deploying",
        "failed",
        "promoted",
        "promoted and merged",
        "proposed",
        "proposed, as promoted",
        "proposed, and left",
        "blocked",
        "given up",
        "starting",
        "a rollback to approve",
        "a rollback",
        "merged without a status",
        "never scheduled",
        "scheduled without a status",
        "the same as before it",
        "an environment before it deploys",
        "nobody has started cd",
        "cd was started",
        "cd was started from two environments",
        "cd was started in vain",
        "rolled back from what was deployed",
        "rolled back from what was not deployed",
        "proposed before the first promotion",
        "a person's pull request fails",
        "a person's pull request conflicts",
        "a policy keeps a pull request out",
        "nothing promoted yet",
    ],
)
def test_what_waits_for_whom(given: EnvironmentMoment, waits: list[tuple[str, str]]) -> None:
    assert [(wait.waits_for, wait.text) for wait in waits_of(given)] == waits


def head(state: str, *contexts: str, text: str = "Promoted") -> CommitView:
    """Return the head of main with a status of ci, and statuses in other contexts."""
    given: Any = state
    statuses = {name: CommitStatus(name, "pending", text) for name in contexts}
    ci = {CI_CONTEXT: CommitStatus(CI_CONTEXT, given, "", "https://run")} if state else {}
    return replace(commit(3), statuses=statuses | ci)


@pytest.mark.parametrize(
    ("main", "promoted", "waits"),
    [
        (None, 1, []),
        (head(""), 3, []),
        (head(""), 1, [("a run", "of ci with 3333333 change 3: none has posted a status")]),
        (
            head("failure"),
            1,
            [("people", "correct the problems that ci found in 3333333 change 3")],
        ),
        (
            head("success"),
            1,
            [("a run", "of cd with 3333333 change 3, or of the approval of its job")],
        ),
        (
            head("success", "dev environment", text="Waiting: cd"),
            1,
            [("a run", "of cd with 3333333 change 3, or of the approval of its job")],
        ),
        (head("success", "dev environment"), 1, []),
    ],
    ids=["no main", "on its way", "no ci", "refused by ci", "no cd", "cd waits", "cd has decided"],
)
def test_what_main_waits_for(
    main: CommitView | None, promoted: int, waits: list[tuple[str, str]]
) -> None:
    environments = {"dev": moment(promoted=commit(promoted)), "stage": moment(promoted=None)}
    assert [(item.waits_for, item.text) for item in waits_of_main(main, environments)] == waits


@pytest.mark.parametrize(
    ("given", "description", "ahead"),
    [
        (moment("Deployed"), "Deployed", 2),
        (moment(), "Merged, without a status", 2),
        (moment(tracked_commits=("",)), "Promoted, without a status", 2),
        (moment(promoted=None), "Nothing promoted", None),
        (moment("Deployed", main=commit(1)), "Deployed", 0),
    ],
    ids=["a status", "merged", "not merged", "nothing", "up to date"],
)
def test_the_state_in_words(given: EnvironmentMoment, description: str, ahead: int | None) -> None:
    assert (given.description, given.ahead) == (description, ahead)


def environments(**next_of: str) -> dict[str, Environment]:
    place = RepositoryPath("cp", "b", ".")
    return {
        name: Environment(name, place, {"kalypso.io/next-environment": names}, WHERE, WHERE)
        for name, names in next_of.items()
    }


def test_the_order_of_environments() -> None:
    known = environments(prod="", a="", dev="qa, stage", qa="prod", stage="prod, absent")
    assert in_order(known) == ("dev", "qa", "stage", "prod", "a")
    assert previous_of("prod", known) == ["qa", "stage"]


def test_environments_in_a_circle_are_listed_once() -> None:
    assert sorted(in_order(environments(x="y", y="x"))) == ["x", "y"]


HOLD = Hold("incident", "ann")
FREEZE = Freeze("year end", NOON, NOON + timedelta(hours=1))


@pytest.mark.parametrize(
    ("verdict", "wait"),
    [
        (closed(PromotionPolicy(holds=(HOLD,)), FACTS, NOON), Wait("people", "release the hold by ann: incident")),
        (closed(PromotionPolicy(freezes=(FREEZE,)), FACTS, NOON), Wait("a run", "of cd, after the freeze until 13:00 UTC: year end")),
        (unreadable([Problem("no")]), Wait("people", "correct the policy: promotion.yaml is invalid: no")),
    ],
    ids=["hold", "freeze", "invalid"],
)  # fmt: skip
def test_what_a_policy_keeps_closed(verdict: PolicyVerdict, wait: Wait) -> None:
    """What people have to change has the page of the policy."""
    page = "https://policy"
    wanted = replace(wait, url=page if wait.waits_for == "people" else "")
    assert wanted in waits_of(moment("Deployed", closed=verdict, policy_url=page))


SINCE = "since 2026-03-01 09:00 UTC"


@pytest.mark.parametrize(
    ("at", "text"),
    [("", f"release the hold by ann: incident ({SINCE})"), ("1" * 40, f"release the hold by ann: incident (except 1111111, {SINCE})")],
)  # fmt: skip
def test_since_when_and_for_what_a_hold_is(at: str, text: str) -> None:
    hold = replace(HOLD, at=at)
    verdict = closed(PromotionPolicy(holds=(hold,)), EntryFacts("stage", ""), NOON)
    since = {hold: NOON - timedelta(hours=3)}
    assert waits_of(moment("Deployed", closed=verdict, held_since=since)) == [Wait("people", text)]


def test_what_is_not_proposed() -> None:
    verdict = closed(PromotionPolicy(holds=(HOLD,)), FACTS, NOON)
    held = moment("Deployed", closed=verdict, unproposed=("a.yaml", "b.yaml"))
    text = "a.yaml (+1) on stage is not proposed: hold by ann"
    assert Wait("people", text) in waits_of(held)


SMOKE = RequiredCheck("smoke", "acme-ci")
CHANGE = "2222222 change 2"
LET_IN = ("a run", f"of cd with {CHANGE}, which poll starts: the policy lets it in")


@breaks(
    "status tells what held a commit when cd looked",
    turned(
        "kalypso_actions.promotion.waits._kept_out",
        "verdict.beside(moment.closed.reasons)",
        "posted.description.removeprefix('Waiting: ')",
    ),
    case="another hold",
)
@pytest.mark.parametrize(
    ("policy", "told", "wait"),
    [
        (PromotionPolicy(holds=(HOLD,)), "hold by ann: incident", ("people", f"{CHANGE} does not enter: hold by ann: incident")),
        (PromotionPolicy(holds=(HOLD,)), "hold by bob: audit", ("people", f"{CHANGE} does not enter: hold by ann: incident")),
        (PromotionPolicy(), "hold by bob: audit", LET_IN),
        (PromotionPolicy(holds=(replace(HOLD, at="2" * 40),)), "hold by ann: incident", LET_IN),
        (PromotionPolicy(deployed=("eu",)), "hold by bob: audit", LET_IN),
        (PromotionPolicy(deployed=("us",)), "hold by bob: audit", ("an environment", f"{CHANGE} does not enter: not Deployed in us")),
        (PromotionPolicy(deployed=("eu",), soak=timedelta(hours=2)), "x", ("a run", f"{CHANGE} does not enter: soak until 14:00 UTC")),
        (PromotionPolicy(freezes=(replace(FREEZE, allow=("fix",)),)), "freeze until 13:00 UTC: year end", ("a run", f"{CHANGE} does not enter: freeze until 13:00 UTC: year end")),
        (PromotionPolicy(freezes=(replace(FREEZE, allow=("fix",)),)), "hold by bob: audit", LET_IN),
        (PromotionPolicy(checks=(SMOKE,)), "hold by bob; check smoke by acme-ci is missing", ("a run", f"{CHANGE} does not enter: check smoke by acme-ci is missing")),
        (PromotionPolicy(checks=(SMOKE,)), "hold by bob: audit", LET_IN),
        (PromotionPolicy(checks=(RequiredCheck("lint", "acme-ci"),)), "check lint by acme-ci is missing", LET_IN),
        (PromotionPolicy(checks=(RequiredCheck("lint", "acme-ci[bot]"),)), "check lint by acme-ci[bot] is missing", LET_IN),
        (PromotionPolicy(checks=(RequiredCheck("lint", "acme"),)), "check lint by acme is missing", ("a run", f"{CHANGE} does not enter: check lint by acme is missing")),
        (PromotionPolicy(queue="oldest"), "1234567 enters first", ("a run", f"{CHANGE} does not enter: 1234567 enters first")),
        (PromotionPolicy(queue="newest"), "1234567 enters first", LET_IN),
    ],
    ids=["hold", "another hold", "released", "the hold names it", "deployed", "not deployed", "soak", "freeze", "labels", "check", "check that cd found", "status", "by the login", "by another account", "queue", "no queue"],
)  # fmt: skip
def test_a_commit_that_waits_for_the_policy(
    policy: PromotionPolicy, told: str, wait: tuple[str, str]
) -> None:
    statuses = {
        "stage environment": posted(f"Waiting: {told}"),
        "eu environment": replace(posted("Deployed"), created_at=NOON),
        "lint": CommitStatus("lint", "success", "", author="acme-ci[bot]"),
    }
    newer = replace(commit(2), statuses=statuses)
    before = moment("Deployed", name="dev", promoted=newer)
    given = moment("Deployed", previous=(before, before), main=newer, policy=policy, now=NOON)
    assert [(each.waits_for, each.text) for each in waits_of(given)] == [wait]
    assert not list(waits_of_main(newer, {"stage": given, "dev": before}))
