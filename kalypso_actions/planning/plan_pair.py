"""Plan two snapshots of an environment together, and render only the differing assignments.

    pair = plan_pair(base, head, options, scheduler, progress, mask)
    pair.masked(mask).files

If there are many assignments, processes render and compare them, and return only the differences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kalypso_actions import rendering
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import (
    Configured,
    ValueDifference,
    ValueDifferences,
    differing_documents,
    document_changes,
    grouped_values,
    new_findings,
    value_changes,
)
from kalypso_actions.errors import Finding, Location, of_level
from kalypso_actions.gitops.changes import DesiredTree, compute_changes
from kalypso_actions.gitops.mass_removals import with_mass_removals
from kalypso_actions.gitops.preserved_folders import preserved_folders
from kalypso_actions.model.counts import counted
from kalypso_actions.model.differences import (
    AssignmentName,
    Change,
    Comparison,
    FileChange,
    FileDiff,
    MaskedComparison,
    ValueChange,
)
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.kinds import Assignment, Environment, Fleet
from kalypso_actions.model.layout import NAMESPACE_FILE, README_FILE, README_TEXT, RECONCILER_FILE
from kalypso_actions.model.processes import Processes, Progress, no_progress
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges
from kalypso_actions.model.tree_listing import bytewise
from kalypso_actions.planning.assignment_rendering import Folders, PlannedAssignment, divided
from kalypso_actions.planning.config_checks import ConfigKeyRead, ConfigKeyReads
from kalypso_actions.planning.fleet_checks import FleetScope
from kalypso_actions.planning.fleet_checks.scope import scope_of
from kalypso_actions.planning.fleet_manifests import Checked
from kalypso_actions.planning.merged_findings import documents_of, fleet_findings, settled
from kalypso_actions.planning.plan import (
    PlanOptions,
    assignment_renderer,
    plan_findings,
    schedule_snapshot,
)
from kalypso_actions.planning.secret_texts import SecretTexts
from kalypso_actions.platform_config import ConfigChanges, PlatformConfig
from kalypso_actions.rendering import Rendered
from kalypso_actions.scheduling import Scheduler

_UNCHANGED: Final = (RECONCILER_FILE, NAMESPACE_FILE)
"""Placeholders for the files of an assignment that is not rendered, so that it keeps its folder."""

Lines = tuple[tuple[str, bytes], ...]
"""Lines of files, each with the name of its file."""


@dataclass(frozen=True, slots=True)
class PlanPair:
    """The differences of two plans. They contain secrets: show only the result of `masked`.

    `compared` are the folders of the assignments that were rendered and compared, `secrets` the
    texts that they may contain. `scopes` are both sides for the fleet's checks, as far as they can
    be judged. `idle` says in words which new targets and cluster types have no assignment.
    """

    comparison: Comparison
    compared: frozenset[str]
    secrets: frozenset[str]
    scopes: tuple[FleetScope | None, FleetScope | None] = (None, None)
    idle: tuple[str, ...] = ()

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
    before = _PairSide(base, options, scheduler, mask)
    after = _PairSide(head, options, head_scheduler or scheduler, mask)
    compared = _compare_differing(before, after, mask, processes, progress)
    before_findings, _ = before.judge(head.base_trees, before.tree)
    after_findings, removal = after.judge(head.base_trees, before.tree)
    problems_new, problems_known = new_findings(
        of_level(before_findings, "error"), of_level(after_findings, "error")
    )
    warnings_new, warnings_known = new_findings(
        of_level(before_findings, "warning"), of_level(after_findings, "warning")
    )
    gaps_new, gaps_known = _value_gaps(before, after, compared)
    result = Comparison(
        environment=head.environment,
        assignments_added=_names(after, after.assignments.keys() - before.assignments.keys()),
        assignments_removed=_names(before, _removed(before, after)),
        files=_diffs(before, after, compared, mask),
        values=grouped_values(
            (_name(after, folder), compared[folder].values)
            for folder in sorted(compared)
            if compared[folder].values
        ),
        documents=document_changes(before.fleet, after.fleet),
        problems_new=problems_new,
        problems_known=problems_known,
        warnings_new=(*warnings_new, *gaps_new),
        warnings_known=warnings_known + gaps_known,
        mass_removal=removal,
    )
    secrets = frozenset(text for item in compared.values() for text in item.secrets)
    scopes = scope_of(before.fleet, base), scope_of(after.fleet, head)
    idle = tuple(_idle(before, after))
    return PlanPair(result, frozenset(compared), secrets, scopes, idle)


def with_fleet_findings(
    pair: PlanPair, snapshots: tuple[Snapshot, Snapshot], environments: Mapping[str, Environment]
) -> PlanPair:
    """Add the findings of the fleet's checks, as far as one environment can be judged alone."""
    before, after = (
        fleet_findings((), (scope,), environments, (snapshot,))
        for scope, snapshot in zip(pair.scopes, snapshots, strict=True)
    )
    problems, problems_known = new_findings(of_level(before, "error"), of_level(after, "error"))
    warnings, warnings_known = new_findings(of_level(before, "warning"), of_level(after, "warning"))
    known = pair.comparison
    comparison = dataclasses.replace(
        known,
        problems_new=tuple(dict.fromkeys((*known.problems_new, *problems))),
        problems_known=known.problems_known + problems_known,
        warnings_new=tuple(dict.fromkeys((*known.warnings_new, *warnings))),
        warnings_known=known.warnings_known + warnings_known,
    )
    return dataclasses.replace(pair, comparison=comparison)


