"""`kalypso ci`: check a commit of main, and start cd for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from kalypso_actions.clients.github import GitHubError, commits
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    environments_among,
    read_control_plane,
    read_own_branch,
)
from kalypso_actions.commands.shared.reading.document_reader import SharedReader, read_branch
from kalypso_actions.commands.shared.reading.snapshot import plan_registrations, read_snapshot
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import (
    Finding,
    KalypsoError,
    Problem,
    UsageError,
    leveled,
    of_level,
)
from kalypso_actions.inputs.chain import CiInputs
from kalypso_actions.model.documents import Document
from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.writes import PostStatus, StartWorkflow
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView, check_fleet
from kalypso_actions.planning.fleet_checks.scope import scope_of
from kalypso_actions.planning.merged_findings import documents_of, settled, without_causes
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.planning.validation import validate_branches
from kalypso_actions.promotion.environments import FROM_CI, arrows, first_environments
from kalypso_actions.promotion.regressions import (
    EnvironmentFaults,
    Regressions,
    by_environment,
    regressions,
    without,
)
from kalypso_actions.promotion.starts import cd_start, starts_cd
from kalypso_actions.promotion.statuses import CI_CONTEXT
from kalypso_actions.report.chain_document import (
    CheckedEntry,
    CiDocument,
    changes_entry,
    ci_summary,
)
from kalypso_actions.report.documents import ProblemEntry, finding_fields


@dataclass(frozen=True, slots=True)
class _Checked:
    """The results of the checks.

    `first` are the environments for which ci starts cd, `arrows` the steps of promotion from main
    on. `new_warnings` are those of the documents and renderings, without faults that stood before.
    """

    environments: tuple[CheckedEnvironment, ...]
    first: tuple[str, ...]
    arrows: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    new_warnings: tuple[Finding, ...]


def ci(inputs: CiInputs, context: CommandContext) -> CommandResult:
    """Check a commit of main in every environment, and start cd for the first ones.

    ci writes the commit's status `kalypso / ci` only. It starts cd after a push to main if the
    commit has no problem. Problems that an environment had before are warnings. Raises KalypsoError
    if the commit cannot be read.
    """
    main = context.main()
    commit = inputs.commit or context.runtime.job.commit or _head(context, main)
    try:
        checked = _check(inputs, context, main, commit)
    except KalypsoError as error:
        if not inputs.dry_run:
            done = Done()
            _post(_status(context, commit, "failure", error.problem.message), context, done)
            for problem in done.problems:
                context.runtime.log(str(problem))
        raise
    document = CiDocument(
        commit=commit,
        checked=tuple(map(_entry, checked.environments)),
        warnings_fail=inputs.strict and bool(checked.new_warnings),
        **finding_fields(checked.findings),
    )
    state: StatusState = "failure" if document.failed else "success"
    status = _status(context, commit, state, document.headline)
    is_push_to_main = _is_push_to_main(context, main)
    starts = (
        _starts(inputs, context, commit, checked.first)
        if not document.failed and starts_cd(inputs.start_cd, is_push_to_main=is_push_to_main)
        else []
    )
    if inputs.dry_run:
        return dry_run_result("ci", document, [status, *starts], context)
    done = Done()
    _post(status, context, done)
    unposted = done.problems
    done = carry_out(starts, context, Done((StartWorkflow,)))
    if done.problems:
        raise KalypsoError.of(done.problems)
    started = done.started()
    document = document.model_copy(
        update={
            "environments": tuple(started),
            "warnings": (*document.warnings, *ProblemEntry.all_of(unposted)),
        }
    )
    context.runtime.log(f"{commit[:7]}: {document.headline}.")
    url = context.url(context.control_plane)
    summary = ci_summary(document, url, started, checked.arrows)
    return CommandResult(document, summary, failed=document.failed)


def _head(context: CommandContext, main: str) -> str:
    return context.remotes.heads(context.url(context.control_plane), [main])[main]


def _check(inputs: CiInputs, context: CommandContext, main: str, commit: str) -> _Checked:
    """Check the documents of main, then render every environment with them."""
    url = context.url(context.control_plane)
    reader = SharedReader(context.reader)
    files = context.repositories.open(url, commit=commit)
    reading = read_branch(files, RepositoryPath(url, main, "."), reader.kustomize)
    findings = validate_branches([reading], inputs.first_environments)
    environments, _ = environments_among(reading.documents)  # `findings` has the problems
    first, unknown_first = _first(inputs, environments)
    problems = (*findings.problems, *unknown_first)
    options = PlanOptions.of(inputs)
    checks = EnvironmentChecks(context, reader, options, commit, lambda: _before(context, commit))
    checked = []
    for environment in environments.values():
        context.runtime.log(f"Rendering {environment.name} with {commit[:7]}")
        checked.append(_without_known(checks.check(environment), problems, findings.warnings))
    view = _view(checked, environments)
    of_environments = {
        (item.message, item.where) for each in checked for item in (*each.problems, *each.known)
    }
    fleet = [
        item for item in check_fleet(view) if (item.message, item.where) not in of_environments
    ]
    own_warnings = {item.name: without_causes(item.warnings, fleet) for item in checked}
    errors = tuple(without(of_level(fleet, "error"), problems))
    # No commit of main makes what stands on an environment's own branch.
    elsewhere = [item for item in errors if item.where and item.where.branch not in {"", main}]
    known = {item.name: without_causes(item.known, fleet) for item in checked}
    found = (
        *leveled(problems, "error"),
        *leveled((item for item in errors if item not in elsewhere), "error"),
        *leveled(by_environment({item.name: item.problems for item in checked}), "error"),
        *leveled(findings.warnings, "warning"),
        *leveled(by_environment(known), "warning"),
        *leveled(by_environment(own_warnings), "warning"),
        *leveled(elsewhere, "warning"),
        *of_level(fleet, "warning"),
        *leveled(findings.notes, "note"),
        *of_level(fleet, "note"),
        *leveled(_awaiting_cd(checked, environments), "note"),
    )
    documents = tuple(chain(reading.documents, *(item.documents for item in checked)))
    stood_before = set(leveled((*by_environment(known), *elsewhere), "warning"))
    new = [item for item in found if item not in stood_before]
    return _Checked(
        tuple(checked),
        first,
        arrows(environments, first),
        settled(found, documents, _judged(view, url)),
        of_level(settled(new, documents), "warning"),
    )


def _without_known(
    checked: CheckedEnvironment, problems: Sequence[Problem], warnings: Sequence[Problem]
) -> CheckedEnvironment:
    """Leave out the findings of an environment that are already findings of main."""
    return dataclasses.replace(
        checked,
        problems=tuple(without(checked.problems, problems)),
        warnings=tuple(without(checked.warnings, (*problems, *warnings))),
        known=tuple(without(checked.known, (*problems, *warnings))),
    )


def _view(
    checked: Sequence[CheckedEnvironment], environments: Mapping[str, Environment]
) -> FleetView:
    scopes = tuple(item.scope for item in checked if item.scope)
    return FleetView(scopes, environments, len(scopes) == len(environments))


def _judged(view: FleetView, url: str) -> set[str]:
    """Return the control plane's URL if all warnings about it are known."""
    if not view.is_complete or any(scope.unread for scope in view.scopes):
        return set()
    return {url}


