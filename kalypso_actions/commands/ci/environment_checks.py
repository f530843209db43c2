"""Render an environment with a commit of main, and compare it with its present state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    read_control_plane,
    read_own_branch,
)
from kalypso_actions.commands.shared.reading.document_reader import SharedReader
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations, read_snapshot
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.fleet_checks import FleetScope
from kalypso_actions.planning.fleet_checks.scope import scope_of
from kalypso_actions.planning.merged_findings import documents_of
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.promotion.regressions import EnvironmentFaults, Regressions, regressions


@dataclass(frozen=True, slots=True)
class CheckedEnvironment:
    """The result of a check; `plan` is None if the environment could not be rendered.

    `promoted_commit` is the commit of main that the environment has now. `is_compared`: a
    GitOps branch could be read, and the plan has the changes to it. `known` are faults that stood
    before the commit, and what could not be read: warnings that others have to mend. `scope` and
    `documents` are for the fleet's checks. `awaits_cd`: the environment's branch has no
    base-repo.yaml yet.
    """

    name: str
    promoted_commit: str | None = None
    plan: Plan | None = None
    is_compared: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    known: tuple[Problem, ...] = ()
    scope: FleetScope | None = None
    documents: tuple[Document, ...] = ()
    awaits_cd: bool = False


@dataclass(slots=True)
class EnvironmentChecks:
    """Renders environments with `commit`; `before` returns the commit of main before it."""

    context: CommandContext
    reader: SharedReader
    options: PlanOptions
    commit: str
    before: Callable[[], str | None]

    def check(self, environment: Environment) -> CheckedEnvironment:
        """Render one environment. If its own branch is broken, that is only a warning."""
        try:
            check = _EnvironmentCheck(environment, self)
        except KalypsoError as error:
            return CheckedEnvironment(environment.name, known=error.problems)
        return check.result()


@dataclass(frozen=True, slots=True)
class _Rendered:
    """The faults of a rendered environment, its plan and its snapshot, if they exist."""

    faults: EnvironmentFaults
    plan: Plan | None = None
    snapshot: Snapshot | None = None


class _EnvironmentCheck:
    """Renders one environment with the checked commit of main, and with an earlier one."""

    def __init__(self, environment: Environment, checks: EnvironmentChecks) -> None:
        """Read the environment's own branch. Raises KalypsoError."""
        self._checks = checks
        self._base_trees = ReadableBaseTrees(checks.context.repositories)
        context = checks.context
        self._environment = read_own_branch(
            environment,
            context.url(context.control_plane),
            checks.reader,
            main=context.main(),
            main_commit=checks.commit,
        )

    def result(self) -> CheckedEnvironment:
        after = self._rendered(self._checks.commit)
        if after.faults.is_faultless:
            broken = Regressions((), ())
        else:
            broken = regressions(after.faults, self._faults_before(after.faults))
        warnings = after.plan.all_warnings if after.plan else ()
        return CheckedEnvironment(
            self._environment.name,
            self._environment.promoted_commit,
            after.plan,
            bool(after.snapshot and after.snapshot.base_trees),
            broken.problems,
            warnings,
            (*broken.warnings, *self._base_trees.warnings),
            scope_of(after.plan.fleet, after.snapshot) if after.plan and after.snapshot else None,
            tuple(documents_of(after.snapshot)) if after.snapshot else (),
            self._environment.promoted_commit is None,
        )

    def _faults_before(self, after: EnvironmentFaults) -> EnvironmentFaults | None:
        """Return the faults with the first earlier commit that can be planned; None without one.

        A registration that the environment's commit lacks may be older than the checked commit: a
        fault of its repository is not new then.
        """
        known: EnvironmentFaults | None = None
        for commit in self._earlier_commits():
            rendered = self._rendered(commit)
            if rendered.plan:
                known = known.with_registrations(rendered.faults) if known else rendered.faults
            if known and after.unusable.keys() <= known.usable | known.unusable.keys():
                break
        return known

    def _earlier_commits(self) -> Iterator[str]:
        if self._environment.promoted_commit:
            yield self._environment.promoted_commit
        before = self._checks.before()
        if before:
            yield before

    def _rendered(self, commit: str) -> _Rendered:
        checks = self._checks
        try:
            control_plane = read_control_plane(
                self._environment, checks.reader, promoted_commit=commit
            )
            snapshot = read_snapshot(
                control_plane,
                checks.reader,
                checks.options,
                base_trees=self._base_trees.open(control_plane.fleet.gitops_repos),
            )
        except KalypsoError as error:
            return _Rendered(EnvironmentFaults(faults=error.problems))
        progress = checks.context.runtime.progress
        # The plan must not turn failures into warnings: they are compared with the earlier ones.
        options = dataclasses.replace(checks.options, on_failure="block", on_source_failure="block")
        try:
            snapshot, plan = plan_registrations(snapshot, options, checks.reader, progress)
        except UsageError:
            raise
        except KalypsoError as error:  # the scheduler that the Environment names raised it
            return _Rendered(EnvironmentFaults(faults=error.problems))
        return _Rendered(_faults(snapshot, plan), plan, snapshot)


def _faults(snapshot: Snapshot, plan: Plan) -> EnvironmentFaults:
    readings = snapshot.registrations
    return EnvironmentFaults(
        failures={
            item.assignment.folder: item.failure.problem_of(item.assignment)
            for item in plan.assignments
            if item.failure
        },
        unusable={item.registration.name: item.problems for item in readings if item.problems},
        usable=frozenset(item.registration.name for item in readings if not item.problems),
        faults=plan.faults,
    )
