"""What looks have read → the record after each of them.

look = read_look(context, reports, at, record)
compared, commit = record_looks(branch, [look], context, Thresholds())

Reports are read before the heads of the branches, so that no cluster is ahead of its branch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.shared.cluster_reports import AddedReports
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.looks.branches import ReadBranch, read_branch
from kalypso_actions.commands.shared.looks.promotions import Promotions, read_promotions
from kalypso_actions.commands.shared.looks.read import (
    AskedSources,
    EnvironmentTargets,
    FormerUrls,
    Reported,
    former_urls,
    read_environments,
    reported_of,
)
from kalypso_actions.commands.shared.own_proposals import while_others_write
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.record import RecordBranch, push_of_records, read_record
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.urls import repository_key
from kalypso_actions.model.writes import Push
from kalypso_actions.observations.desired import (
    BranchLook,
    branches_after,
    desired_after,
    with_present_names,
    with_superseded,
)
from kalypso_actions.observations.events import Event, Thresholds, due, events_between
from kalypso_actions.observations.promotions import promotions_after
from kalypso_actions.observations.real import Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    Observation,
    ObservationRecord,
    RecordedEnvironment,
    TargetKey,
)

NO_PROMOTIONS: Final = Promotions()

UNCHANGED_FOR: Final = timedelta(hours=6)
"""How long looks without changes need no commit."""

PlaceKey = tuple[str, str, str]
"""The URL, branch and folder of targets."""

ReadBranches = Mapping[PlaceKey, ReadBranch]


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that a look has read: pure values, to be compared with any record.

    The clusters were read at `at`, and the branches at `branches_at`. `is_whole`: all environments
    and all clusters were asked for, so that what is missing does not exist. `former` are the URLs
    of repositories before they were renamed.
    """

    at: datetime
    environments: Sequence[EnvironmentTargets] = ()
    reported: Sequence[Reported] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    promotions: Promotions = NO_PROMOTIONS
    branches_at: datetime | None = None
    is_whole: bool = True
    former: FormerUrls = field(default_factory=dict)

    @property
    def environments_seen(self) -> list[EnvironmentTargets]:
        """The environments whose clusters were asked for."""
        names = {each.place.environment for each in self.reported}
        return [each for each in self.environments if self.is_whole or each.name in names]


def read_look(
    context: CommandContext, reports: AddedReports, at: datetime, record: ObservationRecord
) -> Look:
    """Read all environments, then the reports of their clusters, then the states of commits.

    Raises KalypsoError if main cannot be read.
    """
    environments = read_environments(context.reader, context.url(context.control_plane))
    former = former_urls(context, record, environments)
    asked = AskedSources(reports, former)
    reported = [
        each for environment in environments for each in reported_of(environment, asked, former)
    ]
    repos = {each.name: each.gitops_repos for each in environments}
    promotions = read_promotions(context, repos.keys(), record, repos)
    problems = [problem for each in environments for problem in each.problems]
    problems += [problem for each in reported for problem in each.problems]
    warnings = [warning for each in reported for warning in each.warnings]
    return Look(
        at,
        environments,
        reported,
        tuple(dict.fromkeys(problems)),
        tuple(dict.fromkeys((*warnings, *promotions.warnings))),
        promotions,
        former=former,
    )


@dataclass(frozen=True, slots=True)
class ComparedLooks:
    """Looks beside the record at `head`: the record after them, and the write if it differs."""

    head: str
    after: ObservationRecord
    write: Push | None
    warnings: tuple[Problem, ...]
    events: tuple[Event, ...]


def compare(
    branch: RecordBranch,
    looks: Sequence[Look],
    repositories: Repositories,
    thresholds: Thresholds,
    message: str,
) -> ComparedLooks:
    """Compare looks with the newest record. Raises KalypsoError if that cannot be read."""
    head, before = read_record(branch)
    renamed = _with_present_names(before, looks[0])
    records, warnings = after_looks(renamed, looks, repositories, thresholds)
    steps = [before, *([renamed] if renamed is not before else []), *records]
    happened = [
        event
        for old, new in itertools.pairwise(steps)
        for event in events_between(old, new, thresholds)
    ]
    write = push_of_records(branch, head, before, steps[1:], message)
    return ComparedLooks(head, records[-1], write, warnings, tuple(happened) if write else ())


