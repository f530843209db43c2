"""Whether a commit may enter an environment, by its policy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.promotion_policy import Freeze, Hold, PromotionPolicy, RequiredCheck
from kalypso_actions.promotion import policy as rules
from kalypso_actions.promotion.policy import (
    EntryFacts,
    Window,
    closed,
    evaluate,
    time_text,
    unreadable,
    window_of,
)
from tests.breaks import breaks, returning, turned

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
COMMIT, OTHER = "a" * 40, "b" * 40
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SMOKE = RequiredCheck("smoke", "acme-ci")
JOIN = PromotionPolicy(deployed=("dev", "eu", "us"))
SOAK = PromotionPolicy(deployed=("dev", "eu"), soak=DAY)
FREEZE = Freeze("holidays", NOON - HOUR, NOON + HOUR, allow=("hotfix", "urgent"))
HOLD = Hold("incident", "alice", NOON + HOUR)


def reasons(policy: PromotionPolicy, now: datetime = NOON, **facts: Any) -> list[str]:
    verdict = evaluate(policy, EntryFacts("stage", COMMIT, **facts), now)
    assert verdict.is_fulfilled == (not verdict.reasons)
    return [reason.text for reason in verdict.reasons]


def test_an_empty_policy_lets_everything_in() -> None:
    assert reasons(PromotionPolicy()) == []


@breaks(
    "one environment of a join is enough",
    turned(rules._requirements, "isinstance(deployed, str)", "not facts.deployments"),
    case="missing",
)
@pytest.mark.parametrize(
    ("deployments", "waits"),
    [
        ({"dev": NOON, "eu": NOON, "us": NOON}, []),
        ({"dev": NOON, "eu": NOON, "us": "not Deployed in us"}, ["not Deployed in us"]),
        ({"dev": NOON}, ["not known to be deployed in eu", "not known to be deployed in us"]),
        (
            {"dev": "not Deployed in dev", "eu": NOON, "us": "us was rolled back"},
            ["not Deployed in dev", "us was rolled back"],
        ),
    ],
    ids=["all", "missing", "unknown", "two"],
)
def test_a_join(deployments: dict[str, datetime | str], waits: list[str]) -> None:
    assert reasons(JOIN, deployments=deployments) == waits


@breaks("nothing soaks", turned(rules._requirements, "now < until", "False"), case="last")
@breaks(
    "the soak counts from the first environment",
    turned(rules._requirements, "max(since) + policy.soak", "min(since) + policy.soak"),
    case="last",
)
@pytest.mark.parametrize(
    ("dev", "eu", "waits"),
    [
        (NOON - DAY, NOON - 2 * DAY, []),
        (NOON - 2 * DAY, NOON - HOUR, ["soak until 2026-03-03 11:00 UTC"]),
        (NOON - DAY + MINUTE, NOON - DAY, ["soak until 12:01 UTC"]),
        (NOON - DAY + timedelta(seconds=1), NOON - DAY, ["soak until 12:01 UTC"]),
        # GitHub's clock is a minute ahead of the runner's.
        (NOON + MINUTE, NOON - DAY, ["soak until 2026-03-03 12:01 UTC"]),
        ("not Deployed in dev", NOON - HOUR, ["not Deployed in dev"]),
    ],
    ids=["over", "last", "a minute", "a second", "clocks", "not deployed"],
)
def test_a_soak(dev: datetime | str, eu: datetime, waits: list[str]) -> None:
    assert reasons(SOAK, deployments={"dev": dev, "eu": eu}) == waits


@breaks(
    "a check that nobody knows counts as succeeded",
    turned(
        rules._requirements,
        "facts.checks.get(check, f'check {check.name} is not known')",
        "facts.checks.get(check, '')",
    ),
)
@pytest.mark.parametrize(
    ("checks", "waits"),
    [
        ({SMOKE: ""}, []),
        ({SMOKE: "check smoke is pending"}, ["check smoke is pending"]),
        ({}, ["check smoke is not known"]),
        ({RequiredCheck("smoke", "other"): ""}, ["check smoke is not known"]),
    ],
)
def test_checks(checks: dict[RequiredCheck, str], waits: list[str]) -> None:
    assert reasons(PromotionPolicy(checks=(SMOKE,)), checks=checks) == waits


@breaks(
    "a hold keeps out its own commit",
    turned(rules._holds, "hold.at == facts.commit", "False"),
    case="at",
)
@breaks(
    "a hold with a commit lets everything in",
    turned(rules._holds, "hold.at == facts.commit", "bool(hold.at)"),
    case="at another",
)
@breaks(
    "a hold ends nothing",
    turned(rules._holds, "is_over or is_own or (hold.at and hold.at == facts.commit)", "True"),
    case="alone",
)
@breaks(
    "a hold lasts for ever",
    turned(rules._holds, "hold.until is not None and hold.until <= now", "False"),
    case="over",
)
@pytest.mark.parametrize(
    ("holds", "waits"),
    [
        ([HOLD], ["hold by alice until 13:00 UTC: incident"]),
        ([Hold("audit", "bob")], ["hold by bob: audit"]),
        ([Hold("line\none", "bob")], ["hold by bob: line one"]),
        ([Hold("incident", "alice", NOON)], []),
        ([Hold("rollback", "bob", at=COMMIT)], []),
        ([Hold("rollback", "bob", at=OTHER)], ["hold by bob: rollback"]),
        # Two holds with different commits let nothing in.
        (
            [Hold("x", "ann", at=COMMIT), Hold("y", "bob", at=OTHER)],
            ["hold by bob: y"],
        ),
        ([HOLD, Hold("audit", "bob")], ["hold by alice until 13:00 UTC: incident", "hold by bob: audit"]),
    ],
    ids=["alone", "no end", "lines", "over", "at", "at another", "two at", "overlapping"],
)  # fmt: skip
def test_holds(holds: list[Hold], waits: list[str]) -> None:
    assert reasons(PromotionPolicy(holds=tuple(holds))) == waits


@breaks(
    "a rollback waits for all that others wait for",
    turned(evaluate, "not facts.rolls_back", "True"),
    case="own",
)
@breaks(
    "somebody else's hold stops no rollback",
    turned(rules._holds, "same_person(hold.by, facts.person)", "True"),
    case="another",
)
@pytest.mark.parametrize(
    ("person", "waits"),
    [
        ("bob", ["hold by alice until 13:00 UTC: incident"]),
        ("", ["hold by alice until 13:00 UTC: incident"]),
        ("alice", []),
        ("Alice", []),
    ],
    ids=["another", "nobody", "own", "case"],
)
def test_a_rollback_is_stopped_by_another_persons_hold_alone(person: str, waits: list[str]) -> None:
    everything = PromotionPolicy(
        deployed=("dev",), checks=(SMOKE,), queue="oldest", freezes=(FREEZE,), holds=(HOLD,)
    )
    facts: dict[str, Any] = {
        "rolls_back": True,
        "person": person,
        "before": OTHER,
        "underway": OTHER,
    }
    assert reasons(everything, **facts) == waits


def test_a_person_does_not_pass_the_own_hold_without_a_rollback() -> None:
    assert reasons(PromotionPolicy(holds=(HOLD,)), person="alice")


@breaks(
    "labels that are not known open a freeze",
    turned(
        rules._freezes, "allowed and facts.labels and not facts.unknown", "allowed and facts.labels"
    ),
    case="unknown",
)
@breaks(
    "one labelled pull request opens a freeze",
    turned(rules._freezes, "all(labels & allowed for labels in facts.labels)", "any(labels & allowed for labels in facts.labels)"),
    case="one lacks",
)  # fmt: skip
@pytest.mark.parametrize(
    ("facts", "waits"),
    [
        ({}, ["freeze until 13:00 UTC: holidays"]),
        ({"labels": [{"hotfix"}, {"urgent", "x"}]}, []),
        ({"labels": [{"hotfix"}, set()]}, ["freeze until 13:00 UTC: holidays"]),
        ({"labels": [{"hotfix"}], "unknown": "add pull-requests: read"}, ["add pull-requests: read", "freeze until 13:00 UTC: holidays"]),
    ],
    ids=["no commit", "all", "one lacks", "unknown"],
)  # fmt: skip
def test_a_freeze_and_its_labels(facts: dict[str, Any], waits: list[str]) -> None:
    facts["labels"] = [frozenset(labels) for labels in facts.get("labels", ())]
    assert reasons(PromotionPolicy(freezes=(FREEZE,)), **facts) == waits


WEEKEND = Freeze("w", cron="0 17 * * FRI", duration=63 * HOUR, timezone="Europe/Berlin")
NIGHT = Freeze("n", cron="30 2 * * *", duration=2 * HOUR, timezone="Europe/Berlin")
EVENING = Freeze("e", cron="0 20 * * *", duration=12 * HOUR, timezone="America/New_York")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@breaks(
    "a freeze never ends",
    turned(rules.window_of, "freeze.begins <= now < freeze.ends", "freeze.begins <= now"),
    case="ends",
)
@breaks(
    "a freeze begins at once",
    turned(rules.window_of, "freeze.begins <= now < freeze.ends", "now < freeze.ends"),
    case="before",
)
@breaks(
    "a freeze over a change of the clocks is shorter",
    turned(rules.window_of, "end > now", "end > now + timedelta(hours=1)"),
    case="spring after",
)
@breaks(
    "cron means UTC",
    turned(rules._starts, "ZoneInfo(freeze.timezone)", "UTC"),
    case="weekend begins",
)
@pytest.mark.parametrize(
    ("freeze", "now", "ends"),
    [
        (FREEZE, NOON - HOUR, NOON + HOUR),
        (FREEZE, NOON + HOUR - timedelta(seconds=1), NOON + HOUR),
        (FREEZE, NOON + HOUR, "open"),
        (FREEZE, NOON - HOUR - timedelta(seconds=1), "open"),
        (WEEKEND, at("2026-03-06T16:59:59+01:00"), "open"),
        (WEEKEND, at("2026-03-06T17:00+01:00"), at("2026-03-09T08:00+01:00")),
        # 63 hours elapse: the clocks go forward on 29 March, and back on 25 October.
        (WEEKEND, at("2026-03-29T12:00+02:00"), at("2026-03-30T09:00+02:00")),
        (WEEKEND, at("2026-03-30T08:30+02:00"), at("2026-03-30T09:00+02:00")),
        (WEEKEND, at("2026-10-26T07:30+01:00"), "open"),
        (WEEKEND, at("2026-10-26T06:59+01:00"), at("2026-10-26T07:00+01:00")),
        # There is no 02:30 on 29 March: it begins right after; on 25 October there are two.
        (NIGHT, at("2026-03-29T01:59+01:00"), "open"),
        (NIGHT, at("2026-03-29T03:00+02:00"), at("2026-03-29T05:00+02:00")),
        (NIGHT, at("2026-10-25T02:45+02:00"), at("2026-10-25T03:30+01:00")),
        (NIGHT, at("2026-10-25T02:15+01:00"), at("2026-10-25T03:30+01:00")),
        (NIGHT, at("2026-10-25T03:30+01:00"), "open"),
        (EVENING, at("2026-11-01T06:00-05:00"), at("2026-11-01T07:00-05:00")),
        # Windows that touch are one; one that always begins anew has no end in sight.
        (Freeze("t", cron="0 */6 * * *", duration=6 * HOUR), NOON, "no end"),
        (Freeze("t", cron="0 0,12 * * MON", duration=12 * HOUR), NOON, at("2026-03-03T00:00Z")),
        (Freeze("t", cron="* * * * *", duration=MINUTE), NOON, "no end"),
        (Freeze("t", cron="0 0 1 1 *", duration=366 * DAY), NOON, "no end"),
    ],
    ids=["begins", "last second", "ends", "before", "before the weekend", "weekend begins", "spring", "spring after", "autumn after", "autumn", "skipped before", "skipped", "repeated", "repeated again", "repeated after", "New York", "touching", "two windows", "every minute", "a year"],
)  # fmt: skip
def test_the_window_of_a_freeze(
    freeze: Freeze, now: datetime, ends: datetime | Literal["open", "no end"]
) -> None:
    window = window_of(freeze, now)
    if ends == "open":
        assert window is None
    else:
        assert window == Window(None if ends == "no end" else ends)


@breaks(
    "the oldest commit does not enter first",
    returning(rules._queue, ()),
    case="oldest",
)
@pytest.mark.parametrize(
    ("queue", "waits"),
    [("newest", []), ("oldest", ["bbbbbbb enters first", "bbbbbbb is not Deployed yet"])],
)
def test_the_queue(queue: Any, waits: list[str]) -> None:
    assert reasons(PromotionPolicy(queue=queue), before=OTHER, underway=OTHER) == waits


def test_all_reasons_in_the_order_of_those_who_can_end_them() -> None:
    policy = PromotionPolicy(
        deployed=("dev",), soak=DAY, checks=(SMOKE,), freezes=(FREEZE,), holds=(HOLD,)
    )
    verdict = evaluate(policy, EntryFacts("stage", COMMIT, deployments={"dev": NOON}), NOON)
    assert verdict.description == (
        "hold by alice until 13:00 UTC: incident; freeze until 13:00 UTC: holidays; "
        "soak until 2026-03-03 12:00 UTC; check smoke is not known"
    )
    assert verdict.again_at is None
    timed = evaluate(SOAK, EntryFacts("stage", COMMIT, {"dev": NOON, "eu": NOON - HOUR}), NOON)
    assert timed.again_at == NOON + DAY


def test_only_freezes_and_holds_concern_what_enters_without_a_commit() -> None:
    policy = PromotionPolicy(deployed=("dev",), freezes=(FREEZE,), holds=(HOLD,))
    rules = [reason.rule for reason in closed(policy, EntryFacts("stage", COMMIT), NOON).reasons]
    assert rules == ["hold", "freeze"]


def test_an_invalid_policy_lets_nothing_in() -> None:
    verdict = unreadable([Problem("spec.soka is unknown", Location("r", "f", 7))])
    assert not verdict.is_fulfilled
    assert verdict.description == "promotion.yaml is invalid (line 7): spec.soka is unknown"


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (NOON + HOUR, "13:00 UTC"),
        (NOON + timedelta(seconds=1), "12:01 UTC"),
        (datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC), "2026-03-03 00:00 UTC"),
        (at("2026-03-03T00:30+01:00"), "23:30 UTC"),
        (NOON + DAY, "2026-03-03 12:00 UTC"),
    ],
)
def test_times_are_in_utc_and_rounded_up(time: datetime, text: str) -> None:
    assert time_text(time, NOON) == text


def freeze(cron: str, duration: timedelta, zone: str = "UTC") -> Freeze:
    return Freeze(cron, cron=cron, duration=duration, timezone=zone)


@breaks(
    "a freeze of a week each week ends",
    returning(rules._leave_no_time, value=False),
    case="a week each week",
)
@pytest.mark.parametrize(
    ("freezes", "number"),
    [
        pytest.param([freeze("0 15 * * FRI", 7 * DAY, "Europe/Berlin")], 1, id="a week each week"),
        pytest.param([freeze("0 15 * * FRI", 7 * DAY - HOUR)], 0, id="an hour less"),
        pytest.param([freeze("0 0 * * *", DAY)], 1, id="a day each day"),
        pytest.param([freeze("0 0 * * *", DAY - MINUTE)], 0, id="a minute is free"),
        pytest.param([freeze("0 0 1 * *", 31 * DAY)], 1, id="the longest month"),
        pytest.param([freeze("0 0 1 * *", 30 * DAY)], 0, id="the last of seven months is free"),
        pytest.param([freeze("0 0 1 */3 *", 92 * DAY)], 1, id="the longest quarter"),
        pytest.param([freeze("0 0 1 1 *", 366 * DAY)], 1, id="a leap year"),
        pytest.param([freeze("0 0 29 2 *", 366 * DAY)], 0, id="each fourth year"),
        pytest.param([freeze("* * * * *", MINUTE)], 1, id="each minute"),
        pytest.param([freeze("* * * 1-11 *", MINUTE)], 0, id="December is free"),
        pytest.param([freeze("0 0 * * 1-5", DAY), freeze("0 0 * * 6,0", DAY)], 2, id="week and weekend"),
        pytest.param(
            [freeze("*/2 * * * *", MINUTE), freeze("1-59/2 * * * *", MINUTE)], 2, id="by turns"
        ),
        pytest.param(
            [freeze("0 22 * * *", 12 * HOUR, "Asia/Tokyo"), freeze("0 9 * * *", 13 * HOUR)], 0,
            id="two zones",
        ),
        pytest.param([FREEZE, freeze("0 1 * * *", HOUR)], 0, id="once"),
        pytest.param([freeze("0 0 * * *", DAY), freeze("0 1 * * *", HOUR)], 1, id="the cause alone"),
        pytest.param([Freeze("r", cron="0 0 * * *", duration=DAY, allow=("fix",))], 0, id="allows"),
    ],
)  # fmt: skip
def test_freezes_that_never_end(freezes: list[Freeze], number: int) -> None:
    assert len(rules.endless(freezes)) == number
