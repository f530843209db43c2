"""Compare the environments of a changed branch, before and after the change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.preview.sides import (
    Side,
    SideReader,
    with_unread_as_warnings,
    without_content,
)
from kalypso_actions.commands.shared.reading.control_plane import environments_among
from kalypso_actions.commands.shared.reading.document_reader import read_branch
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import new_findings
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.inputs.preview import PreviewInputs
from kalypso_actions.model.differences import Comparison, MaskedComparison
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.schedulers import DEFAULT_SCHEDULER
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import PlanPair, plan_pair
from kalypso_actions.planning.validation import validate_branches
from kalypso_actions.promotion.environments import Faults
from kalypso_actions.scheduling.registry import find_scheduler, trusted_scheduler

Environments = Mapping[str, Environment]


@dataclass(frozen=True, slots=True)
class Compared:
    """The differences between two sides, with secrets; without a `pair`, `faults` has them."""

    faults: Comparison
    pair: PlanPair | None = None

    @property
    def comparison(self) -> Comparison:
        """The differences, with secrets."""
        return self.pair.comparison if self.pair else self.faults

    @property
    def problems(self) -> Faults:
        """The numbers of problems after the change."""
        return Faults(len(self.comparison.problems_new), self.comparison.problems_known)

    def origins(self) -> frozenset[str]:
        """Return the repositories whose content the differences show."""
        comparison = self.comparison
        problems = (*comparison.problems_new, *comparison.warnings_new)
        places = (where for problem in problems for where in (problem.where, *problem.related))
        of_problems = frozenset(where.repository for where in places if where)
        assignments = (*comparison.assignments_added, *comparison.assignments_removed)
        configured = (name for item in comparison.values for name in item.assignments)
        of_files = (item.repositories for item in comparison.files)
        of_values = (item.repositories for item in comparison.values)
        of_names = (item.repositories for item in (*assignments, *configured))
        return of_problems.union(*of_files, *of_values, *of_names)

    def masked(self, mask: Mask) -> MaskedComparison:
        """Return the same without secrets."""
        return self.pair.masked(mask) if self.pair else mask.masked(self.faults)


@dataclass(frozen=True, slots=True)
class ComparedEnvironment:
    """An environment before and after the change.

    `promoted_commit` is the commit of main that the environment has, `arriving` the comparison with
    it (None if only the change arrives). `notes` are about parts that are not compared.
    """

    name: str
    change: Compared
    arriving: Compared | None
    promoted_commit: str | None
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedBranch:
    """The findings of the branch's documents, and its environments, also by name on both sides."""

    documents: Compared
    environments: tuple[ComparedEnvironment, ...]
    before: Environments
    after: Environments

    def origins(self) -> frozenset[str]:
        """Return the repositories whose content the comparisons show."""
        changes = (item.change for item in self.environments)
        arriving = (item.arriving for item in self.environments)
        every = (self.documents, *changes, *filter(None, arriving))
        return frozenset().union(*(item.origins() for item in every))


@dataclass(frozen=True, slots=True)
class _Sides:
    """An environment before and after the change, and with its present commit.

    `schedulers` are the names of the schedulers before and after.
    """

    name: str
    base: Side
    head: Side
    promoted: Side | None
    schedulers: tuple[str, str]
    notes: tuple[Problem, ...]


def compare_branch(
    sides: SideReader,
    inputs: PreviewInputs,
    progress: Progress,
    trust: Callable[[Collection[str]], None],
) -> ComparedBranch:
    """Plan the environments of the changed branch with both commits, and compare them.

    Call `trust` with the repositories that the base names before reading those that the head names.
    """
    change = sides.change
    before, base_findings = _read(sides, change.base)
    after, head_findings = _read(sides, change.head)
    names = _names(inputs.environments, (*before, *after))
    documents = Compared(_findings(base_findings, head_findings))
    bases = {name: _base(sides, before[name]) for name in names if name in before}
    sides_of_base = [side for pair in bases.values() for side in pair if side]
    known = {url for side in sides_of_base for url in side.repositories()}
    trust({change.url, *known})
    compared = []
    for name in names:
        base, promoted = bases.get(name, (None, None))
        head = sides.read(after[name], change.head) if name in after else None
        schedulers, notes = _schedulers(name, before, after, inputs)
        pair = _Sides(
            name, base or _absent(head), head or _absent(base), promoted, schedulers, notes
        )
        compared.append(_compare(pair, sides, inputs, progress))
    return ComparedBranch(documents, tuple(compared), before, after)


def _findings(base: Diagnostics, head: Diagnostics) -> Comparison:
    """Return the new findings of the branch's documents."""
    problems, problems_known = new_findings(base.problems, head.problems)
    warnings, warnings_known = new_findings(base.warnings, head.warnings)
    return Comparison(
        "",
        problems_new=problems,
        problems_known=problems_known,
        warnings_new=warnings,
        warnings_known=warnings_known,
    )