def record_looks(
    branch: RecordBranch,
    looks: Sequence[Look],
    context: CommandContext,
    thresholds: Thresholds,
    message: str,
    compared: ComparedLooks | None = None,
) -> tuple[ComparedLooks, str]:
    """Write looks; compare them with the newer record if another recorder was faster.

    `compared` is the first comparison, if it was made. Return the last one, and the record's
    newest commit. Raises PushConflictError after many attempts.
    """
    known = [compared] if compared else []

    def attempt() -> tuple[ComparedLooks, str]:
        now = (
            known.pop()
            if known
            else compare(branch, looks, context.repositories, thresholds, message)
        )
        commit = branch.carry_out(now.write, looks[-1].at) if now.write else now.head
        return now, commit

    return while_others_write(attempt, context)


def _with_present_names(record: ObservationRecord, look: Look) -> ObservationRecord:
    """Return the record with the present names of repositories that were renamed."""
    for environment in look.environments:
        names = {
            (repository_key(old), place.branch): place.url
            for place in environment.places
            for old in look.former.get((repository_key(place.url), place.branch), ())
        }
        record = with_present_names(record, environment.name, names)
    return record


def after_looks(
    record: ObservationRecord,
    looks: Sequence[Look],
    repositories: Repositories,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - a value
) -> tuple[list[ObservationRecord], tuple[Problem, ...]]:
    """Return the record after each look, and the problems of branches that cannot be read.

    All looks have the same environments, whose branches are read once: the first look at one takes
    up what they want.
    """
    problems: list[Problem] = []
    read = {
        each.name: _read_branches(record, each, looks, repositories, problems)
        for each in looks[0].environments
    }
    records: list[ObservationRecord] = []
    for look in looks:
        before = record
        for environment in look.environments_seen:
            branches = read[environment.name]
            record = _with_environment(record, environment, look, branches)
            read[environment.name] = _without_news(branches)
        record = _with_tables(record, look)
        record = _observed(before, record, look, thresholds)
        records.append(record)
    return records, tuple(problems)


def _read_branches(
    record: ObservationRecord,
    environment: EnvironmentTargets,
    looks: Sequence[Look],
    repositories: Repositories,
    problems: list[Problem],
) -> ReadBranches:
    """Read the branches of an environment, with the contents of all reported commits."""
    commits: dict[PlaceKey, set[str]] = {}
    for look in looks:
        for reported in look.reported:
            if reported.place.environment == environment.name:
                ids = {part.commit for part in reported.parts if is_commit_id(part.commit)}
                commits.setdefault(reported.place.key, set()).update(ids)
    read: dict[PlaceKey, ReadBranch] = {}
    for place in environment.places:
        try:
            found = read_branch(repositories, record, place, sorted(commits.get(place.key, ())))
        except KalypsoError as error:
            problems += error.problems
            lines: Mapping[TargetKey, tuple[()]] = {line.target: () for line in place.targets}
            found = ReadBranch(BranchLook(place.url, place.branch, "", lines, is_read=False))
        read[place.key] = found
    return read


def _without_news(read: ReadBranches) -> ReadBranches:
    """Return branches whose commits the record knows already."""
    return {
        key: replace(branch, look=replace(branch.look, lines=dict.fromkeys(branch.look.lines, ())))
        for key, branch in read.items()
    }


def _with_tables(record: ObservationRecord, look: Look) -> ObservationRecord:
    """Return the record with the environments and the promotions of a look."""
    recorded = tuple(
        RecordedEnvironment(each.name, each.position, each.repository, each.branch)
        for each in look.environments
    )
    if not look.is_whole:
        names = {each.name for each in recorded}
        others = (each for each in record.environments if each.name not in names)
        recorded = tuple(sorted((*others, *recorded), key=lambda each: each.position))
    promotions = {
        name: promotions_after(
            record.promotions.get(name, ()),
            lines,
            look.promotions.proposals.get(name, ()),
            (*record.desired.get(name, ()), *record.desired_before.get(name, ())),
        )
        for name, lines in look.promotions.lines.items()
    }
    return replace(record, environments=recorded, promotions={**record.promotions, **promotions})


