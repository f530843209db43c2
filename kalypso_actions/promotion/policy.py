"""A PromotionPolicy × what is known about a commit × the time → whether the commit may enter.

    verdict = evaluate(policy, EntryFacts("stage", commit, deployments={"dev": since}), now)
    verdict.is_fulfilled, verdict.description  # "soak until 14:00 UTC"

What is not known is unfulfilled. Times of freezes are local ones of their zone; their durations are
elapsed time, so that a freeze over a change of the clocks lasts as long as any other.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, Literal
from zoneinfo import ZoneInfo

from kalypso_actions.errors import Problem
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.promotion_policy import (
    Freeze,
    Hold,
    PolicyReading,
    PromotionPolicy,
    RequiredCheck,
)
from kalypso_actions.promotion.statuses import cut

Rule = Literal["policy", "requires", "queue", "freeze", "hold"]

MOST_WINDOWS: Final = 1000
"""Windows of one freeze that may follow each other without a gap before it has no known end."""

SINCE: Final = datetime(2026, 1, 1)
HORIZON: Final = timedelta(days=5 * 366)
"""Freezes without a gap in these years never end: cron expressions repeat after four years."""

MOST_WINDOWS_OF_FREEZES: Final = 600_000
"""The windows that are looked at: those of a year with one in each minute."""

AMBIGUOUS: Final = timedelta(hours=3)
"""Longer than any change of the clocks: a local time in it does not name one moment."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a commit does not enter; `until` is the time at which this may end (None: unknown).

    `hold` is the hold of a reason of that rule.
    """

    rule: Rule
    text: str
    until: datetime | None = None
    hold: Hold | None = None

    @property
    def brief(self) -> str:
        """The text without what people wrote."""
        return self.text.partition(": ")[0]


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """The reasons for which a commit does not enter, those of people first."""

    reasons: tuple[Reason, ...] = ()

    @property
    def is_fulfilled(self) -> bool:
        """Whether the commit may enter."""
        return not self.reasons

    @property
    def description(self) -> str:
        """All reasons in one line; "" without any."""
        return self.beside(())

    @property
    def brief(self) -> str:
        """All reasons in one line, without what people wrote."""
        return self.beside(self.reasons)

    def beside(self, told: Container[Reason]) -> str:
        """Return all reasons in one line; those that the reader is `told` elsewhere, in brief."""
        return "; ".join(each.brief if each in told else each.text for each in self.reasons)

    @property
    def again_at(self) -> datetime | None:
        """The time before which nothing changes by itself; None if it is unknown."""
        times = [reason.until for reason in self.reasons]
        known = [time for time in times if time is not None]
        return max(known) if known and len(known) == len(times) else None


LETS_IN: Final = PolicyVerdict()


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What the policy of an environment asks about a commit of main.

    deployments  for each required environment, when it deployed the commit, or why it did not
    checks       for each required check, why it does not count as succeeded ("" if it does)
    labels       for each commit of main that would enter, the labels of its merged pull requests
    unknown      why the labels are not known; "" if they are
    before       the older commit that waits, and enters first if the queue is `oldest`
    underway     the commit of the environment while its deployment has not ended
    rolls_back   the commit was deployed here before, and a person goes back to it
    person       the login of the person who asks, "" for none
    """

    environment: str
    commit: str
    deployments: Mapping[str, datetime | str] = field(default_factory=dict)
    checks: Mapping[RequiredCheck, str] = field(default_factory=dict)
    labels: Sequence[frozenset[str]] = ()
    unknown: str = ""
    before: str = ""
    underway: str = ""
    rolls_back: bool = False
    person: str = ""


def evaluate(policy: PromotionPolicy, facts: EntryFacts, now: datetime) -> PolicyVerdict:
    """Return whether a commit may enter an environment at a time, by its policy.

    A rollback is stopped by nothing but another person's hold.
    """
    reasons = [*_holds(policy.holds, facts, now)]
    if not facts.rolls_back:
        reasons += _freezes(policy.freezes, facts, now)
        reasons += _requirements(policy, facts, now)
        reasons += _queue(policy, facts)
    return PolicyVerdict(tuple(reasons))


def closed(policy: PromotionPolicy, facts: EntryFacts, now: datetime) -> PolicyVerdict:
    """Return the freezes and holds alone, for what enters without a commit of main."""
    reasons = (*_holds(policy.holds, facts, now), *_freezes(policy.freezes, facts, now))
    return PolicyVerdict(reasons)


