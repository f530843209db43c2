"""`kalypso ci`: a commit of main is checked, and sent on its way."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kalypso_actions.clients.github import GitHubError, commits, statuses
from kalypso_actions.commands.ci.environment_checks import CheckedEnvironment, EnvironmentChecks
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.dispatch import start_cd
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.inputs.chain import CiInputs
from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.plan import PlanOptions
from kalypso_actions.promotion import first_environments
from kalypso_actions.promotion.environments import FROM_CI
from kalypso_actions.promotion.regressions import by_environment, without
from kalypso_actions.promotion.statuses import CI_CONTEXT
from kalypso_actions.report.chain_documents import CheckedEntry, CiDocument
from kalypso_actions.report.ci_summary import CiFacts, changes_entry, ci_headline, ci_summary
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.snapshot.gather import environments_among
from kalypso_actions.snapshot.reader import SharedReader
from kalypso_actions.snapshot.whole_branch import read_branch
from kalypso_actions.validation import validate_branches


@dataclass(frozen=True, slots=True)
class _Checked:
    """What was found; `first` are the environments that the commit reaches first."""

    environments: tuple[CheckedEnvironment, ...]
    first: tuple[str, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def ci(inputs: CiInputs, context: CommandContext) -> CommandResult:
    """Check a commit of main in every environment, and start cd for the first ones.

    Nothing is written but the commit's status `kalypso / ci`. cd is started after a push to main,
    where nothing is wrong with the commit; elsewhere it is only checked. What stood wrong in an
    environment before is a warning. Raises KalypsoError where the commit cannot be read.
    """
    main = context.main()
    commit = inputs.commit or context.runtime.job.commit or _head(context, main)
    try:
        checked = _check(inputs, context, main, commit)
    except KalypsoError as error:
        for problem in _post(context, commit, "failure", error.problem.message):
            context.runtime.log(str(problem))
        raise
    document = CiDocument(
        commit=commit,
        checked=tuple(map(_entry, checked.environments)),
        notes=ProblemEntry.all_of(checked.notes),
        warnings=ProblemEntry.all_of(checked.warnings),
        problems=ProblemEntry.all_of(checked.problems),
    )
    state: StatusState = "failure" if checked.problems else "success"
    unposted = _post(context, commit, state, ci_headline(document))
    started: list[tuple[str, str]] = []
    if not checked.problems and _starts_cd(inputs, context, main):
        started = _start(inputs, context, commit, checked.first)
    document = document.model_copy(
        update={
            "environments": tuple(name for name, _ in started),
            "warnings": (*document.warnings, *ProblemEntry.all_of(unposted)),
        }
    )
    context.runtime.log(f"{commit[:7]}: {ci_headline(document)}.")
    facts = CiFacts(context.url(context.control_plane), started)
    return CommandResult(document, ci_summary(document, facts), failed=bool(checked.problems))


def _head(context: CommandContext, main: str) -> str:
    return context.remotes.heads(context.url(context.control_plane), [main])[main]


def _check(inputs: CiInputs, context: CommandContext, main: str, commit: str) -> _Checked:
    """Main's documents, then every environment with them."""
    url = context.url(context.control_plane)
    reader = SharedReader(context.reader)
    files = context.repositories.open(url, commit=commit)
    reading = read_branch(files, RepositoryPath(url, main, "."), reader.kustomize)
    findings = validate_branches([reading], inputs.first_environments)
    environments, _ = environments_among(reading.documents)  # what is wrong is told already
    first, unsettled = _first(inputs, environments)
    problems = (*findings.problems, *unsettled)
    options = PlanOptions(
        namespace_scheme=inputs.namespace_scheme,
        config_file=inputs.config_file,
        on_source_failure=inputs.on_source_failure,
    )
    checks = EnvironmentChecks(context, reader, options, commit, lambda: _before(context, commit))
    checked = []
    for environment in environments.values():
        context.runtime.log(f"Rendering {environment.name} with {commit[:7]}")
        one = checks.check(environment)
        told = (*problems, *findings.warnings)
        checked.append(
            dataclasses.replace(
                one,
                problems=tuple(without(one.problems, problems)),
                warnings=tuple(without(one.warnings, told)),
            )
        )
    return _Checked(
        tuple(checked),
        first,
        (*problems, *by_environment({one.name: one.problems for one in checked})),
        (*findings.warnings, *by_environment({one.name: one.warnings for one in checked})),
        tuple(findings.notes),
    )


def _first(
    inputs: CiInputs, environments: dict[str, Environment]
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Where cd begins; where nothing settles it, that is a problem of main."""
    try:
        return first_environments(inputs.first_environments, environments), ()
    except UsageError:
        raise
    except KalypsoError as error:
        return (), error.problems if inputs.start_cd != "false" else ()


def _before(context: CommandContext, commit: str) -> str | None:
    """The commit that main had before: before the push, else the first parent."""
    job = context.runtime.job
    pushed = job.event.get("before") if job.event_name == "push" else None
    if isinstance(pushed, str) and is_commit_id(pushed) and pushed.strip("0"):
        return pushed
    parents = commits.get(context.github, context.control_plane, commit).parents
    return parents[0] if parents else None


def _entry(one: CheckedEnvironment) -> CheckedEntry:
    return CheckedEntry(
        environment=one.name,
        has=one.has or "",
        assignments=len(one.plan.assignments) if one.plan else None,
        changes=changes_entry(one.plan.changes) if one.plan and one.is_compared else None,
        problems=len(one.problems),
        warnings=len(one.warnings),
    )


def _post(
    context: CommandContext, commit: str, state: StatusState, description: str
) -> tuple[Problem, ...]:
    """Post the status; a token that may not is a warning: those of forks' pull requests may not."""
    job = context.runtime.job
    pull_request = job.event.get("pull_request")
    if pull_request and commit == job.commit:
        # What is checked is the merge that GitHub tries out; people look at the head.
        commit = pull_request["head"]["sha"]
    status = CommitStatus(CI_CONTEXT, state, description, job.run_url)
    try:
        statuses.post(context.github, context.control_plane, commit, status)
    except GitHubError as error:
        if error.status not in {403, 404}:
            raise
        return error.problems
    return ()


def _starts_cd(inputs: CiInputs, context: CommandContext, main: str) -> bool:
    job = context.runtime.job
    is_here = job.repository.lower() == context.control_plane.lower()
    pushed = job.event_name == "push" and job.branch == main and is_here
    return inputs.start_cd == "true" or (inputs.start_cd == "auto" and pushed)


def _start(
    inputs: CiInputs, context: CommandContext, commit: str, environments: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Start cd for each environment; the pages of the runs. One that fails stops no other."""
    started: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for name in environments:
        try:
            page = start_cd(
                context,
                inputs.cd_workflow,
                environment=name,
                promoted_commit=commit,
                promoted_from=FROM_CI,
            )
            started.append((name, page))
        except GitHubError as error:
            problems += error.problems
    if problems:
        raise KalypsoError.of(problems)
    return started