def _idle(before: _PairSide, after: _PairSide) -> Iterator[str]:
    """Yield a sentence for each registration whose new targets run nowhere.

    Then one for each new cluster type without an assignment.
    """
    known = {target.name for target in before.fleet.targets}
    assigned = {item.target.name for item in after.assignments.values()}
    of_registrations: dict[str, list[str]] = {}
    for target in after.fleet.targets:
        if target.name not in known:
            of_registrations.setdefault(target.registration, []).append(target.name)
    for registration, names in sorted(of_registrations.items()):
        if assigned.isdisjoint(names):
            number = counted(len(names), "target")
            none = "none of them is on a" if len(names) > 1 else "it runs on no"
            subject = f"{registration} registers" if registration else "the change adds"
            yield f"{subject} {number}: {none} cluster type"
    earlier = {item.name for item in before.fleet.cluster_types}
    used = {item.cluster_type.name for item in after.assignments.values()}
    for cluster_type in after.fleet.cluster_types:
        if cluster_type.name not in earlier | used:
            yield f"ClusterType {cluster_type.name}: nothing runs on it"


@dataclass(frozen=True, slots=True)
class _RenderedSide:
    """One side of an assignment: the names of its files, or its failure.

    `repositories` are the URLs of all repositories whose content the files or the failure may have.
    """

    files: tuple[str, ...]
    failure: rendering.Failure | None
    repositories: frozenset[str]
    checked: Checked


@dataclass(frozen=True, slots=True)
class _ComparedAssignment:
    """Both sides of an assignment, and how they differ.

    If the assignment fails after the change, there are no `diffs`: its files stay as they are.
    `gaps_new` are the lines with a missing value that only the second side has. `secrets` are the
    texts to mask in everything else that is shown.
    """

    before: _RenderedSide | None
    after: _RenderedSide | None
    diffs: tuple[FileDiff, ...]
    values: Sequence[ValueDifference]
    gaps_new: Lines
    gaps_known: Lines
    secrets: frozenset[str]


