"""Any order and repetition of merges, reports and looks gives the periods of the rules."""

from __future__ import annotations

import random
import sqlite3
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from kalypso_actions.observations.delivery import figures
from kalypso_actions.observations.desired import BranchLook, desired_after
from kalypso_actions.observations.drift import drift
from kalypso_actions.observations.histories import target_periods
from kalypso_actions.observations.projection import Log, SqliteDatabase, Step, load
from kalypso_actions.observations.questions import states
from kalypso_actions.observations.real import Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    ObservationRecord,
    Status,
    line_of,
    place_of,
)
from kalypso_actions.observations.retention import LogCommit, pruned
from tests.observations.replay import DesiredPeriod, RealPeriod, Replay, owners
from tests.observations.test_record import AT, desired, real

MINUTE = timedelta(minutes=1)
URL = "https://github.com/acme/shop"


def line(commit: str, content: str, since: datetime) -> DesiredLine:
    return desired(
        name="shop",
        workload="shop",
        repository=URL,
        branch="dev",
        path="shop",
        commit=commit,
        content=content,
        since=since,
    )


TARGET = str(line("", "", AT).target)


def steps(before: ObservationRecord, after: ObservationRecord) -> list[Step]:
    """Return the lines that a commit of the record changes, as git shows them."""
    return file_steps(before.files(), after.files())


def file_steps(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[Step]:
    """Return the lines in which two states of the record's files differ."""
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
        TARGET,
        f"{ord(report.content or '_'):040}",
        report.content,
        report.status,
        transition=AT + report.transition * MINUTE,
        reported=AT + report.reported * MINUTE,
    )


@settings(deadline=None)
@given(looks, st.randoms(use_true_random=False))
def test_the_periods_are_those_of_the_rules(story: list[Any], chance: random.Random) -> None:
    record, replay, naive, now = ObservationRecord(), Replay(), Naive(), AT
    log: list[list[Step]] = []
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
                {TARGET: Wanted(branch[-1].content if branch else "")},
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
            log.append(steps(record, after))
            replay.add(log[-1])
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
    check_tables(log, replay, chance)
    check_states(log, replay, now)
    if log:
        check_pruned(log, AT + chance.randint(-1, 20) * MINUTE)


def check_pruned(log: list[list[Step]], before: datetime) -> None:
    """Of a shorter log, all questions about times after the moment have the same answers."""
    places = {place_of(path): path for path in FILES}
    commits = [{places[step.place]: (step.removed, step.added) for step in each} for each in log]
    shorter = pruned(commits, before)
    assert len(shorter) < len(log)
    short: list[list[Step]] = []
    files: dict[str, bytes] = {}
    for changes in shorter:
        after = {path: text for path, text in {**files, **changes}.items() if text}
        short.append(file_steps(files, after))
        files = after
    if not short:
        return
    whole, less = loaded(log, [len(log)]), loaded(short, [len(short)])
    begin = before + timedelta(seconds=1)
    for minutes in range(24):
        at = begin + minutes * MINUTE
        for ask in (
            lambda tables, at=at: list(states(tables, at)),
            lambda tables, at=at: drift(tables, at),
            lambda tables, at=at: target_periods(tables, "shop", at, begin),
            lambda tables, at=at: figures(tables, at, begin),
        ):
            assert ask(less) == ask(whole)


FILES = (
    "desired/dev.tsv",
    "desired-before/dev.tsv",
    "superseded/dev.tsv",
    "real/dev/small.tsv",
    "observed.tsv",
)


def check_tables(log: list[list[Step]], replay: Replay, chance: random.Random) -> None:
    """The tables have the periods and their owners, loaded at once or piece by piece."""
    heads = sorted(chance.sample(range(len(log)), min(2, len(log))))
    at_once, by_pieces = loaded(log, [len(log)]), loaded(log, [*heads, len(log)])
    for table in ("desired", "period", "delivery", "target", "cluster", "reconciler"):
        asked = f"select * from {table} order by 1, 2"
        assert by_pieces.rows(asked) == at_once.rows(asked), table
    wanted = list(replay.desired())
    periods = list(replay.real())
    assert at_once.rows("select content, commit_id, from_, until from desired order by number") == [
        (each.line.content, each.line.commit, *seconds(each.line.since, each.until))
        for each in wanted
    ]
    asked = (
        "select c.key, p.content, p.status, p.from_, p.until, d.number from period p"
        " join reconciler r on r.id = p.reconciler join cluster c on c.id = r.cluster"
        " left join delivery on period = p.id left join desired d on d.id = delivery.desired"
        " order by c.key, p.number, d.number"
    )
    assert at_once.rows(asked) == [
        (
            each.line.cluster,
            each.line.content,
            each.line.status,
            *seconds(each.line.since, each.until),
            number,
        )
        for each in sorted(periods, key=lambda each: each.line.cluster)
        for number in numbers_of(owners(each, wanted))
    ]


def numbers_of(periods: list[DesiredPeriod]) -> list[int | None]:
    return [each.line.number for each in periods] or [None]


def check_states(log: list[list[Step]], replay: Replay, now: datetime) -> None:
    """A question about any moment finds the periods of that moment, and the newest owner."""
    database = loaded(log, [len(log)])
    for minutes in range(-10, 5):
        at = now + minutes * MINUTE
        wanted = [each for each in replay.desired() if each.line.since <= at]
        running = [
            (each, max((own.line.number for own in owners(each, wanted)), default=0))
            for each in replay.real()
            if each.line.since <= at and (each.until is None or at < each.until)
        ]
        assert sorted(
            (state.cluster, state.status, state.since, state.gitops_commit)
            for state in states(database, at)
        ) == sorted(
            (
                each.line.cluster,
                each.line.status,
                each.line.since,
                wanted[number - 1].line.commit if number else each.line.commit,
            )
            for each, number in running
        )


def seconds(*times: datetime | None) -> list[int | None]:
    return [None if time is None else int(time.timestamp()) for time in times]


def loaded(log: list[list[Step]], heads: list[int]) -> SqliteDatabase:
    """Load a log, which has its numbers as ids of commits, up to each of the heads."""
    database = SqliteDatabase(sqlite3.connect(":memory:"))

    def read(head: str, after: str) -> Log:
        first = int(after or 0)
        commits = [(str(n + 1), log[n]) for n in range(first, int(head))]
        return Log(bool(after), commits)

    for head in heads:
        load(database, read, str(head), "record")
    return database


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


def test_a_shorter_log_of_many_commits_stays_small() -> None:
    """A year of a thousand clusters has gigabytes of contents."""
    lines = [line_of(real(cluster=f"cluster-{number}")).strip("\n") for number in range(500)]
    log: list[LogCommit] = [{"real/dev/small.tsv": ((), lines)}]
    for number, text in enumerate(lines[:100]):
        look = line_of(Observation("dev", AT + number * MINUTE, True)).strip("\n")
        log.append({"real/dev/small.tsv": ([text], [f"{text} "]), "observed.tsv": ((), [look])})
    tracemalloc.start()
    try:
        shorter = pruned(log, AT + 2 * MINUTE)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    contents = sum(len(text or b"") for each in shorter for text in each.values())
    assert len(shorter) > 90
    assert kept < contents / 5
