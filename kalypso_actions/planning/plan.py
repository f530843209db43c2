"""Plan one run: take a snapshot through the stages to the proposed tree and its problems.

Planning uses neither the network nor the clock nor the file system. ci, render, schedule and doctor
share it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kalypso_actions import rendering
from kalypso_actions.errors import Diagnostics, Finding, Level, Location, Problem, leveled, of_level
from kalypso_actions.fleet.parsing import template_may_exist
from kalypso_actions.gitops.changes import DesiredTree, compute_changes
from kalypso_actions.gitops.mass_removals import MASS_REMOVAL, with_mass_removals
from kalypso_actions.gitops.preserved_folders import PreservedFolders, preserved_folders
from kalypso_actions.gitops.provenance import (
    assigned_cluster_types,
    placements_file,
    previous_sources,
    recorded_placements,
    run_sources,
    sources_file,
)
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.kinds import DELIVERY, DeliveryRules, DeploymentTarget, Fleet
from kalypso_actions.model.layout import TARGET_FILES
from kalypso_actions.model.placements import PlacementState
from kalypso_actions.model.processes import Processes, Progress
from kalypso_actions.model.tree import (
    MAX_REMOVAL_PERCENT,
    BaseTree,
    LeftOutApplication,
    Snapshot,
    TreeChanges,
)
from kalypso_actions.planning.assignment_rendering import AssignmentRenderer, PlannedAssignment
from kalypso_actions.planning.config_checks import ConfigKeyReads
from kalypso_actions.planning.fleet_checks.repositories import BASE_REPO_MISSING
from kalypso_actions.planning.fleet_manifests import ManifestJudgement
from kalypso_actions.planning.unchanged import RenderedAssignments, render_changed
from kalypso_actions.platform_config.lint import (
    config_map_notes,
    config_map_problems,
    config_map_warnings,
)
from kalypso_actions.scheduling import Schedule, Scheduler
from kalypso_actions.sources.source_tree import read_ignore_files


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The options of a run; names and values are those of the actions' inputs.

    `scheduler` is "" for the scheduler that the Environment names.
    `code` identifies the code that renders. With it, a run keeps the folders of a base tree whose
    inputs have not changed; with `verify`, it renders and compares them.
    `requires_main` makes it a problem if no BaseRepo leads to main, even if the branch has all that
    it needs.
    """

    namespace_scheme: Literal["current", "legacy"] = "current"
    config_file: Literal["current", "legacy"] = "current"
    on_failure: Literal["block", "keep"] = "block"
    on_source_failure: Literal["last-good", "block"] = "last-good"
    missing_values: Literal["warn", "error"] = "warn"
    manifests: Literal["warn", "strict"] = "warn"
    requires_main: bool = False
    delivery: DeliveryRules = DELIVERY
    max_removal_percent: int = MAX_REMOVAL_PERCENT
    scheduler: str = ""
    code: str = ""
    verify: bool = False

    @classmethod
    def of(cls, inputs: object, **decided: Any) -> PlanOptions:
        """Return the options in the inputs of a command, and those `decided` by the command.

        An option that the inputs lack has its default.
        """
        names = [each.name for each in dataclasses.fields(cls)]
        given = {name: getattr(inputs, name) for name in names if hasattr(inputs, name)}
        return cls(**given | decided)


