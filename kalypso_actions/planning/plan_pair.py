"""Plan two snapshots of an environment together, and render only the differing assignments."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions import comparison, gitops, rendering
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.differences import (
    AssignmentName,
    Comparison,
    FileDiff,
    MaskedComparison,
)
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import NAMESPACE_FILE, README_FILE, README_TEXT, RECONCILER_FILE
from kalypso_actions.model.paths import bytewise
from kalypso_actions.model.processes import Processes
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges
from kalypso_actions.planning.assignment_comparison import (
    AssignmentComparer,
    ComparedAssignment,
    ComparedSide,
    Pair,
    file_change,
)
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.plan import (
    PlanOptions,
    assignment_renderer,
    block,
    mass_removals,
    schedule_snapshot,
)
from kalypso_actions.platform_config import ConfigChanges
from kalypso_actions.rendering import Rendered
from kalypso_actions.scheduling import Scheduler

_UNCHANGED: Final = (RECONCILER_FILE, NAMESPACE_FILE)
"""Placeholders for the files of an assignment that is not rendered, so that it keeps its folder."""


@dataclass(frozen=True, slots=True)
class PlanPair:
    """The differences of two plans. They contain secrets: show only the result of `masked`.

    `compared` are the folders of the assignments that were rendered and compared, `secrets` the
    texts that they may contain.
    """

    comparison: Comparison
    compared: frozenset[str]
    secrets: frozenset[str]

    def masked(self, mask: Mask) -> MaskedComparison:
        """Return the differences without secrets; files are masked already."""
        return mask.masked(self.comparison, self.secrets)


def plan_pair(
    base: Snapshot,
    head: Snapshot,
    options: PlanOptions,
    scheduler: Scheduler,
    progress: Progress,
    mask: Mask,
    head_scheduler: Scheduler | None = None,
    processes: Processes | None = None,
) -> PlanPair:
    """Plan both snapshots; render assignments whose inputs differ, on both sides.

    Other assignments have the same files on both sides, because their cluster types, targets,
    Templates and configuration layers are the same. Mass removals are relative to the base trees of
    `head` or, without base trees, to the assignments of `base`. Only Placements need the base trees
    of `base`. `mask` removes secrets from files. If there are many assignments, `processes` render
    and compare them.
    """
    sides = _Side(base, options, scheduler), _Side(head, options, head_scheduler or scheduler)
    before, after = sides
    compared = _compared(before, after, mask, processes, progress)
    before_problems, _ = before.judge(head.base_trees, before.tree)
    after_problems, removal = after.judge(head.base_trees, before.tree)
    problems_new, problems_known = comparison.new_findings(before_problems, after_problems)
    warnings_new, warnings_known = comparison.new_findings(
        before.findings.warnings, after.findings.warnings
    )
    gaps_new, gaps_known = _missing_values(after, compared)
    result = Comparison(
        environment=head.environment,
        assignments_added=_names(after, after.assignments.keys() - before.assignments.keys()),
        assignments_removed=_names(before, _removed(before, after)),
        files=_diffs(before, after, compared, mask),
        values=comparison.grouped_values(
            (_name(after, folder), compared[folder].values)
            for folder in sorted(compared)
            if compared[folder].values
        ),
        documents=comparison.document_changes(before.fleet, after.fleet),
        problems_new=problems_new,
        problems_known=problems_known,
        warnings_new=(*warnings_new, *gaps_new),
        warnings_known=warnings_known + gaps_known,
        mass_removal=removal,
    )
    secrets = frozenset(text for item in compared.values() for text in item.secrets)
    return PlanPair(result, frozenset(compared), secrets)


def _compared(
    before: _Side,
    after: _Side,
    mask: Mask,
    processes: Processes | None,
    progress: Progress,
) -> dict[str, ComparedAssignment]:
    """Render and compare the assignments that differ; return the comparisons by folder."""
    chosen = [
        item
        for folder in _differing(before, after)
        for item in [after.assignments.get(folder) or before.assignments[folder]]
    ]
    chosen.sort(key=lambda item: (item.cluster_type.name, item.target.name))
    folders = [item.folder for item in chosen]
    pairs: list[Pair] = [
        (before.assignments.get(folder), after.assignments.get(folder)) for folder in folders
    ]
    comparer = AssignmentComparer(
        (before.fleet, before.renderer), (after.fleet, after.renderer), mask, processes
    )
    compared = dict(zip(folders, comparer.compare(pairs, progress), strict=True))
    for folder, item in compared.items():
        before.add(folder, item.before)
        after.add(folder, item.after)
    return compared


class _Side:
    """One of the two plans while it is built."""

    def __init__(self, snapshot: Snapshot, options: PlanOptions, scheduler: Scheduler) -> None:
        self.snapshot = snapshot
        self._options = options
        self.fleet, self.schedule, self.findings = schedule_snapshot(snapshot, scheduler)
        self.assignments = {item.folder: item for item in self.schedule.assignments}
        self.renderer = assignment_renderer(snapshot, self.fleet, options)
        self.rendered: dict[str, ComparedSide] = {}
        self.failed: list[PlannedAssignment] = []

    def add(self, folder: str, side: ComparedSide | None) -> None:
        """Add a rendered assignment."""
        if side is not None:
            self.rendered[folder] = side
        if side and side.failure:
            item = self.renderer.taken_over(self.assignments[folder], ())
            self.failed.append(item._replace(failure=side.failure))

    @property
    def tree(self) -> BaseTree:
        """A tree with a folder for each assignment."""
        paths = (f"{folder}/{RECONCILER_FILE}" for folder in self.assignments)
        return BaseTree("", "", "", {path: FileEntry(path, FILE_MODE, "", 0) for path in paths})

    def judge(
        self, bases: Sequence[BaseTree], otherwise: BaseTree
    ) -> tuple[tuple[Problem, ...], Problem | None]:
        """Return all problems, and the first mass removal in the base trees; add the warnings.

        `otherwise` replaces missing base trees.
        """
        trees = [self._changes(base) for base in bases]
        for changes in trees:
            self.findings.problems += changes.problems
            self.findings.warnings += changes.warnings
        problems = block(self.snapshot, self.failed, self._options, self.findings)
        problems = self._with_repositories(problems)
        self.findings.warnings = [*self._with_repositories(self.findings.warnings)]
        if bases:
            removals = mass_removals(bases, trees, self._options, self.findings)
            return problems, next(filter(None, removals), None)
        others = [self._changes(otherwise)]
        (removal,) = mass_removals((otherwise,), others, self._options, self.findings)
        return problems, removal and dataclasses.replace(removal, where=None)

    def _with_repositories(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Add the repositories whose content the problem of a failing assignment may quote."""
        folders = {
            item.failure.problem_of(item.assignment): item.assignment.folder
            for item in self.failed
            if item.failure
        }
        return tuple(
            _quoting(problem, self.repositories(folders[problem]))
            if problem in folders
            else problem
            for problem in problems
        )

    def _changes(self, base: BaseTree) -> TreeChanges:
        failed = {item.assignment.folder for item in self.failed}
        alone = dataclasses.replace(self.snapshot, base_trees=(base,))
        (preserved,) = gitops.preserved_folders(alone, failed)
        folders = {
            folder: dict.fromkeys(self._files(folder), b"")
            for folder in self.assignments
            if folder not in failed
        }
        names = tuple(cluster_type.name for cluster_type in self.fleet.cluster_types)
        desired = gitops.DesiredTree(names, folders, None, b"", preserved)
        return gitops.compute_changes(desired, base)

    def _files(self, folder: str) -> Collection[str]:
        """Return the names of the files; their contents do not matter for these changes."""
        side = self.rendered.get(folder)
        return side.files if side else _UNCHANGED

    def repositories(self, folder: str) -> frozenset[str]:
        """Return the repositories whose content may be in the files of a rendered assignment."""
        side = self.rendered.get(folder)
        return side.repositories if side else frozenset()


