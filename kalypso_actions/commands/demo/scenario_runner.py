"""Run the steps of an act, report them, and compare them with the expectations."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from kalypso_actions.clients.github import (
    GitHub,
    GitHubServer,
    TokenAuth,
    merging,
    pull_requests,
    workflows,
)
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, ENVIRONMENTS, GITOPS, OWNER
from kalypso_actions.commands.registry import ACTIONS
from kalypso_actions.commands.report import read_observed, read_pipeline, report
from kalypso_actions.commands.shared.context import Runtime, SeenClusters, open_context
from kalypso_actions.commands.shared.local_context import LocalContext, sandbox_credentials
from kalypso_actions.commands.shared.looks.recorder import Recorder
from kalypso_actions.commands.shared.run import run_command
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import ObserveInputs, RecordInputs
from kalypso_actions.inputs.local import ReportInputs
from kalypso_actions.inputs.paths import Source
from kalypso_actions.inputs.reading import ACTION_INPUTS
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.processes import no_progress
from kalypso_actions.report.application_document import (
    AppCiDocument,
    AppDeployDocument,
    AppNotifyDocument,
)
from kalypso_actions.report.chain_document import (
    CdDocument,
    CiDocument,
    NotifyDocument,
    PollDocument,
    StartScheduleDocument,
)
from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_actions.report.demo_document import DemoStepEntry
from kalypso_actions.report.documents import CHANGES
from kalypso_actions.report.markdown import plain
from kalypso_actions.report.rollback_document import RollbackDocument
from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_actions.runner import Runner
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.clock import Clock, RunnerClock
from kalypso_sandbox.workflow_runner.runs import (
    CompletedStep,
    JobLog,
    Run,
    RunnerEnvironment,
    StepResult,
    WorkflowRunner,
)


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job's last step, in words; `folder` has its files."""

    command: str
    environment: str
    word: str
    text: str
    folder: Path
    links: Sequence[str] = ()
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ChainPlaces:
    """Where a chain's commits and their statuses are, and its environments, in order.

    `suffix` ends the contexts of the environments' statuses.
    """

    repository: str
    gitops: str
    environments: Sequence[str]
    suffix: str = ""


PLACES: Final = ChainPlaces(CONTROL_PLANE, GITOPS, ENVIRONMENTS, " environment")