@dataclass(frozen=True, slots=True)
class Plan:
    """The files that one run would write, and everything that is wrong.

    `trees` are the changes to each base tree of the snapshot (or to an empty one), `preserved` the
    folders that stay as they are in each. If `findings` has an error, a run must not propose
    anything. `fleet` has the targets of registered Workloads. `degraded` means that a part of the
    tree does not come from the heads of the sources, because something could not be read, or failed
    and stays as it was.
    """

    environment: str
    sources: tuple[tuple[str, Revision], ...]
    schedule: Schedule
    assignments: tuple[PlannedAssignment, ...]
    cluster_types: tuple[str, ...]
    promoted_commit: str | None
    trees: tuple[TreeChanges, ...]
    preserved: tuple[PreservedFolders, ...]
    degraded: bool
    findings: tuple[Finding, ...]
    fleet: Fleet
    left_out: tuple[LeftOutApplication, ...] = ()

    @property
    def changes(self) -> TreeChanges:
        """The changes to the first base tree."""
        return self.trees[0]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The errors."""
        return of_level(self.findings, "error")

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The errors that make the rest of the plan meaningless.

        All but failing assignments and unusable registrations.
        """
        return tuple(item for item in self.findings if item.is_fault)

    @property
    def all_warnings(self) -> tuple[Finding, ...]:
        """The warnings that nobody has acknowledged."""
        return of_level(self.findings, "warning")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The same, without mass removals: a run may refuse them."""
        return tuple(item for item in self.all_warnings if item.code != MASS_REMOVAL)

    @property
    def mass_removals(self) -> tuple[Finding | None, ...]:
        """The warning for each tree that would lose too many assignments at once."""
        return tuple(changes.mass_removal for changes in self.trees)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The notes."""
        return of_level(self.findings, "note")

    @property
    def acknowledged(self) -> tuple[Finding, ...]:
        """The warnings that people have acknowledged."""
        return tuple(item for item in self.findings if item.reason)

    def without_contents(self) -> Plan:
        """Return the plan without the contents of files, which are half of its memory."""
        trees = tuple(dataclasses.replace(changes, files={}, listed=()) for changes in self.trees)
        return dataclasses.replace(self, trees=trees)


def make_plan(
    snapshot: Snapshot,
    options: PlanOptions,
    scheduler: Scheduler,
    progress: Progress,
    processes: Processes | None = None,
) -> Plan:
    """Schedule, configure, validate and render everything that the snapshot holds.

    If the fleet is large, `processes` render it.
    """
    fleet, schedule, found = schedule_snapshot(snapshot, scheduler)
    rendered = render_changed(
        snapshot,
        fleet,
        schedule.assignments,
        layout_options(options),
        lambda: assignment_renderer(snapshot, fleet, options, processes),
        progress,
        code=options.code and f"{options.code} {options.missing_values}",
        verify=options.verify,
    )
    desired = _desired_trees(snapshot, options, fleet, schedule, rendered)
    trees = []
    for wanted, base in zip(desired, snapshot.base_trees or (None,), strict=True):
        changes = compute_changes(wanted, base)
        if base and base.ignore_files:
            ignored = _ignored_files(changes, base)
            changes = dataclasses.replace(changes, warnings=(*changes.warnings, *ignored))
        if options.verify and base:
            refuted = rendered.refuted(changes, base.repository)
            changes = dataclasses.replace(changes, problems=(*changes.problems, *refuted))
        trees.append(changes)
    reads = ConfigKeyReads(fleet, rendered.platform_config)
    unset = reads.unset(
        item.assignment
        for item in rendered.planned
        # A text with <no value> may be the cause of a refused manifest.
        if item.failure is None or item.failure.code.startswith("manifest-")
    )
    config_of = rendered.platform_config.config_of
    of_values = rendering.value_gaps(rendered.written, fleet.templates, config_of)
    gaps = reads.findings(unset, of_values)
    findings = plan_findings(
        snapshot, found, gaps, rendered.manifests, trees, rendered.failed, options
    )
    trees = with_mass_removals(trees, snapshot.base_trees, findings, options.max_removal_percent)
    removals = (changes.mass_removal for changes in trees)
    return Plan(
        environment=snapshot.environment,
        sources=tuple(_revisions(snapshot)),
        schedule=schedule,
        assignments=rendered.planned,
        cluster_types=desired[0].cluster_types,
        promoted_commit=snapshot.promoted_commit,
        trees=tuple(trees),
        preserved=tuple(tree.preserved for tree in desired),
        degraded=bool(rendered.failed)
        or any(reg.state != "head" for reg in snapshot.registrations),
        findings=(*findings, *filter(None, removals)),
        fleet=fleet,
        left_out=tuple(_left_out(snapshot, fleet, scheduler, rendered.planned, trees[0])),
    )


