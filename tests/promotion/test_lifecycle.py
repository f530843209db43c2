"""The table of states and events is complete, and statuses and records follow it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import pytest

from kalypso_actions.model.change_titles import ChangeMeaning
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.start_records import Command, Kind, StartRecord, read_record
from kalypso_actions.promotion.statuses import State, posted_for
from tests.chain.machine.lifecycle_rules import COMMANDS, allowed
from tools.reference.lifecycle import ANY, TRANSITIONS, Actor, Event, Transition, record, status

COMMIT = "1" * 40
EVERYBODY = frozenset(Actor)
CHAIN = COMMANDS | {Actor.CLUSTERS}

POSTED = {
    State.STARTING: statuses.awaits_cd("dev"),
    State.HELD: statuses.waiting("dev", "hold by ann: incident"),
    State.WAITING: statuses.waiting("dev", "soak until 14:00 UTC"),
    State.PROPOSED: statuses.waiting_for("dev", 7),
    State.PROMOTED: statuses.promoted("dev"),
    State.DEPLOYING: statuses.deploying("dev"),
    State.DEPLOYED: statuses.deployed("dev"),
    State.FAILED: statuses.failed("dev", "why"),
    State.SUPERSEDED: statuses.superseded("dev", COMMIT),
    State.ROLLED_BACK: statuses.rolled_back("dev", COMMIT),
}
"""A status of each state that has one."""

KINDS: dict[Command, set[Kind]] = {
    "cd": {"starting", "received", "not needed", "given up"},
    "check-promote": {"starting", "received", "not needed", "refused", "given up"},
    "schedule": {"starting", "scheduled", "blocked", "given up"},
}
"""The records that each command's starts have."""


def reached(from_: State, rows: Iterable[Transition]) -> set[State]:
    known = [from_]
    rows = list(rows)
    for state in known:
        known += [
            new for row in rows if state in row.before for new in row.after if new not in known
        ]
    return set(known)


@pytest.mark.parametrize("state", State)
def test_every_state_can_be_reached(state: State) -> None:
    assert state in reached(State.ABSENT, TRANSITIONS)


@pytest.mark.parametrize("state", [state for state in State if state is not State.DEPLOYED])
def test_every_state_can_be_left(state: State) -> None:
    """Transitions from every state do not count: a person may start cd at any time."""
    own = [transition for transition in TRANSITIONS if set(transition.before) != set(ANY)]
    assert reached(state, own) - {state, State.SUPERSEDED, State.ROLLED_BACK}


def test_the_chain_and_a_merge_bring_a_commit_to_deployed() -> None:
    merge = {Actor.PEOPLE}
    assert allowed(State.ABSENT, State.OFFERED, CHAIN)
    assert allowed(State.OFFERED, State.MERGED, merge)
    assert allowed(State.MERGED, State.DEPLOYED, CHAIN)


@pytest.mark.parametrize(
    ("before", "after", "actors"),
    [
        (State.ABSENT, State.DEPLOYED, EVERYBODY - {Actor.CHECK_PROMOTE}),
        (State.PROMOTED, State.DEPLOYING, {Actor.CHECK_PROMOTE}),
        (State.OFFERED, State.DEPLOYED, {Actor.CHECK_PROMOTE, Actor.NOTIFY}),
        (State.ABSENT, State.PROMOTED, EVERYBODY - {Actor.CD, Actor.PEOPLE}),
        (State.DEPLOYED, State.SUPERSEDED, EVERYBODY - {Actor.CD, Actor.PEOPLE}),
        (State.DEPLOYED, State.FAILED, {Actor.CHECK_PROMOTE, Actor.SCHEDULE, Actor.POLL}),
        (State.PROMOTED, State.SUPERSEDED, {Actor.SCHEDULE, Actor.NOTIFY, Actor.POLL}),
        (State.PROPOSED, State.PROMOTED, {Actor.SCHEDULE, Actor.POLL}),
    ],
)  # fmt: skip
def test_forbidden_changes_of_state(before: State, after: State, actors: frozenset[Actor]) -> None:
    assert not allowed(before, after, actors)