class ScenarioRunner:
    """Runs an act step by step: people do something, then the started workflows run.

    `report` gets each step. The first unexpected result ends the run.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        clock: Clock,
        workflows: WorkflowRunner,
        people: People,
        report: Callable[[DemoStepEntry], None],
        places: ChainPlaces = PLACES,
    ) -> None:
        self.sandbox = sandbox
        self.places = places
        self.people = people
        self.act = ""
        self._clock = clock
        self._workflows = workflows
        self.report = report
        self._due: list[Run] = []

    def end_act(self) -> None:
        """End the act. Raises KalypsoError if workflows are left to run."""
        self._due += self._workflows.pending_runs()
        if self._due:
            names = ", ".join(f"{run.file} of {run.event.repository}" for run in self._due)
            raise KalypsoError(f"{self.act}: unexpected workflows are left to run: {names}")

    def person(
        self, text: str, *, environment: str = "", change: str = "", links: Sequence[str] = ()
    ) -> None:
        """Report an action of people, and the change that it makes."""
        self._record(
            who="people",
            environment=environment,
            text=text,
            details=(change,) if change else (),
            links=tuple(links),
        )

    def job(self, command: str, environment: str = "", *, ends: str) -> None:
        """Run the next workflow, which should run this command for this environment.

        Raises KalypsoError for another command, environment or result.
        """
        wanted = " ".join(filter(None, (command, environment)))
        self._due += self._workflows.pending_runs()
        if not self._due:
            raise KalypsoError(f"{self.act}: {wanted} should run now, but no workflow started")
        result = self.run(self._due.pop(0))
        as_expected = (result.command, result.environment, result.word) == (
            command,
            environment,
            ends,
        )
        self._record(
            who=result.command,
            environment=result.environment,
            text=result.text,
            ending=result.word,
            as_expected=as_expected,
            links=tuple(result.links),
            details=tuple(result.details),
            folder=str(result.folder),
        )
        if not as_expected:
            was = " ".join(filter(None, (result.command, result.environment)))
            raise KalypsoError(
                f"{self.act}: {wanted} should have run and ended {ends!r}; "
                f"{was} ended {result.word!r}",
                advice=f"see {result.folder}",
            )

    def run(self, run: Run) -> JobResult:
        """Run a workflow in this process; a subclass may run it elsewhere."""
        done = self._workflows.run(run)[-1]
        self._keep_pull_requests(done)
        return JobResult(
            command=done.command,
            environment=environment(done),
            word=ending(done),
            text=headline(done),
            folder=done.folder,
            links=links(done),
            details=details(done),
        )

    def push(
        self,
        branch: str,
        files: Mapping[str, str | None],
        message: str,
        line: str,
        repository: str = "",
    ) -> str:
        """Let people push to the chain's or another repository, and return the commit.

        `line` is what changes.
        """
        commit = self.people.push(repository or self.places.repository, branch, files, message)
        environment = branch if branch in self.places.environments else ""
        text = f"push to {branch}: {message} ({commit[:7]})"
        self.person(text, environment=environment, change=line)
        return commit

    def start(self, workflow: str, **inputs: str) -> None:
        """Let people start a workflow of the control plane."""
        self.people.start(workflow, inputs)
        self.person(f"start {workflow}", environment=inputs.get("environment", ""))

    def merge_proposal(self, environment: str) -> None:
        """Let people merge the pull request to the GitOps branch of an environment."""
        gitops = self.places.gitops
        pull, commit = self.people.merge(gitops, environment)
        text = f"merge {gitops}#{pull.number} to {environment}: {commit[:7]}"
        self.person(text, environment=environment, links=[pull.url])

    def statuses(
        self, commit: str, wanted: Mapping[str, tuple[str, str]], repository: str = ""
    ) -> None:
        """Report a commit's statuses, and compare them with the expected ones.

        `wanted` maps environments to the expected state and beginning of the description. Raises
        KalypsoError.
        """
        places = self.places
        with self.sandbox.lock:
            by_environment: dict[str, tuple[str, str]] = {
                status.context.removesuffix(places.suffix): (
                    status.state,
                    status.description or "",
                )
                for status in self.sandbox.repository(repository or places.repository).statuses
                if status.commit == commit
            }
        known = {
            str(name): by_environment[name]
            for name in places.environments
            if name in by_environment
        }
        as_expected = known.keys() == wanted.keys() and all(
            known[name][0] == state and known[name][1].startswith(text)
            for name, (state, text) in wanted.items()
        )
        lines = tuple(f"{name}: {text} ({state})" for name, (state, text) in known.items())
        text = f"of {commit[:7]}"
        self._record(who="status", text=text, details=lines, as_expected=as_expected)
        if not as_expected:
            should = ", ".join(
                f"{name}: {text} ({state})" for name, (state, text) in wanted.items()
            )
            raise KalypsoError(f"{self.act}: the statuses {text} should be {should}")

    def _keep_pull_requests(self, done: CompletedStep) -> None:
        """Write the pull requests of a step to its folder."""
        document = done.outcome.document
        if isinstance(document, ScheduleDocument):
            for pull in document.pull_requests:
                with self.sandbox.lock:
                    issue = self.sandbox.repository(pull.repository).issues[pull.number]
                page = f"# {issue.title}\n\n{issue.body}\n"
                file = done.folder / f"pull-request-{pull.number}.md"
                file.write_text(page, encoding="utf-8")

    def _record(self, **step: object) -> None:
        fields = {"act": self.act, "at": f"{self._clock():%Y-%m-%dT%H:%M:%SZ}", **step}
        self.report(DemoStepEntry.model_validate(fields))


PROGRESS: Final = re.compile(r"compliant (?P<share>\d+/\d+)(?P<others>.*)")
"""The lines in which check-promote reports the clusters' states."""


def ending(done: CompletedStep) -> str:
    """Return the result of a step in a word."""
    word: str
    match document := done.outcome.document:
        case CheckPromoteDocument() if document.verdict:
            word = document.verdict
        case _ if done.exit_code:
            word = "failed"
        case CiDocument():
            word = "promoted" if document.environments else "checked"
        case AppCiDocument() | AppDeployDocument() | AppNotifyDocument():
            word = _ending_of_application(document)
        case CdDocument():
            word = document.action
        case ScheduleDocument():
            word = document.pull_requests[0].action if document.pull_requests else "unchanged"
            word += ", promoted" if document.promoted else ""
        case RollbackDocument():
            word = document.environments[-1].action
        case NotifyDocument() | StartScheduleDocument() if document.environments:
            word = "started"
        case PollDocument() if document.started:
            word = "started"
        case _:
            word = "done"
    return word