def _left_out(
    snapshot: Snapshot,
    fleet: Fleet,
    scheduler: Scheduler,
    planned: Iterable[PlannedAssignment],
    changes: TreeChanges,
) -> Iterator[LeftOutApplication]:
    """Yield the registrations whose heads are not rendered.

    Their assignments are those in the tree or, if it has none, those that the heads would have.
    """
    readings = [item for item in snapshot.registrations if item.state != "head"]
    if not readings:
        return
    previous = previous_sources(snapshot.base_trees, snapshot.environment, snapshot.promoted_commit)
    owners = previous.targets if previous else {}
    of_last_good = Counter(item.assignment.target.registration for item in planned)
    kept = Counter(
        owners.get(folder.rpartition("/")[2], "") for folder in changes.preserved_folders
    )
    targets = [
        target
        for reading in readings
        for workload in reading.unusable
        for target in workload.targets
        if target.environment == snapshot.environment
    ]
    would_be = scheduler.schedule(dataclasses.replace(fleet, targets=tuple(targets)))
    of_heads = Counter(item.target.registration for item in would_be.assignments)
    for reading in readings:
        name = reading.registration.name
        if reading.state == "last-good" and reading.revision:
            commit = reading.revision.commit or ""
            yield LeftOutApplication(name, False, of_last_good[name], commit)
        else:
            is_known = not changes.preserved_folders or previous is not None
            of_head = of_heads[name] if reading.unusable else None
            yield LeftOutApplication(name, is_known and not kept[name], kept[name] or of_head)


def _desired_trees(
    snapshot: Snapshot,
    options: PlanOptions,
    fleet: Fleet,
    schedule: Schedule,
    rendered: RenderedAssignments,
) -> tuple[DesiredTree, ...]:
    """Return the content that each base tree (or an empty one) is to have.

    They differ in the folders that stay as they are, but not in their record of the sources.
    """
    failed = [item.assignment.folder for item in rendered.failed]
    preserved = preserved_folders(snapshot, failed)
    sources = run_sources(
        snapshot,
        fleet.targets,
        _recorded_options(options, snapshot, schedule),
        preserved[0].targets,
        rendered.inputs,
    )
    placed = schedule.placements
    desired = DesiredTree(
        tuple(cluster_type.name for cluster_type in fleet.cluster_types),
        rendered.folders,
        snapshot.promoted_commit,
        sources_file(sources),
        placements=None if placed is None else placements_file(placed),
        taken_over=rendered.taken_over,
        whole=rendered.whole,
        partly=rendered.partly,
    )
    return tuple(dataclasses.replace(desired, preserved=folders) for folders in preserved)


def assignment_renderer(
    snapshot: Snapshot, fleet: Fleet, options: PlanOptions, processes: Processes | None = None
) -> AssignmentRenderer:
    """Return the renderer of the assignments of a snapshot's fleet."""
    layout = layout_options(options)
    return AssignmentRenderer(
        fleet,
        layout,
        options.missing_values,
        options.manifests,
        snapshot.unpromoted_templates,
        processes,
    )


def schedule_snapshot(
    snapshot: Snapshot, scheduler: Scheduler
) -> tuple[Fleet, Schedule, Diagnostics]:
    """Return the fleet with its registered targets, their schedule, and the findings so far."""
    findings = Diagnostics(list(snapshot.problems), list(snapshot.warnings))
    fleet = _with_workloads(snapshot, findings)
    fleet = dataclasses.replace(fleet, placement=_placement_state(snapshot))
    schedule = scheduler.schedule(fleet)
    findings.problems += schedule.problems
    findings.warnings += schedule.warnings
    # A faulty policy stops cd, but not the environment's own manifests.
    findings.warnings += snapshot.own.policy.problems
    for config_map in fleet.config_maps:
        findings.problems += config_map_problems(config_map)
        findings.warnings += config_map_warnings(config_map)
        findings.notes += config_map_notes(config_map)
    return fleet, schedule, findings


def _placement_state(snapshot: Snapshot) -> PlacementState:
    """Return the state that a scheduler of Placements needs in addition to the fleet."""
    return PlacementState(
        snapshot.own.placements,
        recorded_placements(snapshot.base_trees),
        assigned_cluster_types(snapshot.base_trees) if snapshot.own.placements else {},
        snapshot.now,
    )


def _ignored_files(changes: TreeChanges, base: BaseTree) -> Iterator[Problem]:
    """Report lines of `.sourceignore` files by which Flux ignores files that this run wants."""
    rules = read_ignore_files(base.repository, base.ignore_files)
    paths: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for path in (*changes.files, *changes.unchanged):
        rule = rules.rule(path) if path.rpartition("/")[2] in TARGET_FILES else None
        if rule:
            paths[rule].append(path)
    for (file, line), excluded in sorted(paths.items()):
        others = f" and {counted(len(excluded) - 1, 'other file')}" if len(excluded) > 1 else ""
        yield Problem(
            f"this line keeps {min(excluded)}{others} from Flux, which deletes what they made",
            Location(base.repository, file, line),
            "remove the line, unless another program than Flux applies the branch",
            "gitops-file-foreign",
        )


