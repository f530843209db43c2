"""Compare the environments of a changed branch, before and after the change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.commands.preview.reading import (
    BranchSides,
    Environments,
    EnvironmentSides,
    Side,
)
from kalypso_actions.commands.shared.policy_entry import closed_by
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import new_findings
from kalypso_actions.errors import Diagnostics, Finding, Problem, leveled, of_level
from kalypso_actions.inputs.chain import PreviewInputs
from kalypso_actions.model.differences import Comparison, MaskedComparison
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.entry_points import DEFAULT_SCHEDULER
from kalypso_actions.model.processes import Progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView
from kalypso_actions.planning.fleet_checks.scope import NO_BRANCH, other_scopes
from kalypso_actions.planning.merged_findings import at_newer, fleet_findings
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import PlanPair, plan_pair
from kalypso_actions.promotion.environments import Faults
from kalypso_actions.promotion.policy import LETS_IN
from kalypso_actions.scheduling.registry import find_scheduler, trusted_scheduler


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

    def placed(self, newer: Callable[[str, str, str], str]) -> Compared:
        """Return the same with new findings about two files at the one that the change has."""
        comparison = dataclasses.replace(
            self.comparison,
            problems_new=at_newer(self.comparison.problems_new, newer),
            warnings_new=at_newer(self.comparison.warnings_new, newer),
        )
        pair = self.pair and dataclasses.replace(self.pair, comparison=comparison)
        return Compared(comparison, pair)

    def masked(self, mask: Mask) -> MaskedComparison:
        """Return the same without secrets."""
        return self.pair.masked(mask) if self.pair else mask.masked(self.faults)


@dataclass(frozen=True, slots=True)
class ComparedEnvironment:
    """An environment before and after the change.

    `promoted_commit` is the commit of main that the environment has, `arriving` the comparison with
    it (None if only the change arrives). `waiting_for` is why the environment's policy, with the
    change, lets no commit in now. `notes` are about parts that are not compared.
    """

    name: str
    change: Compared
    arriving: Compared | None
    promoted_commit: str | None
    notes: tuple[Problem, ...] = ()
    waiting_for: str = ""


@dataclass(frozen=True, slots=True)
class ComparedBranch:
    """The findings of the branch's documents, and its environments, also by name on both sides.

    `notes` tell where documents that the change adds or edits have no effect.
    """

    documents: Compared
    environments: tuple[ComparedEnvironment, ...]
    before: Environments
    after: Environments
    notes: tuple[Finding, ...] = ()

    @property
    def promoted(self) -> dict[str, str]:
        """The commits of main that the environments have which remain after the change."""
        return {
            item.name: item.promoted_commit
            for item in self.environments
            if item.promoted_commit and item.name in self.after
        }

    def origins(self) -> frozenset[str]:
        """Return the repositories whose content the comparisons show."""
        changes = (item.change for item in self.environments)
        arriving = (item.arriving for item in self.environments)
        every = (self.documents, *changes, *filter(None, arriving))
        return frozenset().union(*(item.origins() for item in every))


def compare(
    branch: BranchSides, inputs: PreviewInputs, progress: Progress, now: datetime | None
) -> ComparedBranch:
    """Plan the environments of the changed branch with both commits, and compare them.

    Without the time `now`, nothing is said of what keeps commits out.
    """
    environments, scopes = [], []
    for sides in branch.environments:
        schedulers, notes = _schedulers(sides.name, branch, inputs)
        change = _compared(sides, sides.base, schedulers, inputs, progress).placed(branch.newer)
        arriving = None
        if sides.promoted and sides.promoted.snapshot and sides.head.snapshot:
            arriving = _compared(sides, sides.promoted, schedulers, inputs, progress)
        commit = sides.base.promoted_commit or sides.head.promoted_commit
        scopes.append(_scopes(sides, change))
        notes = (*notes, *sides.head.unread(), *sides.warnings, *_unjudged(sides, change))
        head = sides.head.snapshot
        closed = closed_by(sides.name, head.own.policy, now) if head and now else LETS_IN
        waiting_for = closed.description
        environments.append(
            ComparedEnvironment(sides.name, change, arriving, commit, notes, waiting_for)
        )
    before = _judged(
        branch.findings_before,
        [before for before, _ in scopes],
        branch.declared[0],
        [item.base for item in branch.environments],
        branch.others,
    )
    after = _judged(
        branch.findings_after,
        [after for _, after in scopes],
        branch.declared[1],
        [item.head for item in branch.environments],
        branch.others,
    )
    after = at_newer(after, branch.newer)
    if not branch.change.is_main:
        before, after = _of_change(before, after, branch.change.branch)
    documents = Compared(_new("", before, after))
    notes, _ = new_findings(*(_without_effect(side) for side in (before, after)))
    unjudged = FleetView((), branch.declared[1], unread=dict.fromkeys(branch.unread, NO_BRANCH))
    notes = (*notes, *leveled(unjudged.unjudged(), "note"))
    return ComparedBranch(documents, tuple(environments), branch.before, branch.after, notes)


def _scopes(
    sides: EnvironmentSides, change: Compared
) -> tuple[FleetScope | None, FleetScope | None]:
    """Return both sides for the fleet's checks; none if one side alone cannot be judged.

    Otherwise all that the fleet had before would count as new.
    """
    before, after = change.pair.scopes if change.pair else (None, None)
    is_judged = (before or sides.base.is_absent) and (after or sides.head.is_absent)
    return (before, after) if is_judged else (None, None)


def _unjudged(sides: EnvironmentSides, change: Compared) -> Iterator[Problem]:
    """Yield a note if only the faults of the base keep the fleet from being checked."""
    before, after = change.pair.scopes if change.pair else (None, None)
    snapshot = sides.head.snapshot
    if after and snapshot and snapshot.declared and not (before or sides.base.is_absent):
        yield Problem(
            "the fleet is not checked: faults of the base hide what it had before",
            snapshot.declared.where,
        )


def _judged(
    found: Diagnostics,
    scopes: Sequence[FleetScope | None],
    environments: Environments,
    sides: Sequence[Side],
    others: Mapping[str, Reading],
) -> tuple[Finding, ...]:
    """Return the findings of the branch's documents and of its fleet, on one side.

    A registration that this run cannot read, but schedule may, has a note. The branches of `others`
    are judged with an environment that can be judged itself.
    """
    snapshots = [side.snapshot for side in sides if side.snapshot]
    if others and any(scopes) and snapshots:
        scopes = [*scopes, *other_scopes(snapshots[0], others)[0]]
    findings = fleet_findings(found.findings, scopes, environments, snapshots)
    unread = {note.where for side in sides for note in side.unread()}
    return tuple(
        item for item in findings if item.code != "application-missing" or item.where not in unread
    )


def _of_change(
    before: Sequence[Finding], after: Sequence[Finding], branch: str
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Leave out what stands on other branches before and after the change: it is not its part."""
    both = {*before} & {*after}
    elsewhere = {item for item in both if item.where and item.where.branch not in {"", branch}}
    kept = (tuple(item for item in side if item not in elsewhere) for side in (before, after))
    first, second = kept
    return first, second