def _ending_of_application(document: AppCiDocument | AppDeployDocument | AppNotifyDocument) -> str:
    if isinstance(document, AppCiDocument):
        return "released"
    if isinstance(document, AppNotifyDocument):
        return "started" if document.environment else "done"
    return "proposed" if document.changed else "unchanged"


def environment(done: CompletedStep) -> str:
    """Return the environments of a step; "" for all."""
    document = done.outcome.document
    if isinstance(document, StartScheduleDocument):
        return ", ".join(document.environments)
    return done.environment


def headline(done: CompletedStep) -> str:
    """Return the heading of a step's summary."""
    first = done.outcome.summary.partition("\n")[0]
    words = ACTIONS[done.command].words
    return plain(first.removeprefix(f"## kalypso {words}").removeprefix(":"))


def links(done: CompletedStep) -> tuple[str, ...]:
    """Return the URLs of a step's pull requests."""
    document = done.outcome.document
    if isinstance(document, ScheduleDocument):
        return tuple(pull.url for pull in document.pull_requests)
    if isinstance(document, AppDeployDocument) and document.pull_request_url:
        return (document.pull_request_url,)
    return ()


def details(done: CompletedStep) -> tuple[str, ...]:
    """Return details that the headline lacks."""
    match document := done.outcome.document:
        case CiDocument(environments=started) if started:
            lines = [f"starts CD in {', '.join(started)}"]
        case CiDocument(problems=()):
            lines = ["only checks"]
        case ScheduleDocument(changes=changes):
            lines = [f"manifests: {changes.counts(*CHANGES)}"]
        case AppCiDocument(environments=started) if started:
            lines = [f"starts deploy in {', '.join(started)}"]
        case PollDocument(started=started):
            lines = [f"{start.workflow} {start.environment}: {start.reason}" for start in started]
        case CheckPromoteDocument(promoted_to=environments):
            lines = _progress(done)
            lines += [f"goes on to {', '.join(environments)}"] if environments else []
        case _:
            lines = []
    problems = [problem.message for problem in document.problems]
    return tuple(dict.fromkeys([*lines, *problems]))


def _progress(done: CompletedStep) -> list[str]:
    """Return the shares of compliant clusters over time, and the final states of the others."""
    reports = [report for line in done.lines if (report := PROGRESS.fullmatch(line))]
    if not reports:
        return []
    shares = dict.fromkeys(report["share"] for report in reports)
    return [f"compliant {' → '.join(shares)}{reports[-1]['others']}"]


THINKING: Final = 45
"""Seconds before each action."""


class People:
    """The people at Acme, with a token for all repositories."""

    def __init__(self, sandbox: Sandbox, clock: Clock, machine: Mapping[str, str]) -> None:
        token = sandbox.create_token(owner=OWNER)
        self._sandbox = sandbox
        self._clock = clock
        environment = RunnerEnvironment(sandbox, machine).environment()
        server = GitHubServer.of_environment(environment)
        self._github = GitHub(server, TokenAuth(token), environment, clock.sleep, clock)

    def push(
        self, repository: str, branch: str, files: Mapping[str, str | None], message: str
    ) -> str:
        """Commit to a branch, and return the commit; None deletes a file."""
        self._clock.sleep(THINKING)
        return self._sandbox.commit(repository, files, branch=branch, message=message)

    def propose(
        self, repository: str, branch: str, files: Mapping[str, str], title: str
    ) -> PullRequest:
        """Open a pull request into main from a new branch with one commit."""
        git = self._sandbox.git(repository)
        with self._sandbox.lock:
            git.update_ref(f"refs/heads/{branch}", git.head("main"), None)
        self.push(repository, branch, files, title)
        return pull_requests.ensure(
            self._github, repository, head=branch, base="main", title=title, body=""
        )[0]

    def start(self, workflow: str, inputs: Mapping[str, str]) -> None:
        """Start a workflow of the control plane."""
        self._clock.sleep(THINKING)
        file = f"{workflow}.yaml"
        workflows.dispatch(self._github, CONTROL_PLANE, file, ref="main", inputs=inputs)

    def close(self, repository: str, base: str) -> PullRequest:
        """Close the only open pull request into a branch; return it. Raises KalypsoError."""
        pull = self._only_open(repository, base)
        reason = f"Not to {base}."
        pull_requests.close(self._github, repository, pull.number, mark=reason, comment=reason)
        return pull

    def _only_open(self, repository: str, base: str) -> PullRequest:
        self._clock.sleep(THINKING)
        pulls = pull_requests.open_into(self._github, repository, base)
        if len(pulls) != 1:
            raise KalypsoError(f"{len(pulls)} pull requests are open into {base} of {repository}")
        return pulls[0]

    def merge(self, repository: str, base: str) -> tuple[PullRequest, str]:
        """Merge the only open pull request into a branch; return it and the merge commit.

        Raises KalypsoError if there is not exactly one, or GitHub refuses.
        """
        pull = self._only_open(repository, base)
        merged = merging.merge(self._github, repository, pull.number, head=pull.head_commit)
        if isinstance(merged, merging.Refused):
            raise KalypsoError(f"{repository}#{pull.number} cannot be merged: {merged.reason}")
        return pull, merged.commit


