"""Run the workflow files that the sandbox's events start, as GitHub Actions does.

The steps are Kalypso's actions, each with the inputs, the token and the variables of its job.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

from kalypso_actions.clients.process import INHERITED
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import JobIdentity
from kalypso_sandbox.git.repositories import BRANCHES
from kalypso_sandbox.github import events
from kalypso_sandbox.github.workflow_files import DISPATCH, Workflow
from kalypso_sandbox.store import (
    Event,
    JobRun,
    Permissions,
    StepRun,
    WorkflowRun,
)
from kalypso_sandbox.workflow_runner.clock import RunnerClock
from kalypso_sandbox.workflow_runner.jobs import (
    ALWAYS,
    ARTIFACT_ACTIONS,
    Job,
    Step,
    filled,
    jobs_of,
    started_by,
    waits_for,
)

ID_TOKEN: Final = "id_token"  # noqa: S105 - the name of a permission
DEPENDABOT: Final = "dependabot[bot]"

TOKENS: Final = ("token",)

MORE_TOKENS: Final = {
    "preview": ("job-token",),
    "notify": ("job-token",),
    "app-notify": ("job-token",),
}
"""Inputs that default to the job's token: first those of every action, then of single actions."""

LATENCY: Final = 15
"""Seconds between an event and the start of its job."""

COMMAND: Final = re.compile(r"::(?P<name>[a-z-]+)(?: (?P<properties>[^:]*))?::(?P<text>.*)")

HIDDEN: Final = "***"

MAX_ARTIFACTS: Final = 100
"""The number of newest artifacts that are kept: the run after theirs reads them."""


def is_restricted(event: Event) -> bool:
    """Return whether the event's jobs get no secrets, and only a read-only token.

    https://docs.github.com/actions/reference/security/secure-use
    """
    pull_request = event.payload.get("pull_request") if event.name == "pull_request" else None
    if not pull_request:
        return False
    head = pull_request["head"]["repo"]
    is_fork = head is None or head["full_name"] != pull_request["base"]["repo"]["full_name"]
    return is_fork or event.actor == DEPENDABOT


class RunnerEnvironment:
    """The environment of a sandbox's jobs; `variables` are those of the surrounding process.

    Programs inherit the variables that they need, but none of a job in which the sandbox itself
    runs.
    """

    def __init__(self, sandbox: Sandbox, variables: Mapping[str, str]) -> None:
        inherited = {name: value for name, value in variables.items() if name in INHERITED}
        self._sandbox = sandbox
        self._variables = {**inherited, **sandbox.environment()}

    def environment(self) -> dict[str, str]:
        """Return the environment for programs that people run."""
        return dict(self._variables)

    def token(self, event: Event, job: Job) -> str:
        """Create the job's GITHUB_TOKEN: for its repository, with the permissions of its file."""
        permissions: dict[str, str] | None = None
        if job.permissions is not None:
            levels = {name: level for name, level in job.permissions.items() if name != ID_TOKEN}
            permissions = {"metadata": "read", **levels}
            if is_restricted(event):
                permissions = dict.fromkeys(permissions, "read")
        return self._sandbox.create_token(
            "actions",
            cast("Permissions | None", permissions),
            owner=event.repository.partition("/")[0],
            repositories=[event.repository],
        )

    def contexts(self, run: Run, token: str, secrets: Mapping[str, str]) -> dict[str, Any]:
        """Return the contexts of expressions; `vars` are the repository's."""
        event = run.event
        repository = self._sandbox.repository(event.repository)
        return {
            "github": {
                "actor": event.actor,
                "event": event.payload,
                "event_name": event.name,
                "ref": event.ref,
                "ref_name": event.ref.removeprefix(BRANCHES),
                "run_attempt": run.attempt,
                "run_id": run.record.id if run.record else event.id,
                "run_number": run.number,
                "repository": repository.full_name,
                "repository_owner": repository.owner,
                "sha": event.commit,
                "token": token,
                "triggering_actor": run.starter,
            },
            "inputs": event.payload.get("inputs") or {},
            "vars": {**repository.shared_variables, **repository.variables},
            "secrets": secrets,
        }

    def environment_variables(self, event: Event, name: str) -> Mapping[str, str]:
        """Return the variables of an environment of the repository; none if it is unknown."""
        with self._sandbox.lock:
            environment = self._sandbox.repository(event.repository).environments.get(name.lower())
            return dict(environment.variables) if environment else {}

    def variables(
        self, event: Event, job: Job, environment: str, run_id: int, folder: Path
    ) -> dict[str, str]:
        """Return the variables of a step; `folder` holds its files."""
        event_file = folder / "event.json"
        event_file.write_text(json.dumps(event.payload, indent=2), encoding="utf-8")
        variables = {
            **self._variables,
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": event.actor,
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_JOB": job.name,
            "GITHUB_OUTPUT": str(folder / "outputs.txt"),
            "GITHUB_REF": event.ref,
            "GITHUB_REPOSITORY": event.repository,
            "GITHUB_REPOSITORY_OWNER": event.repository.partition("/")[0],
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_SHA": event.commit,
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }
        if job.permissions and ID_TOKEN in job.permissions:
            azure = JobIdentity(event.repository, environment, event.ref)
            variables |= self._sandbox.azure.job_environment(self._sandbox.url, azure)
        return variables


