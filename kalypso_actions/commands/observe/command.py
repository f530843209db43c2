"""`kalypso observe`: record what each environment should run, and what its clusters run.

document = observe(ObserveInputs(...), context)

Reports are read before the heads of the branches, so that no cluster is ahead of its branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.commands.observe.branches import ReadBranch, read_branch
from kalypso_actions.commands.observe.read import (
    EnvironmentTargets,
    Reported,
    read_environments,
    read_reports,
)
from kalypso_actions.commands.shared.cluster_reports import AddedReports, open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.record import (
    RecordBranch,
    push_of_record,
    read_record,
    record_branch,
)
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import ObserveInputs
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.writes import Push
from kalypso_actions.observations.desired import BranchLook, branches_after, desired_after
from kalypso_actions.observations.real import Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    Observation,
    ObservationRecord,
    RecordedEnvironment,
    TargetKey,
)
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.observe_document import (
    ObservedEnvironmentEntry,
    ObserveDocument,
    observe_headline,
    observe_summary,
)

UNCHANGED_FOR: Final = timedelta(hours=6)
"""How long looks without changes need no commit."""

MESSAGE: Final = "Observe"

ATTEMPTS: Final = 5
"""How often a look is compared again after another recorder has moved the branch."""


def observe(inputs: ObserveInputs, context: CommandContext) -> CommandResult:
    """Record what each environment should run, and what its clusters run.

    This looks at all environments once, and writes what has changed since the last look. A source
    that does not answer is a problem; what the others say is recorded all the same. Raises
    KalypsoError if main or the record cannot be read, UsageError for a public record.
    """
    branch = record_branch(
        context,
        inputs.record,
        create=not inputs.dry_run,
        may_be_public=inputs.record_public,
        commit_by=inputs.commit_by,
    )
    at = inputs.now or context.runtime.now()
    with closing(open_cluster_reports(inputs, context)) as reports:
        look = read_look(context.reader, context.url(context.control_plane), reports, at)
    context.remotes.forget_heads()
    compared = _compared(branch, look, context.repositories)
    document = ObserveDocument(
        control_plane=context.control_plane,
        record=branch.name,
        at=at,
        commit=compared.head,
        changed=compared.write is not None,
        environments=tuple(_entry(each.name, compared.after) for each in look.environments),
        warnings=ProblemEntry.all_of(dict.fromkeys((*look.warnings, *compared.warnings))),
        problems=ProblemEntry.all_of(look.problems),
    )
    if inputs.dry_run:
        return dry_run_result("observe", document, filter(None, [compared.write]), context)
    if compared.write:
        commit = _carry_out(branch, look, context.repositories, compared)
        document = document.model_copy(update={"commit": commit})
    context.runtime.log(f"{observe_headline(document)}.")
    return CommandResult(document, observe_summary(document), failed=bool(look.problems))


@dataclass(frozen=True, slots=True)
class _Compared:
    """A look beside the record at `head`: the record after it, and the write if it differs."""

    head: str
    after: ObservationRecord
    write: Push | None
    warnings: tuple[Problem, ...]


def _carry_out(
    branch: RecordBranch, look: Look, repositories: Repositories, compared: _Compared
) -> str:
    """Write a look; compare it again with the record if another recorder was faster.

    Return the commit of the record. Raises PushConflictError after many attempts.
    """
    for attempt in range(1, ATTEMPTS + 1):
        if compared.write is None:
            break
        try:
            return branch.carry_out(compared.write, look.at)
        except PushConflictError:
            if attempt == ATTEMPTS:
                raise
            compared = _compared(branch, look, repositories)
    return compared.head


def _compared(branch: RecordBranch, look: Look, repositories: Repositories) -> _Compared:
    """Compare a look with the newest record. Raises KalypsoError if that cannot be read."""
    head, before = read_record(branch)
    after, warnings = after_look(before, look, repositories)
    return _Compared(head, after, push_of_record(branch, head, before, after, MESSAGE), warnings)


def _entry(environment: str, record: ObservationRecord) -> ObservedEnvironmentEntry:
    """Return the numbers of an environment."""
    lines = [
        line
        for (name, _), table in record.real.items()
        for line in table
        if name == environment and line.status != "gone"
    ]
    look = record.last_look(environment)
    desired = record.desired.get(environment, ())
    clusters = {line.cluster.lower() for line in lines}
    others = {line.cluster.lower() for line in lines if line.relation != "current"}
    failing = {line.cluster.lower() for line in lines if line.status == "failure"}
    return ObservedEnvironmentEntry(
        environment=environment,
        complete=bool(look and look.complete),
        targets=sum(bool(line.content) for line in desired),
        clusters=len(clusters),
        current=len(clusters - others),
        failing=len(failing),
    )


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that a look has read: pure values, to be compared with any record."""

    at: datetime
    environments: Sequence[EnvironmentTargets]
    reported: Sequence[Reported]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read_look(reader: Reader, control_plane: str, reports: AddedReports, at: datetime) -> Look:
    """Read all environments, then the reports of their clusters.

    Raises KalypsoError if main cannot be read.
    """
    environments = read_environments(reader, control_plane)
    reported = read_reports(reports, environments)
    problems = [problem for each in environments for problem in each.problems]
    problems += [problem for each in reported for problem in each.problems]
    warnings = [warning for each in reported for warning in each.warnings]
    return Look(
        at, environments, reported, tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(warnings))
    )


def after_look(
    record: ObservationRecord, look: Look, repositories: Repositories
) -> tuple[ObservationRecord, tuple[Problem, ...]]:
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
    record: ObservationRecord,
    environment: EnvironmentTargets,
    look: Look,
    read: Mapping[tuple[str, str, str], ReadBranch],
) -> ObservationRecord:
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
        real.pop(key, None)
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
        if each.place.is_platform
    }
    seen: dict[str, list[Seen]] = {}
    for each in reported:
        place = each.place
        branch = read[place.url, place.branch, place.folder]
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
                if place.is_platform:
                    wanted.setdefault(line.name, {})[""] = value
                else:
                    wanted["*"][str(line.target)] = value
    return wanted