def is_closed(policy: PromotionPolicy | None, verdict: PolicyVerdict) -> bool:
    """Whether a verdict on one commit says that no other commit may enter either."""
    if policy is None:
        return True
    return any(
        (reason.rule == "hold" and not any(hold.at for hold in policy.holds))
        or (reason.rule == "freeze" and not any(freeze.allow for freeze in policy.freezes))
        for reason in verdict.reasons
    )


def guard_of(reading: PolicyReading, before: str, known: Container[str]) -> str:
    """Return when a policy lets in what `before` has deployed, in words; "" for at once.

    `known` are the names of environments: others than these are not repeated.
    """
    policy = reading.policy
    if policy is None:
        return "once its policy is valid" if reading.problems else ""
    others = [name for name in policy.deployed if name != before and name in known]
    if others:
        return f"once {' and '.join(others)} {'has' if len(others) == 1 else 'have'} deployed it"
    asks = (policy.soak, policy.checks, policy.freezes, policy.holds)
    return "once its policy lets it in" if any(asks) else ""


def unreadable(problems: Iterable[Problem]) -> PolicyVerdict:
    """Return the verdict of a policy with problems: nothing enters."""
    first = next(iter(problems))
    place = f" (line {first.where.line})" if first.where and first.where.line else ""
    text = f"promotion.yaml is invalid{place}: {first.message}"
    return PolicyVerdict((Reason("policy", _line(text)),))


def time_text(time: datetime, now: datetime) -> str:
    """Return a time in UTC, rounded up to its minute, with the date unless it is today's."""
    time = time.astimezone(UTC)
    if time.second or time.microsecond:
        time = time.replace(second=0, microsecond=0) + timedelta(minutes=1)
    is_today = time.date() == now.astimezone(UTC).date()
    return f"{time:%H:%M} UTC" if is_today else f"{time:%Y-%m-%d %H:%M} UTC"


def _line(text: str) -> str:
    return " ".join(text.split())


def _holds(holds: Iterable[Hold], facts: EntryFacts, now: datetime) -> Iterator[Reason]:
    for hold in holds:
        is_over = hold.until is not None and hold.until <= now
        is_own = facts.rolls_back and bool(facts.person) and same_person(hold.by, facts.person)
        if is_over or is_own or (hold.at and hold.at == facts.commit):
            continue
        until = f" until {time_text(hold.until, now)}" if hold.until else ""
        text = _line(f"hold by {hold.by}{until}: {hold.reason}")
        yield Reason("hold", text, hold.until, hold)


ROLLED_BACK: Final = "rolled back from "
"""The beginning of the reason of a rollback's hold."""

NOT_DEPLOYED: Final = "not Deployed in "
"""The beginning of the reason that an environment before has not deployed the commit."""

ENTERS_FIRST: Final = " enters first"
NOT_DEPLOYED_YET: Final = " is not Deployed yet"
"""The ends of the reasons of a queue."""


def same_person(login: str, other: str) -> bool:
    """Whether two logins are the same; people may write an @ before them."""
    return login.removeprefix("@").casefold() == other.removeprefix("@").casefold()


def _freezes(freezes: Iterable[Freeze], facts: EntryFacts, now: datetime) -> Iterator[Reason]:
    for freeze in freezes:
        window = window_of(freeze, now)
        if window is None:
            continue
        allowed = frozenset(freeze.allow)
        if allowed and facts.labels and not facts.unknown:
            if all(labels & allowed for labels in facts.labels):
                continue
        elif allowed and facts.unknown:
            yield Reason("freeze", _line(facts.unknown))
        until = f" until {time_text(window.ends, now)}" if window.ends else ""
        yield Reason("freeze", _line(f"freeze{until}: {freeze.reason}"), window.ends)


@dataclass(frozen=True, slots=True)
class Window:
    """A time of a freeze; `ends` is None if no end is in sight."""

    ends: datetime | None


def window_of(freeze: Freeze, now: datetime) -> Window | None:
    """Return the window of a freeze that contains a time, as one with those that follow it."""
    if freeze.begins and freeze.ends:
        return Window(freeze.ends) if freeze.begins <= now < freeze.ends else None
    end = now
    for count, start in enumerate(_starts(freeze, now - freeze.duration - AMBIGUOUS)):
        if start > end:
            break
        end = max(end, start + freeze.duration)
        if count > MOST_WINDOWS:
            return Window(None)
    return Window(end) if end > now else None


def next_closing(freezes: Iterable[Freeze], now: datetime) -> datetime | None:
    """Return when the next freeze begins that does not apply yet; None without one."""
    closed = (freeze for freeze in freezes if window_of(freeze, now) is None)
    starts = (each.begins or next(_starts(each, now), None) for each in closed)
    return min((start for start in starts if start and start > now), default=None)


