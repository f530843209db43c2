"""Who started a run, and what the run may do for that account."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.promotion.start_records import Kind, StartRecord
from kalypso_actions.promotion.starter_rights import PERSONS_ALONE, PersonsInput, RunStart
from tests.breaks import breaks, turned

PLANE = Location("https://github.com/acme/control-plane")
BOT, PERSON, APP, JOB = "kalypso-notifier[bot]", "ada", "kalypso[bot]", "github-actions[bot]"
MAIN = "refs/heads/main"


def started(
    actor: str = BOT,
    triggering_actor: str = "",
    *,
    event: str = "workflow_dispatch",
    ref: str = MAIN,
    trusted: Collection[str] = (),
) -> RunStart:
    return RunStart(event, ref, actor, triggering_actor, trusted)


bot_of = RunStart.bot


@breaks("a bot counts as a person", turned(bot_of, "not is_bot(login)", "login"))
@breaks(
    "a bot may run a person's run again",
    turned(bot_of, "(self.actor, self.triggering_actor or self.actor)", "(self.actor,)"),
)
@breaks(
    "a person who runs a bot's run again vouches for its inputs",
    turned(
        bot_of,
        "(self.actor, self.triggering_actor or self.actor)",
        "(self.triggering_actor or self.actor,)",
    ),
)
@breaks(
    "an unknown account counts as a person", turned(bot_of, "not (login and known)", "not known")
)
@breaks("no bot is trusted", turned(bot_of, "login.lower() in trusted", "False"))
@breaks(
    "the clock is no start",
    turned(bot_of, "self.event not in DISPATCHED", "self.event == 'schedule'"),
)
@pytest.mark.parametrize(
    ("start", "bot"),
    [
        (started(PERSON), None),
        (started(PERSON, PERSON), None),
        (started(PERSON, "grace"), None),
        (started(BOT), BOT),
        (started(APP), APP),
        (started(JOB), JOB),
        (started(BOT, BOT), BOT),
        (started(PERSON, BOT), BOT),
        (started(BOT, PERSON), BOT),
        (started(""), "an unknown account"),
        (started("", PERSON), "an unknown account"),
        (started(BOT, trusted=[BOT]), None),
        (started(BOT, trusted=[BOT.upper()]), None),
        (started(BOT, trusted=[APP]), BOT),
        (started(PERSON, BOT, trusted=[BOT]), None),
        (started(BOT, APP, trusted=[BOT]), APP),
        (started(BOT, event="schedule"), BOT),
        (started(PERSON, BOT, event="schedule"), BOT),
        (started(BOT, event="repository_dispatch"), BOT),
        (started(BOT, event="push"), None),
        (started(BOT, event="pull_request"), None),
        (started("", event=""), None),
    ],
)
def test_which_account_is_neither_a_person_nor_trusted(start: RunStart, bot: str | None) -> None:
    assert start.bot == bot


@breaks(
    "a run on another branch goes on",
    turned(RunStart.refusal, "self.event == 'workflow_dispatch'", "self.event == ''"),
)
@pytest.mark.parametrize("actor", [PERSON, BOT])
@pytest.mark.parametrize(
    ("ref", "event", "is_refused"),
    [
        (MAIN, "workflow_dispatch", False),
        ("refs/heads/trunk", "workflow_dispatch", False),
        ("refs/heads/dev", "workflow_dispatch", True),
        ("refs/heads/main/x", "workflow_dispatch", True),
        ("refs/tags/main", "workflow_dispatch", True),
        ("main", "workflow_dispatch", True),
        ("", "workflow_dispatch", True),
        ("refs/heads/dev", "push", False),
        ("refs/pull/1/merge", "pull_request", False),
        ("", "", False),
    ],
)
def test_a_dispatch_runs_on_the_default_branch(
    actor: str, ref: str, event: str, is_refused: bool
) -> None:
    problem = started(actor, ref=ref, event=event).refusal((), ["trunk", "main"], PLANE)
    assert (problem is not None) == is_refused
    if problem:
        assert problem.message == f"the run was started on {ref or 'no branch'}"
        assert problem.advice == "start the workflow on the branch main or trunk"


@breaks("a bot may do what a person may", turned(RunStart.refusal, "self.bot", "None"))
@pytest.mark.parametrize("asked", PERSONS_ALONE)
def test_what_only_a_person_may_do(asked: PersonsInput) -> None:
    assert started(PERSON).refusal([asked], ["main"], PLANE) is None
    assert started(BOT, trusted=[BOT]).refusal([asked], ["main"], PLANE) is None
    assert started(BOT).refusal([], ["main"], PLANE) is None
    problem = started(PERSON, BOT).refusal([asked], ["main"], PLANE)
    assert problem
    assert problem.message == (
        f"{BOT} started the run, but only a person may {PERSONS_ALONE[asked]}"
    )
    assert "trusted-dispatchers" in problem.advice


@breaks(
    "a bot's promoted-from counts without a record", turned(RunStart.unrecorded, "self.bot", "None")
)
@pytest.mark.parametrize(
    ("start", "is_recorded", "is_refused"),
    [
        (started(BOT), False, True),
        (started(BOT), True, False),
        (started(PERSON, BOT), False, True),
        (started(PERSON), False, False),
        (started(BOT, trusted=[BOT]), False, False),
    ],
)
def test_a_bot_s_promotion_has_a_record(
    start: RunStart, is_recorded: bool, is_refused: bool
) -> None:
    problem = start.unrecorded(
        "dev", is_recorded=is_recorded, status_context="kalypso / cd stage", where=PLANE
    )
    assert (problem is not None) == is_refused
    if problem:
        assert problem.message == (
            f"{BOT} started the run from dev, but no status 'kalypso / cd stage' of the commit "
            "records that"
        )


def forced(kind: Kind = "starting", *, force: bool = True) -> StartRecord:
    return StartRecord(kind, "inputs not read yet", 1, force=force)


@breaks("a bot's force counts without a record", turned(RunStart.may_force, "latest.force", "True"))
@breaks(
    "a bot's force counts after its run",
    turned(RunStart.may_force, "latest.kind == 'starting'", "latest.kind"),
)
@breaks("a bot's force counts", turned(RunStart.may_force, "self.bot is None", "True"))
@pytest.mark.parametrize(
    ("start", "latest", "may"),
    [
        (started(PERSON), None, True),
        (started(BOT), None, False),
        (started(BOT), forced(), True),
        (started(BOT), forced(force=False), False),
        (started(BOT), forced("scheduled"), False),
        (started(BOT, trusted=[BOT]), None, True),
    ],
)
def test_whether_force_counts(start: RunStart, latest: StartRecord | None, may: bool) -> None:
    assert start.may_force(latest) == may
