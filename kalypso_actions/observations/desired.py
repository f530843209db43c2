"""What a target should run: a period for each content that its branch brought to its path.

A commit is no period of its own: one that leaves the path alone changes nothing, and a correction
that restores a content begins a period, because the content in between was wanted, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kalypso_actions.model.urls import repository_key
from kalypso_actions.observations.record import (
    BranchHead,
    DesiredLine,
    ObservationRecord,
    RealLine,
    TargetKey,
    parse_line,
)


@dataclass(frozen=True, slots=True)
class BranchLook:
    """What a look found on a branch, for the targets of an environment that it carries.

    `lines` has, for each target, the path's content at commits of the first-parent line that the
    record does not know yet, oldest first; `since` is the date of the commit. After a rewrite
    without a common commit, and for a branch without a new commit, this is the head alone.
    A target without lines has no commit that counts. `is_read` is False for a branch that cannot
    be read: its targets stay as the record has them.
    """

    repository: str
    branch: str
    head: str = ""
    lines: Mapping[TargetKey, Sequence[DesiredLine]] = field(default_factory=dict)
    is_read: bool = True


def periods(
    lines: Iterable[DesiredLine], previous: DesiredLine | None, now: datetime
) -> list[DesiredLine]:
    """Return the periods that the commits begin, oldest first.

    Each begins at the date of its commit, but not after the look at `now`, and not before the
    period before: dates of commits lie, their order does not.
    """
    begun: list[DesiredLine] = []
    for line in lines:
        if line.content != (previous.content if previous else ""):
            since, number = min(line.since, now), 1
            if previous:
                since, number = max(since, previous.since), previous.number + 1
            previous = line._replace(since=since, number=number)
            begun.append(previous)
    return begun


def nothing(line: DesiredLine, since: datetime) -> DesiredLine:
    """Return the line of a target that wants nothing."""
    blank = line._replace(version="", source_commit="", configuration_commit="", commit="")
    return blank._replace(content="", since=since, edited=False)


def renamed(period: DesiredLine, line: DesiredLine) -> DesiredLine:
    """Return a period with the target's newest names: it stays the same target."""
    return period._replace(
        workspace=line.workspace,
        application=line.application,
        workload=line.workload,
        name=line.name,
        repository=line.repository,
    )


def desired_after(
    record: ObservationRecord,
    environment: str,
    branches: Iterable[BranchLook],
    now: datetime,
    *,
    is_complete: bool = True,
) -> ObservationRecord:
    """Return the record with what the branches of an environment want at `now`.

    A target that no branch carries wants nothing from `now` on, if the look `is_complete`: a
    registration that cannot be read says nothing of its targets. Periods that no look saw as the
    newest one are in `desired_before`, since Git's log of the record would not show them.
    """
    known = {line.target: line for line in record.desired.get(environment, ())}
    before = list(record.desired_before.get(environment, ()))
    now_desired = {
        target: (*periods([nothing(line, now)] * is_complete, line, now), line)[0]
        for target, line in known.items()
    }
    for branch in branches:
        for target, lines in branch.lines.items():
            previous = known.get(target)
            begun = periods(lines, previous, now) if branch.is_read else []
            current = begun[-1] if begun else previous
            before += begun[:-1]
            if current:
                now_desired[target] = renamed(current, lines[-1]) if lines else current
    return replace(
        record,
        desired=_with(record.desired, environment, sorted(now_desired.values())),
        desired_before=_with(record.desired_before, environment, sorted(set(before))),
    )


def with_present_names(
    record: ObservationRecord, environment: str, names: Mapping[tuple[str, str], str]
) -> ObservationRecord:
    """Return the record of an environment after repositories were renamed: targets stay the same.

    `names` are the present URLs by the keys of the former ones, and by branch.
    """
    known = {line.target[:2] for line in record.desired.get(environment, ())}
    names = {
        (key, branch): url
        for (key, branch), url in names.items()
        if (repository_key(url), branch) not in known
    }
    targets: dict[str, str] = {}

    def of(tables: Mapping[str, tuple[DesiredLine, ...]]) -> dict[str, tuple[DesiredLine, ...]]:
        lines = []
        for line in tables.get(environment, ()):
            present = names.get(line.target[:2], line.repository)
            lines.append(line._replace(repository=present))
            targets[str(line.target)] = str(lines[-1].target)
        return _with(tables, environment, sorted(lines))

    if names.keys().isdisjoint(known):
        return record
    return replace(
        record,
        desired=of(record.desired),
        desired_before=of(record.desired_before),
        superseded=of(record.superseded),
        real={
            place: tuple(
                sorted(
                    line._replace(target=targets.get(line.target, line.target)) for line in lines
                )
            )
            if place[0] == environment
            else lines
            for place, lines in record.real.items()
        },
    )