def _differing(before: _Side, after: _Side) -> set[str]:
    """Return the folders of assignments that one side lacks, or whose inputs differ."""
    common = before.assignments.keys() & after.assignments.keys()
    differing = set(before.assignments.keys() ^ after.assignments.keys())
    if before.fleet.environment != after.fleet.environment:
        return differing | common
    changes = ConfigChanges(before.fleet, after.fleet)
    cluster_types = _differing_names(before.fleet.cluster_types, after.fleet.cluster_types)
    targets = _differing_names(before.fleet.targets, after.fleet.targets)
    templates = _differing_names(before.fleet.templates, after.fleet.templates)
    for folder in common:
        assignment = after.assignments[folder]
        cluster_type = assignment.cluster_type
        if (
            cluster_type.name in cluster_types
            or assignment.target.name in targets
            or cluster_type.reconciler in templates
            or cluster_type.namespace_service in templates
            or cluster_type.config_type in templates
            or changes.affect(assignment)
        ):
            differing.add(folder)
    return differing


def _differing_names(
    before: Iterable[comparison.Document], after: Iterable[comparison.Document]
) -> set[str]:
    return {name for name, _, _ in comparison.differing_documents(before, after)}


def _removed(before: _Side, after: _Side) -> Iterator[str]:
    """Yield the folders that are certainly no longer assigned in `after`."""
    (preserved, *_) = gitops.preserved_folders(after.snapshot, ())
    cluster_types = {cluster_type.name for cluster_type in after.fleet.cluster_types}
    for folder in before.assignments.keys() - after.assignments.keys():
        cluster_type, _, target = folder.partition("/")
        if cluster_type not in cluster_types or not preserved.includes(cluster_type, target):
            yield folder


