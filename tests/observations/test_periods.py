"""Any order and repetition of merges, reports and looks gives the periods of the rules."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from kalypso_actions.observations.desired import BranchLook, desired_after
from kalypso_actions.observations.periods import (
    DesiredPeriod,
    RealPeriod,
    Replay,
    Step,
    owners,
)
from kalypso_actions.observations.real import Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    ObservationRecord,
    Status,
    place_of,
)
from tests.observations.test_record import AT, desired, real

MINUTE = timedelta(minutes=1)
URL = "https://github.com/acme/shop"


def line(commit: str, content: str, since: datetime) -> DesiredLine:
    return desired(
        name="shop",
        repository=URL,
        branch="dev",
        path="shop",
        commit=commit,
        content=content,
        since=since,
    )


def steps(before: ObservationRecord, after: ObservationRecord) -> list[Step]:
    """Return the lines that a commit of the record changes, as git shows them."""
    old, new = before.files(), after.files()
    changed = []
    for path in old.keys() | new.keys():
        place = place_of(path)
        if place and old.get(path) != new.get(path):
            was = set(old.get(path, b"").decode().split("\n"))
            now = set(new.get(path, b"").decode().split("\n"))
            changed.append(Step(place, sorted(was - now), sorted(now - was)))
    return changed


class Report(NamedTuple):
    """What one cluster says at a look; `missing` at a complete one means that it is gone."""

    content: str
    status: Status
    transition: int
    reported: int
    missing: bool


reports = st.builds(
    Report,
    st.sampled_from(["a", "b", ""]),
    st.sampled_from(["success", "failure"]),
    st.integers(-3, 40),
    st.integers(-3, 40),
    st.booleans(),
)
looks = st.lists(
    st.tuples(
        st.integers(0, 3),  # minutes since the look before
        st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.integers(-9, 40)), max_size=3),
        st.lists(reports, min_size=2, max_size=2),
        st.booleans(),  # whether every source answered
    ),
    max_size=8,
)


class Naive:
    """The periods by the rules, told anew: one list for the target, one for each cluster."""

    def __init__(self) -> None:
        self.wanted: list[tuple[str, datetime]] = []
        self.ran: list[list[tuple[str, str, datetime]]] = [[], []]
        self._newest: list[int | None] = [None, None]

    def merge(self, commits: list[DesiredLine], now: datetime) -> None:
        for each in commits:
            content, begins = (self.wanted or [("", each.since)])[-1]
            if each.content != content:
                self.wanted.append((each.content, max(begins, min(each.since, now))))
                if len(self.wanted) == 1:
                    self.wanted = [(each.content, min(each.since, now))]

    def look(
        self, number: int, report: Report, last: datetime | None, now: datetime, complete: bool
    ) -> None:
        past, known = self.ran[number], self._newest[number]
        if report.missing:
            if complete and past and past[-1][1] != "gone":
                past.append((past[-1][0], "gone", now))
            return
        is_older = known is not None and report.reported < known
        if not is_older and (not past or past[-1][:2] != (report.content, report.status)):
            transition = AT + report.transition * MINUTE
            is_between = last is not None and last < transition <= now
            past.append((report.content, report.status, transition if is_between else now))
            self._newest[number] = report.reported


def seen_of(number: int, report: Report) -> Seen:
    return Seen(
        f"cluster-{number}",
        "kalypso",
        "",
        "c" * 40,
        report.content,
        report.status,
        transition=AT + report.transition * MINUTE,
        reported=AT + report.reported * MINUTE,
    )


@settings(deadline=None)
@given(looks, st.randoms(use_true_random=False))
def test_the_periods_are_those_of_the_rules(story: list[Any], chance: random.Random) -> None:
    record, replay, naive, now = ObservationRecord(), Replay(), Naive(), AT
    branch: list[DesiredLine] = []
    last: datetime | None = None
    for minutes, commits, said, is_complete in story:
        now += minutes * MINUTE
        new = [
            line(f"{len(branch) + n:040}", content, AT + date * MINUTE)
            for n, (content, date) in enumerate(commits)
        ]
        branch += new
        naive.merge(new, now)
        for number, report in enumerate(said):
            naive.look(number, report, last, now, is_complete)
        seen = [seen_of(number, each) for number, each in enumerate(said) if not each.missing]
        for _ in range(chance.randint(1, 3)):
            chance.shuffle(seen)
            look = BranchLook(URL, "dev", "h", {line("", "", AT).target: new or branch[-1:]})
            after = desired_after(record, "dev", [look], now)
            lines = real_after(
                after.real.get(("dev", "small"), ()),
                [*seen, *seen],
                {"": Wanted(branch[-1].content if branch else "")},
                now=now,
                last_look=last,
                is_complete=is_complete,
            )
            after = replace(
                after,
                real={("dev", "small"): lines} if lines else {},
                observed=(Observation("dev", now, is_complete),),
            )
            after = ObservationRecord.parse(after.files())
            replay.add(steps(record, after))
            record, new = after, []
        last = now
    told = [(each.line.content, each.line.since, each.until) for each in replay.desired()]
    ends = [*(begins for _, begins in naive.wanted[1:]), None]
    assert told == [(*period, end) for period, end in zip(naive.wanted, ends, strict=False)]
    assert sorted(
        (each.line.cluster, each.line.content, each.line.status, each.line.since)
        for each in replay.real()
    ) == sorted(
        (f"cluster-{number}", *period)
        for number, past in enumerate(naive.ran)
        for period in past
        if period[1] != "gone"
    )


def test_a_rewritten_branch_with_the_same_content_begins_no_period() -> None:
    target = line("", "", AT).target
    first = desired_after(
        ObservationRecord(),
        "dev",
        [BranchLook(URL, "dev", "1", {target: [line("1", "a", AT)]})],
        AT,
    )
    again = BranchLook(URL, "dev", "2", {target: [line("2", "a", AT + MINUTE)]})
    assert desired_after(first, "dev", [again], AT + 2 * MINUTE) == first


def test_a_branch_that_cannot_be_read_changes_nothing() -> None:
    target = line("", "", AT).target
    look = BranchLook(URL, "dev", "1", {target: [line("1", "a", AT)]})
    first = desired_after(ObservationRecord(), "dev", [look], AT)
    unread = BranchLook(URL, "dev", "", {target: ()}, is_read=False)
    assert desired_after(first, "dev", [unread], AT + MINUTE) == first


def test_a_renamed_target_keeps_its_period() -> None:
    target = line("", "", AT).target
    look = BranchLook(URL, "dev", "1", {target: [line("1", "a", AT)]})
    first = desired_after(ObservationRecord(), "dev", [look], AT)
    look = BranchLook(URL, "dev", "1", {target: [line("1", "a", AT)._replace(name="store")]})
    (after,) = desired_after(first, "dev", [look], AT + MINUTE).desired["dev"]
    (before,) = first.desired["dev"]
    assert after == before._replace(name="store")


def periods_of(*contents: tuple[str, int, int | None]) -> list[DesiredPeriod]:
    return [
        DesiredPeriod(
            "dev",
            line(str(n), content, AT + since * MINUTE),
            None if until is None else AT + until * MINUTE,
        )
        for n, (content, since, until) in enumerate(contents)
    ]


def test_a_real_period_belongs_to_what_it_overlaps_or_to_the_last_before() -> None:
    wanted = periods_of(("a", 0, 10), ("b", 10, 20), ("a", 20, 30), ("c", 30, None))
    for since, until, content, belongs in [
        (0, None, "a", [0, 2]),
        (5, 20, "a", [0]),
        (12, 15, "a", [0]),
        (35, None, "a", [2]),
        (0, 5, "b", []),
        (12, None, "b", [1]),
        (12, None, "x", []),
        (12, None, "", []),
    ]:
        ran = RealPeriod(
            "dev",
            "small",
            real(content=content, since=AT + since * MINUTE),
            None if until is None else AT + until * MINUTE,
        )
        assert owners(ran, wanted) == [wanted[n] for n in belongs], (since, until, content)


def test_relations() -> None:
    wanted = Wanted("b", {"1": "ancestor", "2": "descendant", "3": "none"})
    assert wanted.relation("b", "9") == "current"
    assert wanted.relation("a", "1") == "behind"
    assert wanted.relation("a", "2") == "off"
    assert wanted.relation("a", "3") == "off"
    assert wanted.relation("a", "4") == "unknown"
    assert wanted.relation("", "1") == "unknown"


def test_a_cluster_that_is_gone_stays_a_month() -> None:
    line_before = real(status="gone", since=AT)
    for days, stays in [(29, True), (30, False)]:
        now = AT + timedelta(days=days)
        after = real_after([line_before], [], {}, now=now, last_look=AT, is_complete=True)
        assert bool(after) is stays
