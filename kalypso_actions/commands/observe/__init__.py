"""`kalypso observe`: record what each environment should run, and what its clusters run.

document = observe(ObserveInputs(...), context)

Reports are read before the heads of the branches, so that no cluster is ahead of its branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.commands.observe.branches import BranchTargets, ReadBranch, read_branch
from kalypso_actions.commands.observe.read import (
    EnvironmentTargets,
    Reported,
    read_environments,
    read_reports,
)
from kalypso_actions.commands.shared.cluster_reports import AddedReports
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.record import RecordBranch, read_record, write_record
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.observations.desired import BranchLook, branches_after, desired_after
from kalypso_actions.observations.real import Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    Record,
    RecordedEnvironment,
    TargetKey,
)

UNCHANGED_FOR: Final = timedelta(hours=6)
"""How long looks without changes need no commit."""

ATTEMPTS: Final = 5
"""How often a look is compared again after another recorder has moved the branch."""


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that a look has read: pure values, to be compared with any record."""

    at: datetime
    environments: Sequence[EnvironmentTargets]
    reported: Sequence[Reported]
    problems: tuple[Problem, ...]


def read_look(reader: Reader, control_plane: str, reports: AddedReports, at: datetime) -> Look:
    """Read all environments, then the reports of their clusters.

    Raises KalypsoError if main cannot be read.
    """
    environments = read_environments(reader, control_plane)
    reported = read_reports(reports, environments)
    problems = [problem for each in environments for problem in each.problems]
    problems += [problem for each in reported for problem in each.problems]
    return Look(at, environments, reported, tuple(dict.fromkeys(problems)))


def after_look(
    record: Record, look: Look, repositories: Repositories
) -> tuple[Record, tuple[Problem, ...]]:
    """Return the record after a look, and the problems of branches that cannot be read."""
    problems: list[Problem] = []
    for environment in look.environments:
        places = [*(each.targets for each in environment.platform), *environment.applications]
        read: dict[tuple[str, str, str], ReadBranch] = {}
        for place in places:
            of_place = [each for each in look.reported if each.place is place]
            commits = {part.commit for each in of_place for part in each.parts}
            try:
                found = read_branch(
                    repositories, record, place, sorted(filter(is_commit_id, commits))
                )
            except KalypsoError as error:
                problems += error.problems
                lines: Mapping[TargetKey, tuple[()]] = {line.target: () for line in place.targets}
                found = ReadBranch(BranchLook(place.url, place.branch, "", lines, is_read=False))
            read[place.url, place.branch, place.folder] = found
        record = _with_environment(record, environment, look, read)
    recorded = tuple(
        RecordedEnvironment(each.name, each.position, each.repository, each.branch)
        for each in look.environments
    )
    return replace(record, environments=recorded), tuple(problems)


def _with_environment(
    record: Record,
    environment: EnvironmentTargets,
    look: Look,
    read: Mapping[tuple[str, str, str], ReadBranch],
) -> Record:
    """Return the record with one environment after the look."""
    name = environment.name
    looks = [each.look for each in read.values()]
    last = record.last_look(name)
    now = max(look.at, last.at) if last else look.at
    reported = [each for each in look.reported if each.place.environment == name]
    is_complete = environment.is_complete and not any(each.problems for each in reported)
    after = desired_after(record, name, looks, now, is_complete=environment.is_complete)
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
            is_complete=is_complete,
        )
        real = {other: table for other, table in real.items() if other != key}
        if lines:
            real[key] = lines
    after = replace(after, real=real)
    observation = Observation(name, now, is_complete)
    if after == record and last and now - last.at < UNCHANGED_FOR:
        return record
    others = tuple(each for each in record.observed if each.environment != name)
    return replace(
        after,
        branches=branches_after(record, looks),
        observed=tuple(sorted((*others, observation))),
    )


def _seen(
    reported: Iterable[Reported], read: Mapping[tuple[str, str, str], ReadBranch]
) -> Mapping[str, list[Seen]]:
    """Return what clusters run, by cluster type, with the contents of the reported commits."""
    types = {
        part.cluster.lower(): part.cluster_type
        for each in reported
        for part in each.parts
        if _is_platform(each.place)
    }
    seen: dict[str, list[Seen]] = {}
    for each in reported:
        place = each.place
        branch = read[place.url, place.branch, place.folder]
        for part in each.parts:
            line = _line_of(place, part.cluster_type)
            if line is None:
                continue
            is_platform = _is_platform(place)
            cluster_type = part.cluster_type if is_platform else types.get(part.cluster.lower(), "")
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
                    "" if is_platform else str(line.target),
                    part.commit,
                    content,
                    part.state,
                    reason,
                    part.since,
                    part.reported_at,
                )
            )
    return seen


def _is_platform(place: BranchTargets) -> bool:
    return all(not line.workload for line in place.targets)


def _line_of(place: BranchTargets, name: str) -> DesiredLine | None:
    """Return the target of a branch by its cluster type, or an application's by its path."""
    if _is_platform(place):
        return next((line for line in place.targets if line.name == name), None)
    return next((line for line in place.targets if line.path == name), None)


def _wanted(
    environment: EnvironmentTargets, read: Mapping[tuple[str, str, str], ReadBranch]
) -> Mapping[str, dict[str, Wanted]]:
    """Return what each target should run, by cluster type, and by `*` for applications."""
    wanted: dict[str, dict[str, Wanted]] = {"*": {}}
    for place in (*(each.targets for each in environment.platform), *environment.applications):
        branch = read[place.url, place.branch, place.folder]
        for line in place.targets:
            if line.target in branch.wanted:
                value = branch.wanted[line.target]
                if _is_platform(place):
                    wanted.setdefault(line.name, {})[""] = value
                else:
                    wanted["*"][str(line.target)] = value
    return wanted


def observe_into(
    branch: RecordBranch, look: Look, repositories: Repositories, message: str
) -> tuple[str, bool, Record, tuple[Problem, ...]]:
    """Write a look into the record; compare again if another recorder was faster.

    Return the commit of the record, whether this look has changed it, the record, and the problems
    of branches. Raises KalypsoError.
    """
    for attempt in range(1, ATTEMPTS + 1):
        head, before = read_record(branch)
        after, problems = after_look(before, look, repositories)
        try:
            commit = write_record(branch, head, before, after, message, look.at)
        except PushConflictError:
            if attempt == ATTEMPTS:
                raise
        else:
            return commit, commit != head, after, problems
    raise AssertionError  # the loop returns or raises