def plan_findings(
    snapshot: Snapshot,
    found: Diagnostics,
    gaps: Iterable[Finding],
    manifests: ManifestJudgement,
    trees: Sequence[TreeChanges],
    failed: Sequence[PlannedAssignment],
    options: PlanOptions,
) -> list[Finding]:
    """Return all findings of a plan; the options decide which failures are errors.

    `found` are those of `schedule_snapshot`, and `gaps` the warnings about missing values. The
    findings of `manifests` tell why assignments of theirs fail.
    """
    missing = {item.failure.missing_template for item in failed if item.failure} - {""}
    readings = (snapshot.own, *(reading for _, reading in snapshot.bases))
    unread = {name for name in missing if template_may_exist(name, readings)}
    if any(problem.code == BASE_REPO_MISSING for problem in snapshot.lacking):
        unread = missing  # main may have the Templates
    failures = dict.fromkeys(
        item.failure.problem_of(item.assignment)
        for item in failed
        if item.failure
        and not item.failure.is_consequence
        and item.failure.missing_template not in unread
        and item.assignment.folder not in manifests.faulty
    )
    unusable = [problem for reading in snapshot.registrations for problem in reading.problems]
    of_source: Level = "error" if options.on_source_failure == "block" else "warning"
    of_failure: Level = "error" if options.on_failure == "block" else "warning"
    findings = [
        *found.findings,
        *gaps,
        *manifests.findings,
    ]
    for changes in trees:
        findings += leveled(changes.problems, "error", "run")
        findings += leveled(changes.warnings, "warning", "run")
    for problem in snapshot.lacking:
        is_fatal = problem.code == BASE_REPO_MISSING and (options.requires_main or missing)
        findings += leveled([problem], "error" if is_fatal else "warning")
    findings += leveled(unusable, of_source, "registration")
    findings += leveled(failures, of_failure, "assignment")
    return findings


def _with_workloads(snapshot: Snapshot, findings: Diagnostics) -> Fleet:
    """Return the fleet with the targets of its registrations for this environment."""
    for reading in snapshot.registrations:
        findings.warnings += reading.warnings
    targets: dict[str, DeploymentTarget] = {t.name: t for t in snapshot.fleet.targets}
    # Heads come first: a target may have moved to another registration since a last good commit.
    for reading in sorted(snapshot.registrations, key=lambda item: item.state == "last-good"):
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
                    problem = Problem(message, target.where, advice, "target-duplicate")
                    findings.problems.append(problem)
                targets[target.name] = target
    return dataclasses.replace(
        snapshot.fleet, targets=tuple(targets[name] for name in sorted(targets))
    )


def layout_options(options: PlanOptions) -> rendering.Options:
    """Return the options that concern rendering."""
    return rendering.Options(options.namespace_scheme, options.config_file, options.delivery.text)


def _recorded_options(
    options: PlanOptions, snapshot: Snapshot, schedule: Schedule
) -> dict[str, str]:
    """Return the options that `sources.json` records, by their names as inputs.

    Placements are replayed with the time of the run.
    """
    replayed = {}
    if schedule.placements is not None and snapshot.now is not None:
        replayed = {"now": snapshot.now.strftime("%Y-%m-%dT%H:%M:%SZ")}
    return {
        **replayed,
        "namespace-scheme": options.namespace_scheme,
        "config-file": options.config_file,
        "on-failure": options.on_failure,
        "on-source-failure": options.on_source_failure,
    }


def _revisions(snapshot: Snapshot) -> Iterator[tuple[str, Revision]]:
    """Yield revisions by part: `environment`, `base:<name>`, `registration:<name>`."""
    yield "environment", snapshot.own.revision
    for base, reading in snapshot.bases:
        yield f"base:{base.name}", reading.revision
    for registration in snapshot.registrations:
        if registration.revision is not None:
            yield f"registration:{registration.registration.name}", registration.revision
