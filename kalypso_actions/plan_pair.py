"""Plan two snapshots of an environment together, and render only the differing assignments."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions import comparison, gitops, rendering
from kalypso_actions.assignment_rendering import Folders, PlannedAssignment
from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.differences import (
    AssignmentName,
    Change,
    Comparison,
    FileChange,
    MaskedComparison,
)
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.layout import NAMESPACE_FILE, README_FILE, README_TEXT, RECONCILER_FILE
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges
from kalypso_actions.plan import (
    PlanOptions,
    assignment_renderer,
    block,
    mass_removals,
    schedule_snapshot,
)
from kalypso_actions.platform_config import ConfigChanges
from kalypso_actions.rendering import Rendered
from kalypso_actions.scheduling import Schedule, Scheduler
from kalypso_actions.secret_texts import secret_texts

_UNCHANGED: Final = {RECONCILER_FILE: b"", NAMESPACE_FILE: b""}
"""Placeholders for the files of an assignment that is not rendered, so that it keeps its folder."""


@dataclass(frozen=True, slots=True)
class PairedPlan:
    """One side of a pair: all assignments, and the rendered ones, by folder.

    `files` are the files of the rendered assignments by folder and name; failing assignments have
    none.
    """

    fleet: Fleet
    schedule: Schedule
    assignments: Mapping[str, Assignment]
    rendered: Mapping[str, PlannedAssignment]
    files: Mapping[str, Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class PlanPair:
    """Two plans and their differences. These contain secrets: show only the result of `masked`."""

    base: PairedPlan
    head: PairedPlan
    comparison: Comparison

    def masked(self, mask: Mask) -> MaskedComparison:
        """Return the differences without secrets."""
        sides = (self.base.rendered, self.head.rendered)
        items = (item for side in sides for item in side.values())
        return mask.masked(self.comparison, secret_texts(mask, items))


def plan_pair(
    base: Snapshot,
    head: Snapshot,
    options: PlanOptions,
    scheduler: Scheduler,
    progress: Progress,
    head_scheduler: Scheduler | None = None,
) -> PlanPair:
    """Plan both snapshots; render assignments whose inputs differ, on both sides.

    Other assignments have the same files on both sides, because their cluster types, targets,
    Templates and configuration layers are the same. Mass removals are relative to the base trees of
    `head` or, without base trees, to the assignments of `base`. Only Placements need the base trees
    of `base`.
    """
    sides = _Side(base, options, scheduler), _Side(head, options, head_scheduler or scheduler)
    before, after = sides
    differing = _differing(before, after)
    total = sum(len(side.assignments.keys() & differing) for side in sides)
    before.render(differing, lambda done, _: progress(done, total))
    first = len(before.rendered)
    after.render(differing, lambda done, _: progress(first + done, total))
    before_problems, _ = before.judge(head.base_trees, before.tree)
    after_problems, removal = after.judge(head.base_trees, before.tree)
    problems_new, problems_known = comparison.new_findings(before_problems, after_problems)
    warnings_new, warnings_known = comparison.new_findings(
        before.findings.warnings, after.findings.warnings
    )
    gaps_new, gaps_known = _missing_values(before, after)
    return PlanPair(
        before.plan,
        after.plan,
        Comparison(
            environment=head.environment,
            assignments_added=_names(after, after.assignments.keys() - before.assignments.keys()),
            assignments_removed=_names(before, _removed(before, after)),
            files=tuple(_file_changes(before, after)),
            values=comparison.value_changes(_configured(before, after)),
            documents=comparison.document_changes(before.fleet, after.fleet),
            problems_new=problems_new,
            problems_known=problems_known,
            warnings_new=(*warnings_new, *gaps_new),
            warnings_known=warnings_known + gaps_known,
            mass_removal=removal,
        ),
    )


class _Side:
    """One of the two plans while it is built."""

    def __init__(self, snapshot: Snapshot, options: PlanOptions, scheduler: Scheduler) -> None:
        self.snapshot = snapshot
        self._options = options
        self.fleet, self.schedule, self.findings = schedule_snapshot(snapshot, scheduler)
        self.assignments = {item.folder: item for item in self.schedule.assignments}
        self.rendered: dict[str, PlannedAssignment] = {}
        self.files: dict[str, dict[str, bytes]] = {}
        self._repositories: dict[Hashable, frozenset[str]] = {}

    @property
    def plan(self) -> PairedPlan:
        return PairedPlan(self.fleet, self.schedule, self.assignments, self.rendered, self.files)

    @property
    def failed(self) -> list[PlannedAssignment]:
        return [item for item in self.rendered.values() if item.failure]

    def render(self, folders: Collection[str], progress: Progress) -> None:
        """Render the assignments of these folders."""
        renderer = assignment_renderer(self.snapshot, self.fleet, self._options)
        chosen = [item for folder, item in self.assignments.items() if folder in folders]
        files: Folders = {}
        for item in renderer.render_all(chosen, files, progress):
            self.rendered[item.assignment.folder] = item
        for folder, contents in files.items():  # this process renders, and writes no blobs
            self.files[folder] = {
                name: content for name, content in contents.items() if isinstance(content, bytes)
            }

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
        failed = [item.assignment.folder for item in self.failed]
        alone = dataclasses.replace(self.snapshot, base_trees=(base,))
        (preserved,) = gitops.preserved_folders(alone, failed)
        folders = {
            folder: self.files.get(folder, _UNCHANGED)
            for folder in self.assignments
            if folder not in failed
        }
        names = tuple(cluster_type.name for cluster_type in self.fleet.cluster_types)
        desired = gitops.DesiredTree(names, folders, None, b"", preserved)
        return gitops.compute_changes(desired, base)

    def repositories(self, folder: str) -> frozenset[str]:
        """Return the repositories whose content may be in the files of a rendered assignment."""
        item = self.rendered.get(folder)
        if item is None:
            return frozenset()
        cluster_type = item.assignment.cluster_type
        named = {cluster_type.reconciler, cluster_type.namespace_service, cluster_type.config_type}
        templates = (each.where for each in self.fleet.templates if each.name in named)
        places = (item.assignment.target.where, cluster_type.where, *templates)
        return frozenset(where.repository for where in places) | self._layers(item)

    def _layers(self, item: PlannedAssignment) -> frozenset[str]:
        known = self._repositories.get(item.combination)
        if known is None:
            places = (where for origins in item.config.origins.values() for where in origins)
            known = frozenset(where.repository for where in places)
            self._repositories[item.combination] = known
        return known


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


def _configured(before: _Side, after: _Side) -> Iterator[comparison.Configured]:
    for folder in sorted(before.rendered.keys() & after.rendered.keys()):
        configs = before.rendered[folder].config, after.rendered[folder].config
        yield _name(after, folder), *configs


def _file_changes(before: _Side, after: _Side) -> Iterator[FileChange]:
    """Yield the files that differ, in order; an assignment that now fails keeps its files."""
    failed = {item.assignment.folder for item in after.failed}
    folders = {*_removed(before, after), *after.files} - failed
    changes = [*_readme_changes(before, after)]
    for folder in folders:
        old, new = before.files.get(folder, {}), after.files.get(folder, {})
        repositories = before.repositories(folder) | after.repositories(folder)
        for name in old.keys() | new.keys():
            path = f"{folder}/{name}"
            changes += _file_change(path, old.get(name), new.get(name), repositories)
    yield from sorted(changes, key=lambda item: item.path.encode("utf-8", "surrogateescape"))


def _readme_changes(before: _Side, after: _Side) -> Iterator[FileChange]:
    names = [{item.name for item in side.fleet.cluster_types} for side in (before, after)]
    for name in names[0] ^ names[1]:
        old, new = (README_TEXT if name in side else None for side in names)
        yield from _file_change(f"{name}/{README_FILE}", old, new, frozenset())


def _file_change(
    path: str, old: bytes | None, new: bytes | None, repositories: frozenset[str]
) -> Iterator[FileChange]:
    if old != new:
        change: Change = "added" if old is None else "deleted" if new is None else "modified"
        yield FileChange(path, change, old, new, repositories)


def _missing_values(before: _Side, after: _Side) -> tuple[list[Problem], int]:
    """Return warnings for new lines without a value, and the number of warnings for known ones."""
    new: dict[frozenset[str], list[Rendered]] = {}
    known: list[Rendered] = []
    for folder, files in after.files.items():
        old = before.files.get(folder, {})
        for name, content in files.items():
            if rendering.lacks_value(content):
                known_lines = set(old.get(name, b"").splitlines())
                for line in content.splitlines():
                    row = after.assignments[folder], {name: line}
                    if line in known_lines:
                        known.append(row)
                    else:
                        new.setdefault(after.repositories(folder), []).append(row)
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
