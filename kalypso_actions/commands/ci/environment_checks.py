"""An environment rendered with a commit of main, and held against what it is without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kalypso_actions import gitops
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.plan import Plan, PlanOptions, failure_problem, make_plan
from kalypso_actions.promotion import with_commit
from kalypso_actions.promotion.base_branch import base_document
from kalypso_actions.promotion.regressions import EnvironmentFaults, Regressions, regressions
from kalypso_actions.scheduling import find_scheduler
from kalypso_actions.snapshot.base_file import read_base_file
from kalypso_actions.snapshot.base_tree import read_base_tree
from kalypso_actions.snapshot.gather import gather
from kalypso_actions.snapshot.reader import SharedReader
from kalypso_actions.snapshot.reading import read_documents
from kalypso_actions.sources.yaml_documents import parse_yaml


@dataclass(frozen=True, slots=True)
class CheckedEnvironment:
    """What came of it; `plan` is None where it could not be rendered.

    `has`: the commit of main that the environment has now. `is_compared`: whether a GitOps branch
    could be read, so that the plan's changes are changes of it.
    """

    name: str
    has: str | None = None
    plan: Plan | None = None
    is_compared: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


@dataclass(slots=True)
class EnvironmentChecks:
    """Renders environments with `commit`; `before` gives the commit that main had before it."""

    context: CommandContext
    reader: SharedReader
    options: PlanOptions
    commit: str
    before: Callable[[], str | None]

    def check(self, environment: Environment) -> CheckedEnvironment:
        """Render one environment. An environment whose own branch is broken has only warnings."""
        try:
            one = _Environment(environment, self)
        except KalypsoError as error:
            return CheckedEnvironment(environment.name, warnings=error.problems)
        return one.checked()


@dataclass(frozen=True, slots=True)
class _Rendered:
    """One look, and the plan and the snapshot that it is made of, as far as they exist."""

    look: EnvironmentFaults
    plan: Plan | None = None
    snapshot: Snapshot | None = None


@dataclass(slots=True)
class _BaseTrees:
    """The GitOps branches of an environment, as far as they can be read; each once."""

    context: CommandContext
    trees: dict[RepositoryPath, BaseTree | None] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)

    def open(self, gitops_repos: Sequence[GitOpsRepo]) -> list[BaseTree]:
        for one in gitops_repos:
            if one.target not in self.trees:
                self.trees[one.target] = self._read(one)
        found = (self.trees[one.target] for one in gitops_repos)
        return [tree for tree in found if tree is not None]

    def _read(self, gitops_repo: GitOpsRepo) -> BaseTree | None:
        target = gitops_repo.target
        try:
            folder = gitops.gitops_folder(target.path, gitops_repo.where)
            files = self.context.repositories.open(target.repo, branch=target.branch)
            return read_base_tree(files, target.branch, folder)
        except KalypsoError as error:
            self.warnings += [
                Problem(
                    f"what would change in {target.repo} is not known: {problem.message}",
                    gitops_repo.where,
                    problem.advice,
                )
                for problem in error.problems
            ]
            return None


class _Environment:
    """One environment, with as many commits of main as it takes to tell what one of them breaks."""

    def __init__(self, environment: Environment, checks: EnvironmentChecks) -> None:
        """Read the environment's own branch. Raises KalypsoError where it cannot be read."""
        self._name = environment.name
        self._checks = checks
        self._base_trees = _BaseTrees(checks.context)
        self._own, self._has = _read_own(environment, checks)

    def checked(self) -> CheckedEnvironment:
        after = self._rendered(self._checks.commit)
        sources_block = self._checks.options.on_source_failure == "block"
        if after.look.is_faultless:
            found = Regressions((), ())
        else:
            found = regressions(after.look, self._look_before(), sources_block=sources_block)
        warnings = after.plan.all_warnings if after.plan else ()
        return CheckedEnvironment(
            self._name,
            self._has,
            after.plan,
            bool(after.snapshot and after.snapshot.base_trees),
            found.problems,
            (*found.warnings, *self._base_trees.warnings, *warnings),
        )

    def _look_before(self) -> EnvironmentFaults | None:
        """With the commit that the environment has; where it has none, with main's before."""
        for commit in self._earlier_commits():
            rendered = self._rendered(commit)
            if rendered.plan:
                return rendered.look
        return None

    def _earlier_commits(self) -> Iterator[str]:
        if self._has:
            yield self._has
        before = self._checks.before()
        if before:
            yield before

    def _rendered(self, commit: str) -> _Rendered:
        checks = self._checks
        try:
            snapshot = gather(
                self._name,
                self._own,
                checks.reader,
                promoted_commit=commit,
                open_base_trees=self._base_trees.open,
            )
        except KalypsoError as error:
            return _Rendered(EnvironmentFaults(faults=error.problems))
        progress = checks.context.runtime.progress
        # Of the plan's own problems none is counted: what is wrong is held against the look before.
        options = dataclasses.replace(checks.options, on_failure="block", on_source_failure="block")
        plan = make_plan(snapshot, options, find_scheduler(), progress)
        return _Rendered(_look(snapshot, plan), plan, snapshot)


def _look(snapshot: Snapshot, plan: Plan) -> EnvironmentFaults:
    readings = snapshot.registrations
    return EnvironmentFaults(
        failures={
            item.assignment.folder: failure_problem(item)
            for item in plan.assignments
            if item.failure
        },
        unusable={one.registration.name: one.problems for one in readings if one.problems},
        usable=frozenset(one.registration.name for one in readings if not one.problems),
        faults=plan.faults,
    )


def _read_own(environment: Environment, checks: EnvironmentChecks) -> tuple[Reading, str | None]:
    """The documents of the environment's branch, and the commit of main that it names.

    Where it takes nothing over from main yet, it does so here, as it will with its first commit.
    Its places are told as those of the branch: main may have files of the same names.
    """
    context, place = checks.context, environment.control_plane
    url = context.url(context.control_plane)
    files = context.repositories.open(url, branch=place.branch)
    repository = f"{url}@{place.branch}"
    reading = read_documents(
        files,
        repository=repository,
        branch=place.branch,
        path=place.path,
        kustomize=checks.reader.kustomize,
    )
    found = base_document(reading.documents)
    if found:
        return reading, found.commit
    base = read_base_file(files, place.path)
    if base.commit:  # where nobody applies it: the plan says so
        return reading, base.commit
    where = Location(repository, base.where.path)
    text = with_commit(None, checks.commit, repo=url, branch=context.main(), where=where)
    new = parse_yaml(repository, base.where.path, text.encode()).documents
    return dataclasses.replace(reading, documents=(*reading.documents, *new)), None