class _PairSide:
    """One of the two plans while it is built; it remembers the rendered assignments."""

    def __init__(
        self, snapshot: Snapshot, options: PlanOptions, scheduler: Scheduler, mask: Mask
    ) -> None:
        self.snapshot = snapshot
        self._options = options
        self.fleet, schedule, self._found = schedule_snapshot(snapshot, scheduler)
        self.assignments = {item.folder: item for item in schedule.assignments}
        self._renderer = assignment_renderer(snapshot, self.fleet, options)
        self.config = PlatformConfig(self.fleet)
        self.key_reads = ConfigKeyReads(self.fleet, self.config)
        self._secrets = SecretTexts(mask)
        self._rendered: dict[str, _RenderedSide] = {}
        self._planned: list[PlannedAssignment] = []
        self._failed: list[PlannedAssignment] = []
        self._templates = {each.name: each.where.repository for each in self.fleet.templates}
        self._config_maps = {each.name: each for each in self.fleet.config_maps}
        self._of_layers: dict[str, frozenset[str]] = {}
        self._shared: dict[frozenset[str], frozenset[str]] = {}

    def render(
        self, folder: str
    ) -> tuple[PlannedAssignment, _RenderedSide, Mapping[str, bytes], frozenset[str]] | None:
        """Render an assignment, if this side has it.

        Return it with the repositories, its contents (none if it fails), and its secrets.
        """
        assignment = self.assignments.get(folder)
        if assignment is None:
            return None
        folders: Folders = {}
        (item,) = self._renderer.render_all([assignment], folders, no_progress)
        files = folders.get(folder, {})
        contents = {name: text for name, text in files.items() if isinstance(text, bytes)}
        side = _RenderedSide(item.files, item.failure, self._sources_of(item), item.checked)
        return item, side, contents, self._secrets.of(item)

    def shared(self, repositories: frozenset[str]) -> frozenset[str]:
        """Return the first equal set, so that processes send and keep few sets."""
        return self._shared.setdefault(repositories, repositories)

    def _sources_of(self, item: PlannedAssignment) -> frozenset[str]:
        """Return the repositories whose content may be in the files of an assignment."""
        cluster_type = item.assignment.cluster_type
        names = (cluster_type.reconciler, cluster_type.namespace_service, cluster_type.config_type)
        places = (item.assignment.target.where.repository, cluster_type.where.repository)
        templates = (self._templates[name] for name in names if name in self._templates)
        layers = map(self._of_layer, item.config.config_maps)
        return self.shared(frozenset().union(places, templates, *layers))

    def _of_layer(self, config_map: str) -> frozenset[str]:
        known = self._of_layers.get(config_map)
        if known is None:
            layer = self._config_maps[config_map]
            known = frozenset(layer.at(key).repository for key in layer.data)
            self._of_layers[config_map] = known
        return known

    def add(self, folder: str, side: _RenderedSide | None) -> None:
        """Remember a rendered assignment."""
        if side is not None:
            self._rendered[folder] = side
            item = self._renderer.taken_over(self.assignments[folder], side.files)
            self._planned.append(item._replace(failure=side.failure, checked=side.checked))

    def unset_keys(self) -> Iterator[tuple[ConfigKeyRead, list[Assignment]]]:
        """Yield the keys that Templates read and no layer sets, with the assignments."""
        failed = {item.assignment.folder for item in self._failed}
        items = (item for folder, item in self.assignments.items() if folder not in failed)
        for read, unset in self.key_reads.unset(items).items():
            if read.text or self._options.missing_values == "warn":
                yield read, unset

    def repositories(self, folder: str) -> frozenset[str]:
        """Return the repositories whose content may be in the files of a rendered assignment."""
        side = self._rendered.get(folder)
        return side.repositories if side else frozenset()

    @property
    def tree(self) -> BaseTree:
        """A tree with a folder for each assignment."""
        paths = (f"{folder}/{RECONCILER_FILE}" for folder in self.assignments)
        return BaseTree("", "", "", {path: FileEntry(path, FILE_MODE, "", 0) for path in paths})

    def judge(
        self, bases: Sequence[BaseTree], otherwise: BaseTree
    ) -> tuple[list[Finding], Finding | None]:
        """Return all findings, and the first mass removal in the base trees.

        `otherwise` replaces missing base trees.
        """
        self._planned, manifests = self._renderer.judge(self._planned, {})
        self._failed = [item for item in self._planned if item.failure]
        trees = [self._changes(base) for base in bases]
        found = plan_findings(
            self.snapshot, self._found, (), manifests, trees, self._failed, self._options
        )
        findings = settled(found, documents_of(self.snapshot))
        others = trees or [self._changes(otherwise)]
        changed = with_mass_removals(
            others, bases or (otherwise,), findings, self._options.max_removal_percent
        )
        removal = next(filter(None, (changes.mass_removal for changes in changed)), None)
        if removal and not bases:
            removal = dataclasses.replace(removal, where=None)
        folders = {
            item.failure.problem_of(item.assignment): item.assignment.folder
            for item in self._failed
            if item.failure
        }
        return [
            _quoting(item, self.repositories(folders[item])) if item in folders else item
            for item in findings
        ], removal

    def _changes(self, base: BaseTree) -> TreeChanges:
        """Return the changes to a tree; the contents of files do not matter for them."""
        failed = {item.assignment.folder for item in self._failed}
        alone = dataclasses.replace(self.snapshot, base_trees=(base,))
        (preserved,) = preserved_folders(alone, failed)
        folders: dict[str, dict[str, bytes]] = {}
        for folder in (folder for folder in self.assignments if folder not in failed):
            side = self._rendered.get(folder)
            folders[folder] = dict.fromkeys(side.files if side else _UNCHANGED, b"")
        names = tuple(cluster_type.name for cluster_type in self.fleet.cluster_types)
        return compute_changes(DesiredTree(names, folders, None, b"", preserved), base)