def _observed(
    before: ObservationRecord, after: ObservationRecord, look: Look, thresholds: Thresholds
) -> ObservationRecord:
    """Return the record with the time of a look; without changes and events, as it was before.

    The times of all environments move together.
    """
    times: dict[str, Observation] = {each.environment: each for each in after.observed}
    is_news = after != before
    for environment in look.environments_seen:
        last = before.last_look(environment.name)
        now = max(look.at, last.at) if last else look.at
        answered = not any(
            each.problems for each in look.reported if each.place.environment == environment.name
        )
        times[environment.name] = Observation(
            environment.name, now, environment.is_complete and answered
        )
        is_news = (
            is_news
            or last is None
            or now - last.at >= UNCHANGED_FOR
            or any(due(after, environment.name, last.at, now, thresholds))
        )
    if not is_news:
        return before
    return replace(after, observed=tuple(sorted(times.values())))


def _with_environment(
    record: ObservationRecord, environment: EnvironmentTargets, look: Look, read: ReadBranches
) -> ObservationRecord:
    """Return the record with one environment after the look, without the time of the look."""
    name = environment.name
    looks = [each.look for each in read.values()]
    last = record.last_look(name)
    now = max(look.at, last.at) if last else look.at
    branches_at = max(now, look.branches_at) if look.branches_at else now
    reported = [each for each in look.reported if each.place.environment == name]
    answered = not any(each.problems for each in reported)
    after = desired_after(record, name, looks, branches_at, is_complete=environment.is_complete)
    seen = _seen(reported, read)
    wanted = _wanted(environment, read)
    types = {key for key in record.real if key[0] == name} | {(name, each) for each in seen}
    real = dict(record.real)
    for key in types:
        lines = real_after(
            record.real.get(key, ()),
            seen.get(key[1], ()),
            wanted.get(key[1], {}) | wanted.get("*", {}),
            now=now,
            last_look=last.at if last else None,
            is_complete=look.is_whole and answered and environment.is_complete,
        )
        real.pop(key, None)
        if lines:
            real[key] = lines
    after = with_superseded(record, replace(after, real=real), name)
    if after == record:
        return record
    return replace(after, branches=branches_after(record, looks))


def _seen(reported: Iterable[Reported], read: ReadBranches) -> Mapping[str, list[Seen]]:
    """Return what clusters run, by cluster type, with the contents of the reported commits."""
    types = {
        part.cluster.lower(): part.cluster_type
        for each in reported
        for part in each.parts
        if each.place.is_platform
    }
    seen: dict[str, list[Seen]] = {}
    for each in reported:
        place = each.place
        branch = read[place.key]
        for part in each.parts:
            line = place.target(part.cluster_type)
            if line is None:
                continue
            cluster_type = part.cluster_type
            if not place.is_platform:
                cluster_type = types.get(part.cluster.lower(), "")
            content = branch.contents.get((part.commit, line.path), "")
            reason = part.reason
            if not content:
                reason = reason or (
                    f"the commit {part.commit[:7]} cannot be read"
                    if part.commit
                    else "no commit is reported"
                )
            seen.setdefault(cluster_type, []).append(
                Seen(
                    part.cluster,
                    part.configuration,
                    "" if place.is_platform else str(line.target),
                    part.commit,
                    content,
                    part.state,
                    reason,
                    part.since,
                    part.reported_at,
                )
            )
    return seen


def _wanted(environment: EnvironmentTargets, read: ReadBranches) -> Mapping[str, dict[str, Wanted]]:
    """Return what each target should run, by cluster type, and by `*` for applications."""
    wanted: dict[str, dict[str, Wanted]] = {"*": {}}
    for place in environment.places:
        branch = read[place.key]
        for line in place.targets:
            if line.target in branch.wanted:
                value = branch.wanted[line.target]
                if place.is_platform:
                    wanted.setdefault(line.name, {})[""] = value
                else:
                    wanted["*"][str(line.target)] = value
    return wanted