def _names(side: _Side, folders: Iterable[str]) -> tuple[AssignmentName, ...]:
    return tuple(sorted(_name(side, folder) for folder in folders))


def _name(side: _Side, folder: str) -> AssignmentName:
    assignment = side.assignments[folder]
    cluster_type, target = assignment.cluster_type, assignment.target
    repositories = frozenset({cluster_type.where.repository, target.where.repository})
    return AssignmentName(side.fleet.environment, cluster_type.name, target.name, repositories)


def _diffs(
    before: _Side, after: _Side, compared: Mapping[str, ComparedAssignment], mask: Mask
) -> tuple[FileDiff, ...]:
    """Return the diffs of files, in order; an assignment that now fails keeps its files."""
    diffs = {item.path: item for item in _readme_diffs(before, after, mask)}
    for folder in compared.keys() & {*_removed(before, after), *after.assignments}:
        diffs |= {item.path: item for item in compared[folder].diffs}
    return tuple(diffs[path] for path in bytewise(diffs))


def _readme_diffs(before: _Side, after: _Side, mask: Mask) -> Iterator[FileDiff]:
    names = [{item.name for item in side.fleet.cluster_types} for side in (before, after)]
    for name in names[0] ^ names[1]:
        old, new = (README_TEXT if name in side else None for side in names)
        file = file_change(f"{name}/{README_FILE}", old, new, frozenset())
        if file:
            yield mask.diff(file)


def _missing_values(
    after: _Side, compared: Mapping[str, ComparedAssignment]
) -> tuple[list[Problem], int]:
    """Return warnings for new lines without a value, and the number of warnings for known ones."""
    new: dict[frozenset[str], list[Rendered]] = {}
    known: list[Rendered] = []
    for folder, item in compared.items():
        known += [(after.assignments[folder], {name: line}) for name, line in item.gaps_known]
        for name, line in item.gaps_new:
            rows = new.setdefault(after.repositories(folder), [])
            rows.append((after.assignments[folder], {name: line}))
    templates = after.fleet.templates
    problems = [
        _quoting(problem, repositories)
        for repositories, rows in new.items()
        for problem in rendering.missing_values(rows, templates)
    ]
    return problems, len(rendering.missing_values(known, templates))


def _quoting(problem: Problem, repositories: Iterable[str]) -> Problem:
    """Add the repositories whose content a problem may quote, as places without a path."""
    places = map(Location, sorted(repositories))
    return dataclasses.replace(problem, related=(*problem.related, *places))
