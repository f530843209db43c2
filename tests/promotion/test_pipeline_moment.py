"""The state of each environment, and the causes of waiting."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.github import CommitStatus, CommitView, PullRequestView
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.promotion_policy import Freeze, Hold, PromotionPolicy
from kalypso_actions.promotion.environments import in_order, previous_of
from kalypso_actions.promotion.pipeline_moment import (
    EnvironmentMoment,
    PipelineProposal,
    Wait,
    waits_of,
    waits_of_main,
)
from kalypso_actions.promotion.policy import EntryFacts, PolicyVerdict, closed, unreadable
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.statuses import CI_CONTEXT
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


LEFT = replace(PULL, promoted_commit="2" * 40)


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


def earlier(description: str, length: int) -> tuple[EnvironmentMoment, ...]:
    return (moment(description, name="dev", promoted=commit(length)),)


@breaks(
    "people merge the commit that an environment has left",
    turned(
        "kalypso_actions.promotion.pipeline_moment._is_outdated",
        "promoted.id != proposal.promoted_commit",
        "False",
    ),
)
@pytest.mark.parametrize(
    ("given", "waits"),
    [
        (moment("Deployed"), []),
        (moment("Superseded by 2222222"), []),
        (moment("Deploying"), [("clusters", "report that they comply")]),
        (
            moment("Failed to deploy: till"),
            [("people", "correct the failure, then run check-promote again")],
        ),
        (moment("Promoted"), [("a run", "of schedule, which proposes the tree")]),
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
        (moment(), []),
        (moment(tracked_commits=("",)), [("a run", "of schedule, which proposes the tree")]),
        (moment(tracked_commits=("",), record=StartRecord("scheduled", "d")), []),
        (moment("Deployed", previous=earlier("Deployed", 1)), []),
        (
            moment("Deployed", previous=earlier("Deploying", 2)),
            [("an environment", "dev, until 2222222 change 2 is deployed there")],
        ),
        (
            moment("Deployed", previous=earlier("Deployed", 2)),
            [("a run", "of cd with 2222222 change 2, or of the approval of its job")],
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
        "proposed",
        "proposed, as promoted",
        "proposed, and left",
        "blocked",
        "given up",
        "starting",
        "merged without a status",
        "never scheduled",
        "scheduled without a status",
        "the same as before it",
        "an environment before it deploys",
        "an environment before it has deployed",
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
    assert wait in waits_of(moment("Deployed", closed=verdict))


def test_a_commit_that_waits_for_the_policy() -> None:
    waiting = {"stage environment": posted("Waiting: soak until 14:00 UTC")}
    newer = replace(commit(2), statuses=waiting)
    before = moment("Deployed", name="dev", promoted=newer)
    (wait,) = waits_of(moment("Deployed", previous=(before,)))
    assert wait.text == "of cd with 2222222 change 2: Waiting: soak until 14:00 UTC"
    ci = CommitStatus(CI_CONTEXT, "success", "1 assignment")
    main = replace(commit(4), statuses={**waiting, CI_CONTEXT: ci})
    (wait,) = waits_of_main(main, {"stage": moment("Deployed")})
    assert wait.text == "of cd for stage with 4444444 change 4: Waiting: soak until 14:00 UTC"