@pytest.mark.parametrize(
    "actor", [Actor.NOTIFY, Actor.START_SCHEDULE, Actor.CLUSTERS, Actor.GITHUB]
)
def test_actors_that_change_no_state(actor: Actor) -> None:
    assert all(
        allowed(state, other, {actor}) == (state is other) for state in State for other in State
    )


def test_every_status_belongs_to_one_state() -> None:
    functions = {
        name for name, value in vars(statuses).items()
        if getattr(value, "__annotations__", {}).get("return") == "CommitStatus"
        and not name.startswith("_")
    }  # fmt: skip
    assert len(functions) == len(POSTED) - 1  # `waiting` is for two states
    assert {state for state in State if state.description} == POSTED.keys()
    for state, posted in POSTED.items():
        assert posted_for(posted.description) is state
        assert status(state) in {write for row in TRANSITIONS for write in row.writes}


UPSTREAMS = {
    State.PROMOTED: "Promoted",
    State.DEPLOYING: "Deploying",
    State.DEPLOYED: "Deployed",
    State.FAILED: "Failed to deploy: why",
}
"""Upstream's descriptions, to which we add the reason of a failure."""

OURS = {
    State.STARTING: "Waiting: cd",
    State.HELD: "Waiting: hold by ann: incident",
    State.WAITING: "Waiting: soak until 14:00 UTC",
    State.PROPOSED: "Waiting for #7",
    State.SUPERSEDED: "Superseded by 1111111",
    State.ROLLED_BACK: "Rolled back to 1111111",
}


def test_statuses_have_the_words_of_titles() -> None:
    assert {state: posted.description for state, posted in POSTED.items()} == UPSTREAMS | OURS
    assert ChangeMeaning("rollback", "dev", COMMIT).words == "roll back to 1111111"
    assert ChangeMeaning("promotion", "dev", COMMIT).words == "promote 1111111"


@pytest.mark.parametrize("text", ["", "ok", "Promoted!", "deployed", "Waiting", "Starting: ci"])
def test_a_status_of_others_has_no_state(text: str) -> None:
    assert posted_for(text) is None
    assert not statuses.is_open(CommitStatus("dev environment", "success", text))


def test_each_status_is_written_with_its_state() -> None:
    for transition in TRANSITIONS:
        written = {posted_for(write.name) for write in transition.writes if write.kind == "status"}
        assert written <= set(transition.after)
        assert len(written) <= 1


def test_every_record_is_written() -> None:
    written = {
        write for transition in TRANSITIONS for write in transition.writes if write.kind == "record"
    }
    assert written == {record(name, kind) for name, kinds in KINDS.items() for kind in kinds}
    assert KINDS.keys() == set(get_args(Command))
    for kind in get_args(Kind):
        assert any(kind in kinds for kinds in KINDS.values())
        read = read_record(StartRecord(kind, COMMIT, 1).status("kalypso / cd dev"))
        assert read
        assert read.kind == kind
        assert posted_for(read.description) is None


@pytest.mark.parametrize("event", Event, ids=lambda event: event.name)
def test_every_event_has_transitions(event: Event) -> None:
    assert any(transition.event is event for transition in TRANSITIONS)


@pytest.mark.parametrize("transition", TRANSITIONS, ids=lambda transition: transition.event.name)
def test_every_transition_names_its_repair(transition: Transition) -> None:
    assert transition.repaired_by
    assert transition.before
    follows = (
        any(write.kind == "start" for write in transition.writes) or transition.actor in COMMANDS
    )
    assert not (follows and transition.repaired_by == "no run follows")


def test_a_start_is_recorded_unless_a_person_made_it() -> None:
    for transition in TRANSITIONS:
        if transition.actor is Actor.PEOPLE:
            continue
        names = [write.name for write in transition.writes]
        for write in transition.writes:
            if write.kind == "start":
                assert names[names.index(write.name) - 1] == (
                    f"{write.name.removesuffix('.yaml')}: Starting"
                )