WITHOUT_EFFECT: Final = frozenset(
    {
        *("config-overridden", "config-ambiguous", "config-form-differs"),
        *("cluster-type-unselected", "schema-property-unset"),
    }
)
"""The codes of notes on documents that do not do what their author probably expects."""


def _without_effect(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(item for item in of_level(findings, "note") if item.code in WITHOUT_EFFECT)


def _new(environment: str, before: Iterable[Finding], after: Iterable[Finding]) -> Comparison:
    """Return the new findings, and the numbers of the others."""
    sides = tuple(before), tuple(after)
    problems, problems_known = new_findings(*(of_level(side, "error") for side in sides))
    warnings, warnings_known = new_findings(*(of_level(side, "warning") for side in sides))
    return Comparison(
        environment,
        problems_new=problems,
        problems_known=problems_known,
        warnings_new=warnings,
        warnings_known=warnings_known,
    )


def _schedulers(
    name: str, branch: BranchSides, inputs: PreviewInputs
) -> tuple[tuple[str, str], tuple[Problem, ...]]:
    """Return the schedulers before and after the change, and a note if one is not used."""
    if inputs.scheduler:
        return (inputs.scheduler, inputs.scheduler), ()
    sides = branch.before, branch.after
    old, new = (side[name].scheduler if name in side else "" for side in sides)
    known = {environment.scheduler for environment in branch.before.values()}
    trusted = trusted_scheduler(new, known, old)
    if trusted == new:
        return (old, new), ()
    message = f"not compared: the scheduler {new!r}, which only the change names"
    advice = f"it is planned by {trusted or DEFAULT_SCHEDULER}; check what the package does"
    return (old, trusted), (Problem(message, branch.after[name].where, advice),)


def _compared(
    sides: EnvironmentSides,
    base: Side,
    schedulers: tuple[str, str],
    inputs: PreviewInputs,
    progress: Progress,
) -> Compared:
    head = sides.head
    if base.snapshot is None or head.snapshot is None:
        return Compared(_unread(sides.name, base, head))
    options = PlanOptions.of(inputs, on_failure="block", on_source_failure="block")
    old, new = map(find_scheduler, schedulers)
    snapshots = base.snapshot, head.snapshot
    if inputs.on_source_failure != "block":
        snapshots = _with_unread_as_warnings(snapshots[0]), _with_unread_as_warnings(snapshots[1])
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


def _with_unread_as_warnings(snapshot: Snapshot) -> Snapshot:
    """Only warn of repositories that cannot be read: this job may lack access that schedule has."""
    registrations = tuple(
        item
        if item.is_readable
        else dataclasses.replace(item, problems=(), warnings=(*item.warnings, *item.problems))
        for item in snapshot.registrations
    )
    return dataclasses.replace(snapshot, registrations=registrations)