def _read(sides: SideReader, commit: str) -> tuple[Environments, Diagnostics]:
    """Return the environments of the changed branch at a commit, and its documents' findings."""
    change = sides.change
    of_main = change.head_of_main if not change.is_main else commit
    main = _reading(sides, RepositoryPath(change.url, change.main, "."), of_main)
    environments, _ = environments_among(main.documents)  # the findings have its problems
    readings = [main]
    if not change.is_main:
        environments = {
            name: item
            for name, item in environments.items()
            if item.control_plane.branch == change.branch
        }
        places = {item.control_plane.path for item in environments.values()}
        readings = [
            _reading(sides, RepositoryPath(change.url, change.branch, path), commit)
            for path in sorted(places)
        ]
    return environments, validate_branches(readings)


def _reading(sides: SideReader, place: RepositoryPath, commit: str) -> Reading:
    files = sides.reader.repositories.open(place.repo, branch=place.branch, commit=commit)
    return read_branch(files, place, sides.reader.kustomize)


def _names(given: Collection[str], known: Iterable[str]) -> list[str]:
    """Return the environments to compare. Raises UsageError for an unknown one."""
    names = list(dict.fromkeys(known))
    for name in given:
        if name not in names:
            near = nearest(name, names)
            suggestion = f"did you mean {near}? " if near else ""
            message = f"there is no Environment {name!r} on this branch, before or after the change"
            raise UsageError(message, advice=f"{suggestion}Environments: {', '.join(names)}")
    return [name for name in names if not given or name in given]


def _base(sides: SideReader, environment: Environment) -> tuple[Side, Side | None]:
    """Return an environment before the change; for main, also with its present commit."""
    base = sides.read(environment, sides.change.base)
    commit = base.promoted_commit
    if not sides.change.is_main or commit in {None, sides.change.base}:
        return base, None
    return base, sides.read(environment, commit or "")


def _absent(other: Side | None) -> Side:
    """Return the side on which an environment does not exist."""
    snapshot = other.snapshot if other else None
    return Side(without_content(snapshot) if snapshot else None, is_absent=True)


def _compare(
    sides: _Sides, reader: SideReader, inputs: PreviewInputs, progress: Progress
) -> ComparedEnvironment:
    change = _compared(sides, sides.base, inputs, progress)
    arriving = None
    if sides.promoted and sides.promoted.snapshot and sides.head.snapshot:
        arriving = _compared(sides, sides.promoted, inputs, progress)
    commit = sides.base.promoted_commit or sides.head.promoted_commit
    notes = (*sides.notes, *sides.head.unread(), *reader.warnings(sides.name))
    return ComparedEnvironment(sides.name, change, arriving, commit, notes)


def _schedulers(
    name: str, before: Environments, after: Environments, inputs: PreviewInputs
) -> tuple[tuple[str, str], tuple[Problem, ...]]:
    """Return the schedulers before and after the change, and a note if one is not used."""
    if inputs.scheduler:
        return (inputs.scheduler, inputs.scheduler), ()
    old, new = (side[name].scheduler if name in side else "" for side in (before, after))
    known = {environment.scheduler for environment in before.values()}
    trusted = trusted_scheduler(new, known, old)
    if trusted == new:
        return (old, new), ()
    message = f"not compared: the scheduler {new!r}, which only the change names"
    advice = f"it is planned by {trusted or DEFAULT_SCHEDULER}; check what the package does"
    return (old, trusted), (Problem(message, after[name].where, advice),)


def _compared(sides: _Sides, base: Side, inputs: PreviewInputs, progress: Progress) -> Compared:
    head = sides.head
    if base.snapshot is None or head.snapshot is None:
        return Compared(_unread(sides.name, base, head))
    options = PlanOptions.of(inputs, on_failure="block", on_source_failure="block")
    old, new = map(find_scheduler, sides.schedulers)
    snapshots = base.snapshot, head.snapshot
    if inputs.on_source_failure != "block":
        snapshots = with_unread_as_warnings(snapshots[0]), with_unread_as_warnings(snapshots[1])
    pair = plan_pair(
        *snapshots,
        options,
        old,
        progress,
        Mask(inputs.mask),
        new,
        WorkerProcesses(),
    )
    if base.is_absent or head.is_absent:  # other branches have the documents, which stay
        pair = dataclasses.replace(
            pair, comparison=dataclasses.replace(pair.comparison, documents=())
        )
    return Compared(pair.comparison, pair)


def _unread(name: str, base: Side, head: Side) -> Comparison:
    """Return a problem if only the head cannot be read; else warn that nothing is compared."""
    problems, known = new_findings(base.problems, head.problems)
    if problems:
        return Comparison(name, problems_new=problems, problems_known=known)
    warnings = tuple(
        dataclasses.replace(item, message=f"not compared: {item.message}")
        for item in base.problems[:1]
    )
    return Comparison(name, warnings_new=warnings, problems_known=known)