def _compare_differing(
    before: _PairSide,
    after: _PairSide,
    mask: Mask,
    processes: Processes | None,
    progress: Progress,
) -> dict[str, _ComparedAssignment]:
    """Render and compare the assignments that differ; return the comparisons by folder.

    Their order is that of both schedules.
    """
    chosen = [
        item
        for folder in _differing(before, after)
        for item in [after.assignments.get(folder) or before.assignments[folder]]
    ]
    chosen.sort(key=lambda item: (item.cluster_type.name, item.target.name))
    sides = before.assignments, after.assignments
    sizes = [sum(item.folder in side for side in sides) for item in chosen]
    done, total = 0, sum(sizes)
    progress(done, total)
    values = ValueDifferences()

    def compare(index: int) -> _ComparedAssignment:
        return _compared(chosen[index].folder, before, after, mask, values)

    count = processes.usable(total) if processes else 1
    if (
        processes is None
        or count == 1
        or any(_moves(item.folder, before, after) for item in chosen)
    ):
        results: Iterator[_ComparedAssignment] = map(compare, range(len(chosen)))
    else:
        results = processes.compute(divided(chosen, count), lambda index, _: compare(index))
    compared: dict[str, _ComparedAssignment] = {}
    for item, size, result in zip(chosen, sizes, results, strict=True):
        compared[item.folder] = result
        before.add(item.folder, result.before)
        after.add(item.folder, result.after)
        done += size
        progress(done, total)
    return compared


def _moves(folder: str, before: _PairSide, after: _PairSide) -> bool:
    """Whether an assignment moves to another registration, and so to another budget."""
    old, new = before.assignments.get(folder), after.assignments.get(folder)
    return (
        old is not None and new is not None and old.target.registration != new.target.registration
    )


def _compared(
    folder: str, before: _PairSide, after: _PairSide, mask: Mask, values: ValueDifferences
) -> _ComparedAssignment:
    """Render both sides of an assignment, and compare them."""
    old, new = before.render(folder), after.render(folder)
    old_item, old_side, old_files, old_secrets = old or (None, None, {}, frozenset())
    new_item, new_side, new_files, new_secrets = new or (None, None, {}, frozenset())
    secrets = old_secrets | new_secrets
    diffs: list[FileDiff] = []
    if not (new_side and new_side.failure):
        both = (side.repositories for side in (old_side, new_side) if side)
        repositories = after.shared(frozenset().union(*both))
        for name in old_files.keys() | new_files.keys():
            path = f"{folder}/{name}"
            file = _file_change(path, old_files.get(name), new_files.get(name), repositories)
            if file:
                diffs.append(mask.diff(file, secrets))
    gaps_new, gaps_known = _gaps(old_files, new_files)
    return _ComparedAssignment(
        old_side,
        new_side,
        tuple(diffs),
        values.of(old_item.config, new_item.config) if old_item and new_item else (),
        gaps_new,
        gaps_known,
        secrets,
    )


def _file_change(
    path: str, before: bytes | None, after: bytes | None, repositories: frozenset[str]
) -> FileChange | None:
    """Return how a file differs; None if it does not."""
    if before == after:
        return None
    change: Change = "added" if before is None else "deleted" if after is None else "modified"
    return FileChange(path, change, before, after, repositories)