def _starts(freeze: Freeze, since: datetime) -> Iterator[datetime]:
    """Yield the beginnings of a freeze from a time on, in UTC.

    As by cron of Debian, a time that the clocks skip comes right after, and one that they repeat
    comes once: https://manpages.debian.org/cron.8
    """
    from cronsim import CronSim  # noqa: PLC0415 - few runs read a policy

    for start in CronSim(freeze.cron, since.astimezone(ZoneInfo(freeze.timezone))):
        yield start.astimezone(UTC)


def endless(freezes: Iterable[Freeze]) -> tuple[Freeze, ...]:
    """Return the repeated freezes of which each leaves no time, or else those that do so together.

    A freeze that lets labels in, or has a last day, is none of them. An hour that the clocks repeat
    in autumn does not count as a time.
    """
    repeated = [freeze for freeze in freezes if freeze.cron and not freeze.allow]
    alone = tuple(freeze for freeze in repeated if _leave_no_time([freeze]))
    return alone or (tuple(repeated) if repeated[1:] and _leave_no_time(repeated) else ())


def _leave_no_time(freezes: Sequence[Freeze]) -> bool:
    """Whether windows of these freezes follow each other over the whole horizon.

    True also for those of a year if there are too many to look at all.
    """
    begin = SINCE + max(freeze.duration for freeze in freezes) + timedelta(days=1)
    covered = SINCE
    windows = heapq.merge(*map(_windows, freezes))
    for start, end in islice(windows, MOST_WINDOWS_OF_FREEZES):
        if start > covered and start > begin:
            return False
        covered = max(covered, end)
        if covered > begin + HORIZON:
            return True
    return covered > begin + timedelta(days=366)


def _windows(freeze: Freeze) -> Iterator[tuple[datetime, datetime]]:
    """Yield the windows of a freeze as if the clocks never changed, by the time of UTC."""
    from cronsim import CronSim  # noqa: PLC0415 - few runs read a policy

    minute, hour, *days = freeze.cron.split()
    midnight = SINCE - (ZoneInfo(freeze.timezone).utcoffset(SINCE) or timedelta())
    of_day: list[tuple[timedelta, timedelta]] = []
    for time in CronSim(f"{minute} {hour} * * *", SINCE - timedelta(minutes=1)):
        start = time - SINCE
        if start >= timedelta(days=1):
            break
        begin = of_day.pop()[0] if of_day and start <= of_day[-1][1] else start
        of_day.append((begin, start + freeze.duration))
    for day in CronSim(f"0 0 {' '.join(days)}", SINCE):
        for begin, end in of_day:
            yield midnight + (day - SINCE) + begin, midnight + (day - SINCE) + end


def _requirements(policy: PromotionPolicy, facts: EntryFacts, now: datetime) -> Iterator[Reason]:
    since: list[datetime] = []
    for environment in policy.deployed:
        deployed = facts.deployments.get(environment, f"not known to be deployed in {environment}")
        if isinstance(deployed, str):
            yield Reason("requires", _line(deployed))
        else:
            since.append(deployed)
    if policy.soak and since and len(since) == len(policy.deployed):
        until = max(since) + policy.soak
        if now < until:
            yield Reason("requires", f"soak until {time_text(until, now)}", until)
    for check in policy.checks:
        fault = facts.checks.get(check, f"check {check.name} is not known")
        if fault:
            yield Reason("requires", _line(fault))


def _queue(policy: PromotionPolicy, facts: EntryFacts) -> Iterator[Reason]:
    if policy.queue == "oldest":
        if facts.before:
            yield Reason("queue", f"{facts.before[:7]}{ENTERS_FIRST}")
        if facts.underway:
            yield Reason("queue", f"{facts.underway[:7]}{NOT_DEPLOYED_YET}")


POLICY_CONTEXT: Final = "kalypso / policy"
"""The context on the head of a pull request to an environment's branch, or to its GitOps branch."""


def policy_of_proposal(reasons: str) -> CommitStatus:
    """Return the status of a pull request that the policy lets in, or not for these reasons."""
    if not reasons:
        return CommitStatus(POLICY_CONTEXT, "success", "The environment's policy lets it in")
    return CommitStatus(POLICY_CONTEXT, "failure", cut(f"Waiting: {reasons}"))


def overridden(environment: str, text: str) -> CommitStatus:
    """Return the record on a commit that a person let in against the environment's policy."""
    return CommitStatus(f"{POLICY_CONTEXT} {environment}", "success", cut(text))