@dataclass(frozen=True, slots=True)
class InProcess:
    """Runs the command of an action as its job does, with its inputs and variables.

    `looks` keeps what jobs see of the clusters; without it, the jobs keep nothing.
    """

    clock: RunnerClock
    looks: list[SeenClusters] | None = None

    def __call__(
        self, action: str, inputs: Mapping[str, str], variables: Mapping[str, str], log: JobLog
    ) -> StepResult:
        """Run an action. Raises KalypsoError for an unknown action."""
        if action not in ACTIONS:
            raise KalypsoError(f"there is no action {action!r}", advice=f"see {', '.join(ACTIONS)}")
        environment = {**variables, ACTION_INPUTS: json.dumps(inputs)}
        lines: list[str] = []

        def write_line(line: str) -> None:
            lines.append(line)
            log.write_line(line, self.clock())

        runtime = Runtime(
            environment=environment,
            programs=Programs(environment),
            runner=Runner(environment, log),
            progress=no_progress,
            log=write_line,
            now=self.clock,
            sleep=self.clock.sleep,
            looks=self.looks,
        )
        result, exit_code = run_command(ACTIONS[action], {}, runtime)
        return StepResult(result, exit_code, lines)


TITLE = "Acme's fleet"


def write_report(
    sandbox: Sandbox,
    clock: Clock,
    machine: Mapping[str, str],
    folder: Path,
    looks: list[SeenClusters],
) -> Path:
    """Record the looks, write the report about the organisation to a folder, and return its page.

    It reads the sandbox, as a person would with the token. Raises KalypsoError.
    """
    token = sandbox.create_token(owner=OWNER)
    environment = RunnerEnvironment(sandbox, machine).environment() | {
        "KALYPSO_TOKEN": token,
        "XDG_CACHE_HOME": os.devnull,  # the story is not one of the user's records
    }
    programs = Programs(environment)
    runtime = Runtime(
        environment=environment,
        programs=programs,
        runner=Runner({}, StringIO()),
        progress=no_progress,
        log=lambda _: None,
        now=clock,
        sleep=clock.sleep,
        looks=looks,
    )
    url = f"{sandbox.url}/{CONTROL_PLANE}"
    record = _record(sandbox, SecretStr(token), runtime)
    inputs = ReportInputs(out=folder, title=TITLE, control_plane=url, record=record)
    credentials = sandbox_credentials(sandbox.url, token)
    context = LocalContext(programs, no_progress, credentials=credentials, now=clock())
    pipeline = partial(read_pipeline, url, runtime)
    report(inputs, context, clock(), pipeline, partial(read_observed, inputs, url, runtime))
    return folder / "index.html"


def _record(sandbox: Sandbox, token: SecretStr, runtime: Runtime) -> str:
    """Record what check-promote has seen, in the control plane, and return the record's folder.

    The jobs of the story could record it themselves with the input `record`, each with a push of
    its own. One recorder, which reads the repositories on this disk, takes a tenth of their time.
    """
    folders = {
        name: sandbox.store.git(repository).git_dir
        for name, repository in sandbox.store.repositories.items()
    }
    given = [Source(url=f"{sandbox.url}/{name}", path=path) for name, path in folders.items()]
    inputs = ObserveInputs(control_plane=CONTROL_PLANE, token=token, source=tuple(given))
    record = str(folders[CONTROL_PLANE])
    with open_context(inputs, runtime) as context:
        Recorder(RecordInputs(record=record), context).write(ENVIRONMENTS, "Check and promote")
    return record