def _gaps(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[Lines, Lines]:
    """Return the lines with a missing value: new ones, and those that the file had before."""
    new: list[tuple[str, bytes]] = []
    known: list[tuple[str, bytes]] = []
    for name, content in after.items():
        if rendering.lacks_value(content):
            known_lines = set(before.get(name, b"").splitlines())
            for line in filter(rendering.lacks_value, content.splitlines()):
                (known if line in known_lines else new).append((name, line))
    return tuple(new), tuple(known)


def _differing(before: _PairSide, after: _PairSide) -> set[str]:
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


def _differing_names(before: Iterable[Any], after: Iterable[Any]) -> set[str]:
    return {name for name, _, _ in differing_documents(before, after)}


def _removed(before: _PairSide, after: _PairSide) -> Iterator[str]:
    """Yield the folders that are certainly no longer assigned in `after`."""
    (preserved, *_) = preserved_folders(after.snapshot, ())
    cluster_types = {cluster_type.name for cluster_type in after.fleet.cluster_types}
    for folder in before.assignments.keys() - after.assignments.keys():
        cluster_type, _, target = folder.partition("/")
        if cluster_type not in cluster_types or not preserved.includes(cluster_type, target):
            yield folder


def _names(side: _PairSide, folders: Iterable[str]) -> tuple[AssignmentName, ...]:
    return tuple(sorted(_name(side, folder) for folder in folders))


def _name(side: _PairSide, folder: str) -> AssignmentName:
    assignment = side.assignments[folder]
    cluster_type, target = assignment.cluster_type, assignment.target
    repositories = frozenset({cluster_type.where.repository, target.where.repository})
    return AssignmentName(side.fleet.environment, cluster_type.name, target.name, repositories)


def _diffs(
    before: _PairSide, after: _PairSide, compared: Mapping[str, _ComparedAssignment], mask: Mask
) -> tuple[FileDiff, ...]:
    """Return the diffs of files, in order; an assignment that now fails keeps its files."""
    diffs = {item.path: item for item in _readme_diffs(before, after, mask)}
    for folder in compared.keys() & {*_removed(before, after), *after.assignments}:
        diffs |= {item.path: item for item in compared[folder].diffs}
    return tuple(diffs[path] for path in bytewise(diffs))


def _readme_diffs(before: _PairSide, after: _PairSide, mask: Mask) -> Iterator[FileDiff]:
    names = [{item.name for item in side.fleet.cluster_types} for side in (before, after)]
    for name in names[0] ^ names[1]:
        old, new = (README_TEXT if name in side else None for side in names)
        file = _file_change(f"{name}/{README_FILE}", old, new, frozenset())
        if file:
            yield mask.diff(file)


def _value_gaps(
    before: _PairSide, after: _PairSide, compared: Mapping[str, _ComparedAssignment]
) -> tuple[list[Finding], int]:
    """Return warnings for new lines without a value, and the number of warnings for known ones."""
    new: dict[frozenset[str], list[Rendered]] = {}
    known: list[Rendered] = []
    for folder, item in compared.items():
        known += [(after.assignments[folder], {name: line}) for name, line in item.gaps_known]
        for name, line in item.gaps_new:
            rows = new.setdefault(after.repositories(folder), [])
            rows.append((after.assignments[folder], {name: line}))
    templates, config_of = after.fleet.templates, after.config.config_of
    earlier = {
        (read.template, read.key, read.text, assignment.folder)
        for read, assignments in before.unset_keys()
        for assignment in assignments
    }
    unset: dict[frozenset[str], dict[ConfigKeyRead, list[Assignment]]] = {}
    unset_known: dict[ConfigKeyRead, list[Assignment]] = {}
    for read, assignments in after.unset_keys():
        for assignment in assignments:
            folder = assignment.folder
            if (read.template, read.key, read.text, folder) not in earlier:
                of_read = unset.setdefault(after.repositories(folder), {})
                of_read.setdefault(read, []).append(assignment)
            elif folder in compared:
                unset_known.setdefault(read, []).append(assignment)
    problems = [
        _quoting(problem, repositories)
        for repositories in dict.fromkeys((*new, *unset))
        for problem in after.key_reads.findings(
            unset.get(repositories, {}),
            rendering.value_gaps(new.get(repositories, ()), templates, config_of),
        )
    ]
    gaps_known = rendering.value_gaps(known, templates, config_of)
    return problems, len(after.key_reads.findings(unset_known, gaps_known))


def _quoting(problem: Finding, repositories: Iterable[str]) -> Finding:
    """Add the repositories whose content a problem may quote, as places without a path."""
    places = map(Location, sorted(repositories))
    return dataclasses.replace(problem, related=(*problem.related, *places))


def changed_values(
    earlier: Fleet, fleet: Fleet, items: Iterable[PlannedAssignment], added: Collection[str]
) -> tuple[ValueChange, ...]:
    """Return the values of assignments that differ from the values in an earlier fleet.

    The earlier fleet needs no targets: the current targets replace them. `added` has the folders of
    assignments that the earlier fleet did not have.
    """
    known = (item for item in items if item.assignment.folder not in added)
    return value_changes(_configured(earlier, fleet, known))


def _configured(
    earlier: Fleet, fleet: Fleet, items: Iterable[PlannedAssignment]
) -> Iterator[Configured]:
    changes = ConfigChanges(earlier, fleet)
    config = PlatformConfig(earlier)
    cluster_types = {cluster_type.name: cluster_type for cluster_type in earlier.cluster_types}
    for item in items:
        assignment = item.assignment
        before = cluster_types.get(assignment.cluster_type.name)
        if before is None:
            continue
        if before.labels != assignment.cluster_type.labels or changes.affect(assignment):
            name = AssignmentName(fleet.environment, before.name, assignment.target.name)
            then = dataclasses.replace(assignment, cluster_type=before)
            yield name, config.config_of(then), item.config