@dataclass(frozen=True, slots=True)
class Run:
    """The jobs of a workflow that an event has started, but that have not run yet.

    `attempt` counts from 1, for workflows that people run again. `triggering_actor` is the account
    that started the attempt; "" for the actor of the event. `record` is its record in the store, if
    it has one, and `number` counts the runs of its workflow.
    """

    event: Event
    workflow: Workflow
    jobs: Sequence[Job]
    attempt: int = 1
    triggering_actor: str = ""
    record: WorkflowRun | None = None
    number: int = 1

    @property
    def starter(self) -> str:
        """Return the account that started this attempt."""
        return self.triggering_actor or self.event.actor

    @property
    def file(self) -> str:
        """Return the name of the workflow's file."""
        return self.workflow.path.rpartition("/")[2]


class JobLog(io.TextIOBase):
    """The output of a step; `add-mask` hides a text from then on."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("w", encoding="utf-8", buffering=1)  # people read along
        self._masks: set[str] = set()
        self._incomplete = ""

    def write(self, text: str) -> int:
        """Write text; the last line may be incomplete."""
        *lines, self._incomplete = (self._incomplete + text).split("\n")
        for line in lines:
            self._line(line)
        return len(text)

    def write_line(self, line: str, moment: datetime) -> None:
        """Write a line for people."""
        self.write(f"{moment:%H:%M:%S}  {line}\n")

    def close(self) -> None:
        """Close the log."""
        if not self._file.closed:
            self._file.close()
        super().close()

    def _line(self, line: str) -> None:
        command = COMMAND.fullmatch(line)
        if command is None:
            self._file.write(self._hidden(line) + "\n")
        elif command["name"] == "add-mask":
            self._masks.add(_unescaped(command["text"]))
        else:
            self._file.write(f"{command['name']}: {self._hidden(_unescaped(command['text']))}\n")

    def _hidden(self, line: str) -> str:
        for mask in sorted(self._masks, key=len, reverse=True):
            line = line.replace(mask, HIDDEN)
        return line


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def _outputs_of(folder: Path) -> dict[str, str]:
    """Return the outputs of a step: `name<<delimiter`, the lines of the value, the delimiter."""
    file = folder / "outputs.txt"
    lines = iter(file.read_text(encoding="utf-8").splitlines() if file.exists() else ())
    outputs: dict[str, str] = {}
    for line in lines:
        name, _, delimiter = line.partition("<<")
        outputs[name] = "\n".join(itertools.takewhile(delimiter.__ne__, lines))
    return outputs


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of an action, its exit code, and its lines for people."""

    outcome: Any
    exit_code: int
    lines: Sequence[str]


Execute = Callable[[str, Mapping[str, str], Mapping[str, str], JobLog], StepResult]
"""Runs the command of an action with its inputs and the variables of its job."""


