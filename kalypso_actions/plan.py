"""A snapshot through the stages to the proposed tree and its problems.

The story of one run, without the network, the clock or the file system: ci, render, schedule and
previews share it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from kalypso_actions import __version__, config_schemas, gitops, rendering
from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet import Findings
from kalypso_actions.gitops.provenance import SourceRevision
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Assignment, DeploymentTarget, Fleet
from kalypso_actions.model.tree import Snapshot, TreeChanges
from kalypso_actions.platform_config import PlatformConfig, config_map_problems, config_map_warnings
from kalypso_actions.scheduling import Schedule, Scheduler

Progress = Callable[[int, int], None]
"""Told how many of how many assignments are done."""


def unwatched(_done: int, _total: int) -> None:
    """Progress that nobody is told of."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a user may choose about a run; names and values as the actions' inputs."""

    namespace_scheme: Literal["current", "legacy"] = "current"
    config_file: Literal["current", "legacy"] = "current"
    on_failure: Literal["block", "keep"] = "block"
    on_source_failure: Literal["last-good", "block"] = "last-good"
    max_removal_percent: int = 30


@dataclass(frozen=True, slots=True)
class PlannedAssignment:
    """One assignment and what became of it: the names of its files, or why there are none."""

    assignment: Assignment
    namespace: str
    config: MergedConfig
    files: tuple[str, ...]
    failure: rendering.Failure | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run would write, and everything that was found on the way.

    With `problems`, nothing may be written. `degraded` says that the tree is not wholly that of
    the sources' heads: something could not be read, or fails and is kept as it was.
    """

    environment: str
    sources: tuple[tuple[str, Revision], ...]
    schedule: Schedule
    assignments: tuple[PlannedAssignment, ...]
    changes: TreeChanges
    degraded: bool
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def make_plan(
    snapshot: Snapshot,
    options: PlanOptions,
    scheduler: Scheduler,
    progress: Progress,
) -> Plan:
    """Schedule, configure, validate and render everything that the snapshot holds."""
    findings = Findings(list(snapshot.problems), list(snapshot.warnings))
    fleet = _with_workloads(snapshot, options, findings)
    schedule = scheduler.schedule(fleet)
    findings.problems += schedule.problems
    for config_map in fleet.config_maps:
        findings.problems += config_map_problems(config_map)
        findings.warnings += config_map_warnings(config_map)

    folders: dict[str, dict[str, bytes]] = {}
    planned = tuple(_render_all(fleet, schedule, options, folders, progress))
    failed = [item for item in planned if item.failure]
    wanted = findings.warnings if options.on_failure == "keep" else findings.problems
    wanted += [_failure_problem(item) for item in failed]

    kept = _kept(snapshot, failed)
    proposal = gitops.Proposal(
        cluster_types=tuple(cluster_type.name for cluster_type in fleet.cluster_types),
        folders=folders,
        promoted_commit=_promoted_commit(snapshot),
        sources=gitops.sources_file(_sources(snapshot, fleet, options, kept)),
        kept=kept,
    )
    changes = gitops.compute_changes(proposal, snapshot.base_tree)
    findings.problems += changes.problems
    findings.warnings += changes.warnings
    removal = gitops.mass_removal(changes, options.max_removal_percent)
    if removal:
        findings.warnings.append(Problem(removal, _gitops_location(snapshot)))
    return Plan(
        environment=snapshot.environment,
        sources=tuple(_revisions(snapshot)),
        schedule=schedule,
        assignments=planned,
        changes=changes,
        degraded=bool(failed) or any(reg.state != "head" for reg in snapshot.registrations),
        problems=tuple(findings.problems),
        warnings=tuple(findings.warnings),
    )


def _with_workloads(snapshot: Snapshot, options: PlanOptions, findings: Findings) -> Fleet:
    """The fleet with the targets that its registrations deliver for this environment."""
    block = options.on_source_failure == "block"
    for reading in snapshot.registrations:
        findings.warnings += reading.warnings
        (findings.problems if block else findings.warnings).extend(reading.problems)
    targets: dict[str, DeploymentTarget] = {t.name: t for t in snapshot.fleet.targets}
    # Heads first: what has moved since out of a last good commit belongs to where it stands now.
    for reading in sorted(snapshot.registrations, key=lambda one: one.state == "last-good"):
        for workload in reading.workloads:
            for target in workload.targets:
                if target.environment != snapshot.environment:
                    continue
                if target.name in targets and reading.state == "last-good":
                    continue
                if target.name in targets:
                    message = f"deployment target {target.name!r} is already defined in "
                    message += str(targets[target.name].where)
                    advice = "rename the target, its workload, or the other target"
                    findings.problems.append(Problem(message, target.where, advice))
                targets[target.name] = target
    return dataclasses.replace(
        snapshot.fleet, targets=tuple(targets[name] for name in sorted(targets))
    )


def _render_all(
    fleet: Fleet,
    schedule: Schedule,
    options: PlanOptions,
    folders: dict[str, dict[str, bytes]],
    progress: Progress,
) -> Iterator[PlannedAssignment]:
    """Configure, validate and render each assignment; the files go into `folders`."""
    platform_config = PlatformConfig(fleet)
    layout = rendering.Options(options.namespace_scheme, options.config_file)
    renderer = rendering.Renderer(fleet.environment, fleet.templates, layout)
    validator = _Validator(platform_config)
    total = len(schedule.assignments)
    for done, assignment in enumerate(schedule.assignments):
        progress(done, total)
        config = platform_config.config_of(assignment)
        namespace = rendering.namespace_of(assignment, fleet.environment, layout)
        outcome = validator.failure(assignment, config) or renderer.render(assignment, config)
        if isinstance(outcome, rendering.Failure):
            yield PlannedAssignment(assignment, namespace, config, (), outcome)
        else:
            folders[assignment.folder] = outcome
            yield PlannedAssignment(assignment, namespace, config, tuple(outcome))
    progress(total, total)


class _Validator:
    """Holds configurations against their schemas; many assignments share both."""

    def __init__(self, platform_config: PlatformConfig) -> None:
        self._platform_config = platform_config
        self._messages: dict[tuple[int, tuple[str, ...]], str] = {}

    def failure(self, assignment: Assignment, config: MergedConfig) -> rendering.Failure | None:
        """Upstream's message where the configuration does not satisfy the assignment's schemas."""
        schemas = self._platform_config.schemas_of(assignment)
        if not schemas:
            return None
        seen = (id(config), schemas)  # `platform_config` keeps every configuration alive
        message = self._messages.get(seen)
        if message is None:
            message = self._messages[seen] = config_schemas.check(config.values, schemas)
        return rendering.Failure(message, assignment.target.where) if message else None


def _failure_problem(item: PlannedAssignment) -> Problem:
    assert item.failure is not None  # noqa: S101 - the caller has chosen those that failed
    target, cluster_type = item.assignment.target.name, item.assignment.cluster_type.name
    message = f"{target} on {cluster_type}: {item.failure.message.strip()}"
    return Problem(message, item.failure.where, item.failure.advice)


def _kept(snapshot: Snapshot, failed: list[PlannedAssignment]) -> gitops.Kept:
    """Folders whose content is not known in this run: nothing goes because of a failure.

    Which targets an unreadable registration has, an earlier run has written down. Where none has,
    every target may be its own that does not belong to a registration that could be read.
    """
    unread = {reg.registration.name for reg in snapshot.registrations if reg.state == "kept"}
    read = {reg.registration.name for reg in snapshot.registrations} - unread
    previous = _previous_sources(snapshot)
    owners = previous.targets if previous else {}
    known_before = previous.registrations.keys() if previous else frozenset()
    unknown = bool(unread - known_before)
    return gitops.Kept(
        folders=frozenset(item.assignment.folder for item in failed),
        targets=frozenset(
            target
            for target, owner in owners.items()
            if owner in unread or (unknown and owner not in read)
        ),
        all_but=frozenset(t for t, owner in owners.items() if owner in read) if unknown else None,
    )


def _sources(
    snapshot: Snapshot, fleet: Fleet, options: PlanOptions, kept: gitops.Kept
) -> gitops.SourcesFile:
    """Provenance; what is kept stays in it with its old commits."""
    previous = _previous_sources(snapshot)
    registrations = {
        reg.registration.name: SourceRevision.of(reg.revision)
        for reg in snapshot.registrations
        if reg.revision is not None
    }
    targets = {target.name: target.registration for target in fleet.targets if target.registration}
    if previous:
        targets = {target: previous.targets[target] for target in kept.targets} | targets
        owners = {*targets.values(), *(reg.registration.name for reg in snapshot.registrations)}
        for owner in owners & previous.registrations.keys():
            registrations.setdefault(owner, previous.registrations[owner])
    return gitops.SourcesFile(
        version=__version__,
        environment=snapshot.environment,
        options={
            "namespace-scheme": options.namespace_scheme,
            "config-file": options.config_file,
            "on-failure": options.on_failure,
            "on-source-failure": options.on_source_failure,
        },
        environment_branch=SourceRevision.of(snapshot.own.revision),
        base_repos={
            base.name: SourceRevision.of(reading.revision) for base, reading in snapshot.bases
        },
        registrations=registrations,
        targets=targets,
    )


def _previous_sources(snapshot: Snapshot) -> gitops.PreviousSources | None:
    base = snapshot.base_tree
    return gitops.read_sources(base.sources, snapshot.environment) if base else None


def _promoted_commit(snapshot: Snapshot) -> str | None:
    commits = (base.commit for base, _ in snapshot.bases if base.name == MAIN_BASE_REPO)
    return next(commits, None)


def _revisions(snapshot: Snapshot) -> Iterator[tuple[str, Revision]]:
    """What was read, each with its part: `environment`, `base:<name>`, `registration:<name>`."""
    yield "environment", snapshot.own.revision
    for base, reading in snapshot.bases:
        yield f"base:{base.name}", reading.revision
    for registration in snapshot.registrations:
        if registration.revision is not None:
            yield f"registration:{registration.registration.name}", registration.revision


def _gitops_location(snapshot: Snapshot) -> Location | None:
    base = snapshot.base_tree
    return Location(base.repository, base.path) if base else None