def _awaiting_cd(
    checked: Sequence[CheckedEnvironment], environments: Mapping[str, Environment]
) -> Iterator[Problem]:
    for item in checked:
        if item.awaits_cd and item.scope:
            message = f"environment {item.name!r} has no base-repo.yaml with a commit yet"
            advice = "cd writes it with the first commit that is promoted there"
            yield Problem(message, environments[item.name].where, advice, "base-repo-missing")


def _first(
    inputs: CiInputs, environments: dict[str, Environment]
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return the first environments; a problem of main if they are not defined."""
    try:
        return first_environments(inputs.first_environments, environments), ()
    except UsageError:
        raise
    except KalypsoError as error:
        return (), error.problems if inputs.start_cd != "false" else ()


def _before(context: CommandContext, commit: str) -> str | None:
    """Return the commit of main before the push, else this commit's first parent."""
    job = context.runtime.job
    pushed = job.event.get("before") if job.event_name == "push" else None
    if isinstance(pushed, str) and is_commit_id(pushed) and pushed.strip("0"):
        return pushed
    parents = commits.get(context.github, context.control_plane, commit).parents
    return parents[0] if parents else None


def _entry(checked: CheckedEnvironment) -> CheckedEntry:
    plan = checked.plan
    return CheckedEntry(
        environment=checked.name,
        has=checked.promoted_commit or "",
        assignments=len(plan.assignments) if plan else None,
        changes=changes_entry(plan.changes) if plan and checked.is_compared else None,
        problems=len(checked.problems),
        warnings=len(checked.known) + len(checked.warnings),
    )


def _status(
    context: CommandContext, commit: str, state: StatusState, description: str
) -> PostStatus:
    job = context.runtime.job
    pull_request = job.event.get("pull_request")
    if pull_request and commit == job.commit:
        # ci checks GitHub's test merge, but people see the statuses of the head.
        commit = pull_request["head"]["sha"]
    status = CommitStatus(CI_CONTEXT, state, description, job.run_url)
    return PostStatus(repository=context.control_plane, commit=commit, status=status)


def _post(status: PostStatus, context: CommandContext, done: Done) -> None:
    """Post the status; collect the refusal of a token that cannot, as in a fork's pull request."""
    try:
        carry_out([status], context, done)
    except GitHubError as error:
        if error.status not in {403, 404}:
            raise
        done.problems += error.problems


def _is_push_to_main(context: CommandContext, main: str) -> bool:
    job = context.runtime.job
    is_control_plane = job.repository.lower() == context.control_plane.lower()
    return job.event_name == "push" and job.branch == main and is_control_plane


def _starts(
    inputs: CiInputs, context: CommandContext, commit: str, environments: tuple[str, ...]
) -> list[StartWorkflow]:
    return [
        cd_start(
            context.control_plane,
            inputs.cd_workflow,
            environment=name,
            promoted_commit=commit,
            promoted_from=FROM_CI,
        )
        for name in environments
    ]


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
