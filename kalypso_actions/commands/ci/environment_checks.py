"""Render an environment with a commit of main, and compare it with its present state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kalypso_actions import gitops
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.fleet_checks import FleetScope
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.plan import Plan, PlanOptions
from kalypso_actions.plan_checks import documents_of, scope_of
from kalypso_actions.promotion import with_commit
from kalypso_actions.promotion.base_branch import base_document
from kalypso_actions.promotion.regressions import EnvironmentFaults, Regressions, regressions
from kalypso_actions.snapshot.base_file import read_base_file
from kalypso_actions.snapshot.base_tree import read_base_tree
from kalypso_actions.snapshot.document_reader import SharedReader
from kalypso_actions.snapshot.gathering import gather
from kalypso_actions.snapshot.rendered_registrations import plan_registrations
from kalypso_actions.snapshot.revision_reader import read_documents
from kalypso_actions.sources.yaml_documents import parse_yaml


@dataclass(frozen=True, slots=True)
class CheckedEnvironment:
    """The result of a check; `plan` is None if the environment could not be rendered.

    `promoted_commit` is the commit of main that the environment has now. `is_compared`: the plan
    has the changes to a GitOps branch, because one could be read. `scope` and `documents` are those
    for the fleet's checks. `awaits_cd`: its branch has no base-repo.yaml yet.
    """

    name: str
    promoted_commit: str | None = None
    plan: Plan | None = None
    is_compared: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
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
            return CheckedEnvironment(environment.name, warnings=error.problems)
        return check.result()


@dataclass(frozen=True, slots=True)
class _Rendered:
    """The faults of a rendered environment, its plan and its snapshot, if they exist."""

    faults: EnvironmentFaults
    plan: Plan | None = None
    snapshot: Snapshot | None = None


@dataclass(slots=True)
class _BaseTrees:
    """The readable GitOps branches of an environment, each read once."""

    context: CommandContext
    trees: dict[RepositoryPath, BaseTree | None] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)

    def open(self, gitops_repos: Sequence[GitOpsRepo]) -> list[BaseTree]:
        for gitops_repo in gitops_repos:
            if gitops_repo.target not in self.trees:
                self.trees[gitops_repo.target] = self._read(gitops_repo)
        trees = (self.trees[gitops_repo.target] for gitops_repo in gitops_repos)
        return [tree for tree in trees if tree is not None]

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


class _EnvironmentCheck:
    """Renders one environment with the commits of main that show what the checked one breaks."""

    def __init__(self, environment: Environment, checks: EnvironmentChecks) -> None:
        """Read the environment's own branch. Raises KalypsoError."""
        self._name = environment.name
        self._checks = checks
        self._base_trees = _BaseTrees(checks.context)
        self._own, self._promoted_commit = _read_own(environment, checks)

    def result(self) -> CheckedEnvironment:
        after = self._rendered(self._checks.commit)
        sources_block = self._checks.options.on_source_failure == "block"
        if after.faults.is_faultless:
            broken = Regressions((), ())
        else:
            broken = regressions(after.faults, self._faults_before(), sources_block=sources_block)
        warnings = after.plan.all_warnings if after.plan else ()
        return CheckedEnvironment(
            self._name,
            self._promoted_commit,
            after.plan,
            bool(after.snapshot and after.snapshot.base_trees),
            broken.problems,
            (*broken.warnings, *self._base_trees.warnings, *warnings),
            scope_of(after.plan, after.snapshot) if after.plan and after.snapshot else None,
            tuple(documents_of(after.snapshot)) if after.snapshot else (),
            self._promoted_commit is None,
        )

    def _faults_before(self) -> EnvironmentFaults | None:
        """Return the faults with the environment's commit, or else with main's commit before."""
        for commit in self._earlier_commits():
            rendered = self._rendered(commit)
            if rendered.plan:
                return rendered.faults
        return None

    def _earlier_commits(self) -> Iterator[str]:
        if self._promoted_commit:
            yield self._promoted_commit
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
                registration_text=checks.options.registration_text,
                open_base_trees=self._base_trees.open,
            )
        except KalypsoError as error:
            return _Rendered(EnvironmentFaults(faults=error.problems))
        progress = checks.context.runtime.progress
        # The plan's own warnings must not have failures: they are compared with those before.
        options = dataclasses.replace(checks.options, on_failure="block", on_source_failure="block")
        snapshot, plan = plan_registrations(snapshot, options, checks.reader, progress)
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


def _read_own(environment: Environment, checks: EnvironmentChecks) -> tuple[Reading, str | None]:
    """Return the documents of the environment's branch, and the commit of main that it names.

    A branch without a commit of main is read with the checked one, as cd will write it. Locations
    name the branch, because main may have files of the same names.
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
    document = base_document(reading.documents)
    if document:
        return reading, document.promoted_commit
    base = read_base_file(files, place.path)
    if base.promoted_commit:  # the plan warns that nobody applies the file
        return reading, base.promoted_commit
    where = Location(repository, base.where.path)
    text = with_commit(None, checks.commit, repo=url, branch=context.main(), where=where)
    new = parse_yaml(repository, base.where.path, text.encode()).documents
    return dataclasses.replace(reading, documents=(*reading.documents, *new)), None