def renames(
    removed: Iterable[str], added: Iterable[str]
) -> Iterator[tuple[DesiredLine, DesiredLine]]:
    """Yield the lines of a change that differ by their repository alone: it was renamed.

    Raises ValueError for a line that does not parse.
    """
    nameless = {
        line._replace(repository=""): line
        for line in (parse_line(DesiredLine, text) for text in removed)
    }
    for line in (parse_line(DesiredLine, text) for text in added if nameless):
        before = nameless.get(line._replace(repository=""))
        if before and before.target != line.target:
            yield before, line


def with_superseded(
    before: ObservationRecord, after: ObservationRecord, environment: str
) -> ObservationRecord:
    """Return the record after a look with the ended periods that clusters are still behind of.

    These are the periods of each target from the oldest content that a cluster is behind with.
    """
    ended = {
        (line.target, line.number): line
        for table in (before.superseded, before.desired)
        for line in table.get(environment, ())
    }
    for line in after.desired.get(environment, ()):
        ended.pop((line.target, line.number), None)
    known = replace(after, superseded={environment: tuple(ended.values())})
    oldest: dict[TargetKey, int] = {}
    for _, real, of_target in clusters_behind(known, environment):
        number = next((each.number for each in of_target if each.content == real.content), None)
        if number is not None:
            target = of_target[0].target
            oldest[target] = min(number, oldest.get(target, number))
    kept = [
        line
        for (target, number), line in ended.items()
        if target in oldest and number >= oldest[target]
    ]
    return replace(after, superseded=_with(before.superseded, environment, sorted(kept)))


def clusters_behind(
    record: ObservationRecord, environment: str
) -> Iterator[tuple[str, RealLine, Sequence[DesiredLine]]]:
    """Yield the cluster type and the line of each cluster that is behind, and its target's periods.

    They are those that the record's newest files have, the oldest first.
    """
    periods: dict[TargetKey, dict[int, DesiredLine]] = {}
    for table in (record.desired_before, record.superseded, record.desired):
        for line in table.get(environment, ()):
            periods.setdefault(line.target, {})[line.number] = line
    wanted = {
        line.followed: [period for _, period in sorted(periods[line.target].items())]
        for line in record.desired.get(environment, ())
    }
    for (name, cluster_type), lines in record.real.items():
        for real in lines if name == environment else ():
            of_target = wanted.get(real.target or cluster_type)
            if of_target and real.relation == "behind" and real.status != "gone":
                yield cluster_type, real, of_target


def behind_since(content: str, periods: Sequence[DesiredLine]) -> datetime:
    """Return since when another content than this one is wanted: since the first period after it.

    Of a content that none of the periods has, this is the beginning of the newest period.
    """
    after = periods[-1]
    for period in reversed(periods):
        if period.content == content:
            break
        after = period
    else:
        return periods[-1].since
    return after.since


def branches_after(
    record: ObservationRecord, branches: Iterable[BranchLook]
) -> tuple[BranchHead, ...]:
    """Return how far each branch has been read after a look."""
    heads = {(each.repository, each.branch): each for each in record.branches}
    for look in branches:
        if look.is_read and look.head:
            head = BranchHead(look.repository, look.branch, look.head)
            heads[look.repository, look.branch] = head
    return tuple(sorted(heads.values()))


def _with(
    tables: Mapping[str, tuple[DesiredLine, ...]], environment: str, lines: Sequence[DesiredLine]
) -> dict[str, tuple[DesiredLine, ...]]:
    """Return the tables with the lines of one environment, and without it if there are none."""
    others = {name: table for name, table in tables.items() if name != environment}
    return others | ({environment: tuple(lines)} if lines else {})