@dataclass(frozen=True, slots=True)
class CompletedStep:
    """A step that has run.

    `command` is Kalypso's command, `given` its inputs, `outcome` its result. `lines` are for
    people. `folder` holds its files.
    """

    run: Run
    command: str
    given: Mapping[str, str]
    outcome: Any
    exit_code: int
    lines: Sequence[str]
    folder: Path

    @property
    def environment(self) -> str:
        """Return the environment that the inputs name; "" for none."""
        return self.given.get("environment", "")

    @property
    def is_verified(self) -> bool:
        """Return whether the step succeeded, and only checked the inputs of a later job."""
        return self.given.get("verify-only") == "true" and not self.exit_code


class Artifacts:
    """The artifacts by run and name. Safe to use from several threads."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, str], Mapping[str, bytes]] = {}

    def do(self, action: str, inputs: Mapping[str, str], workspace: Path, run_id: int) -> bool:
        """Do what `actions/upload-artifact` or `download-artifact` does; return whether it worked.

        Paths are relative to the workspace. A download names its run by `run-id`.
        """
        folder = workspace / inputs.get("path", ".")
        if action == "upload-artifact":
            files = {
                file.relative_to(folder).as_posix(): file.read_bytes()
                for file in folder.rglob("*")
                if file.is_file()
            }
            if files:
                self._files[str(run_id), inputs["name"]] = files
                for old in list(self._files)[:-MAX_ARTIFACTS]:
                    self._files.pop(old, None)
            return bool(files) or inputs.get("if-no-files-found", "warn") != "error"
        stored = self._files.get((inputs.get("run-id") or str(run_id), inputs["name"]))
        for name, content in (stored or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return stored is not None

    def replace(self, run_id: int, name: str, files: Mapping[str, bytes]) -> None:
        """Replace the files of an artifact, as the author of a fork can."""
        self._files[str(run_id), name] = files


@dataclass(eq=False)
class WorkflowRunner:
    """Runs the workflows that events start from now on. Safe to use from several threads.

    `machine` are the variables of the surrounding process, `secrets` those of the repositories.
    Each step has its own folder below `folder`, with its log, outputs and summary.
    """

    sandbox: Sandbox
    clock: RunnerClock
    machine: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    folder: Path
    execute: Execute
    artifacts: Artifacts = field(default_factory=Artifacts)
    outputs: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    """The outputs of the jobs of each run, also for a part of it that runs later."""
    before_job: Callable[[Run, JobRun], object] = lambda _run, _job: None
    """Waits until a job may begin."""
    own_secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """The secrets of single repositories, by full name; they come before `secrets`."""

    def __post_init__(self) -> None:
        self._runner_environment = RunnerEnvironment(self.sandbox, self.machine)
        self._numbers = itertools.count(1 + max(map(_number, self.folder.glob("*-*")), default=0))
        self._run_numbers: defaultdict[tuple[str, str], Iterator[int]] = defaultdict(
            lambda: itertools.count(1)
        )
        self._seen = len(self.sandbox.store.events)

    def pending_runs(self) -> list[Run]:
        """Return the runs that events started since the last call, in order.

        Raises KalypsoError for a workflow file with unsupported keys.
        """
        with self.sandbox.lock:
            new = self.sandbox.store.events[self._seen :]
            self._seen += len(new)
            return [
                Run(
                    event,
                    workflow,
                    jobs_of(workflow),
                    number=next(self._run_numbers[event.repository, workflow.path]),
                )
                for event in new
                if self.sandbox.repository(event.repository).actions_enabled
                for workflow in started_by(event, self.sandbox.git(event.repository))
            ]

    def run(self, run: Run) -> list[CompletedStep]:
        """Run the steps of a workflow, up to the first failure.

        The run's record is `in_progress` during the run, and `cancelled` after an exception.
        """
        record = run.record or self.record(run.event)
        if record:
            self._begin(run, record)
        try:
            done = self._steps(run, record)
        except BaseException:
            self.conclude(record, "cancelled")
            raise
        results = [result.get("result") for result in self.needs(run).values()]
        conclusion = "failure" if "failure" in results else "success"
        self.conclude(record, conclusion)
        self.record_completion(run, record.id if record else run.event.id, conclusion)
        return done

    def record_completion(self, run: Run, run_id: int, conclusion: str) -> None:
        """Record the end of a run if a workflow of the default branch waits for it."""
        with self.sandbox.lock:
            repository = self.sandbox.repository(run.event.repository)
            git = self.sandbox.git(repository.full_name)
            default, workflow = repository.default_branch, run.workflow
            if git.head(default) and waits_for(git, default, workflow.name):
                completed = events.CompletedRun(run_id, workflow.path, workflow.name, conclusion)
                events.workflow_run(self.sandbox.store, repository, run.event, completed)

    def _begin(self, run: Run, record: WorkflowRun) -> None:
        with self.sandbox.lock:
            record.status, record.conclusion = "in_progress", None
            record.started_at, record.completed_at = self.sandbox.store.now, None
            contexts = self.contexts(run)
            record.jobs = [
                JobRun(
                    key=job.name,
                    name=filled(job.title, contexts),
                    steps=[StepRun(name=step.title) for step in job.steps],
                )
                for job in run.jobs
            ]

    def _steps(self, run: Run, record: WorkflowRun | None) -> list[CompletedStep]:
        number = next(self._numbers)
        run_id = record.id if record else run.event.id
        done: list[CompletedStep] = []
        records = record.jobs if record else [JobRun(key=job.name, name="") for job in run.jobs]
        for job, job_record in zip(run.jobs, records, strict=True):
            if not self.is_wanted(run, job):
                self.conclude(job_record, "skipped")
                self.keep_result(run, job, "skipped")
                continue
            job_record.environment = filled(job.environment, self.contexts(run))
            self.before_job(run, job_record)
            job_record.status, job_record.started_at = "in_progress", self.sandbox.store.now
            self.clock.sleep(LATENCY)
            failed = self._job(run, job, job_record, done, run_id, number)
            self.conclude(job_record, "failure" if failed else "success")
            self.keep_result(run, job, "failure" if failed else "success")
        return done

    def _job(
        self,
        run: Run,
        job: Job,
        record: JobRun,
        done: list[CompletedStep],
        run_id: int,
        number: int,
    ) -> bool:
        """Run the steps of a job, add them to `done`, and return whether the job failed."""
        failed = False
        outputs: dict[str, Any] = {}
        for position, step in enumerate(job.steps):
            step_record = record.steps[position] if record.steps else StepRun(name=step.title)
            if failed and not step.is_always:
                self.conclude(step_record, "skipped")
                continue
            step_record.status, step_record.started_at = "in_progress", self.sandbox.store.now
            completed = self._step(run, job, step, run_id, number, step_record)
            self.conclude(step_record, "failure" if completed.exit_code else "success")
            outputs[step.name] = {"outputs": _outputs_of(completed.folder)}
            if step.action not in ARTIFACT_ACTIONS:
                done.append(completed)
            failed = failed or bool(completed.exit_code and not step.may_fail)
        self.keep_outputs(run, job, outputs)
        return failed

    def contexts(self, run: Run) -> dict[str, Any]:
        """Return the contexts of a run's expressions, without a token and secrets."""
        return self._runner_environment.contexts(run, "", {})

    def keep_outputs(self, run: Run, job: Job, steps: Mapping[str, Any]) -> None:
        """Keep the outputs of a job; `steps` is its context of that name."""
        given = {name: filled(text, {"steps": steps}) for name, text in job.outputs.items()}
        self.needs(run).setdefault(job.name, {})["outputs"] = given

    def keep_result(self, run: Run, job: Job, result: str) -> None:
        """Keep the result of a job: success, failure or skipped."""
        self.needs(run).setdefault(job.name, {})["result"] = result

    def needs(self, run: Run) -> dict[str, Any]:
        """Return the context `needs` of a run: outputs and result of each job, by name."""
        return self.outputs.setdefault((run.event.id, run.workflow.path), {})

    def forget(self, run: Run) -> None:
        """Forget the outputs and results of a run that has ended."""
        self.outputs.pop((run.event.id, run.workflow.path), None)

    def is_wanted(self, run: Run, job: Job) -> bool:
        """Return whether a job runs: its condition holds, and the jobs that it needs succeeded.

        The condition `ALWAYS` lets it run whatever became of them.
        """
        needs = self.needs(run)
        if job.condition == ALWAYS:
            return True
        results = {needs.get(name, {}).get("result", "success") for name in job.needs}
        if not job.condition or results - {"success"}:
            return not results - {"success"}
        contexts = self.contexts(run)
        contexts["needs"] = needs
        expression = job.condition.removeprefix("${{").removesuffix("}}")
        return bool(filled(f"${{{{ {expression} }}}}", contexts))

    def _step(
        self, run: Run, job: Job, step: Step, run_id: int, number: int, record: StepRun
    ) -> CompletedStep:
        token = self._runner_environment.token(run.event, job)
        own = self.own_secrets.get(run.event.repository, {})
        secrets = {} if is_restricted(run.event) else {**self.secrets, **own}
        contexts = self._runner_environment.contexts(run, token, secrets)
        environment = filled(job.environment, contexts)
        contexts["vars"] |= self._runner_environment.environment_variables(run.event, environment)
        contexts["needs"] = self.needs(run)
        inputs = {name: filled(text, contexts) for name, text in step.inputs.items()}
        workspace = self.folder / f"workspace-{number:02}-{job.name}"
        if step.action in ARTIFACT_ACTIONS:
            is_done = self.artifacts.do(step.action, inputs, workspace, run_id)
            return CompletedStep(run, step.action, inputs, None, 1 - is_done, (), workspace)
        names = (*TOKENS, *MORE_TOKENS.get(step.action, ()))
        given = {**dict.fromkeys(names, token), **inputs}
        folder = self._new_folder(number, step.action, given)
        record.folder = folder.name
        variables = self._runner_environment.variables(run.event, job, environment, run_id, folder)
        variables["GITHUB_WORKSPACE"] = str(workspace)
        variables["GITHUB_RUN_ATTEMPT"] = str(run.attempt)
        variables["GITHUB_TRIGGERING_ACTOR"] = run.starter
        with JobLog(folder / "log.txt") as log:
            result = self.execute(step.action, given, variables, log)
        return CompletedStep(
            run, step.action, inputs, result.outcome, result.exit_code, result.lines, folder
        )

    def _new_folder(self, number: int, command: str, given: Mapping[str, str]) -> Path:
        """Create `<run>-<command>-<environment>` for a step's files."""
        verify = "verify" if given.get("verify-only") == "true" else ""
        parts = (f"{number:02}", command, given.get("environment", ""), verify)
        name = "-".join(part for part in parts if part)
        folders = (self.folder / f"{name}{more}" for more in ("", *map("-{}".format, range(2, 99))))
        folder = next(folder for folder in folders if not folder.exists())
        folder.mkdir(parents=True)
        return folder

    def record(self, event: Event) -> WorkflowRun | None:
        """Return the record of a run that a dispatch started: each such event has one."""
        if event.name != DISPATCH:
            return None
        with self.sandbox.lock:
            runs = self.sandbox.repository(event.repository).runs
            return next(run for run in runs if run.event_id == event.id)

    def conclude(self, record: WorkflowRun | JobRun | StepRun | None, conclusion: str) -> None:
        """Set the conclusion of a record, if there is one; what it has begun ends with it."""
        if record is None:
            return
        with self.sandbox.lock:
            parts: Sequence[JobRun | StepRun] = ()
            if not isinstance(record, StepRun):
                parts = record.jobs if isinstance(record, WorkflowRun) else record.steps
            for part in parts:
                if part.status != "completed":
                    self.conclude(part, "cancelled" if part.started_at else "skipped")
            record.status, record.conclusion = "completed", conclusion
            record.completed_at = self.sandbox.store.now


def _number(folder: Path) -> int:
    """Return the number of the run at the start of a folder's name, or 0."""
    number = folder.name.partition("-")[0]
    return int(number) if number.isascii() and number.isdecimal() else 0
