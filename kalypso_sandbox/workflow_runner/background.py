"""Run workflows in the background, as GitHub does, while people use the sandbox.

    with BackgroundRunner(sandbox, clock, machine, secrets, folder, execute) as runner:
        ...
        runner.cancel(run_id)

Events start runs, which go side by side, each in a thread; those of one concurrency group follow
each other. Every run has a record (`WorkflowRun`) in its repository.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from cronsim import CronSim, CronSimError

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox import Sandbox
from kalypso_sandbox.git.repositories import BRANCHES
from kalypso_sandbox.github import events
from kalypso_sandbox.github.workflow_files import DISPATCH, Workflow, workflows_of
from kalypso_sandbox.store import Event, JobRun, Repository, WorkflowRun
from kalypso_sandbox.workflow_runner.clock import FastClock
from kalypso_sandbox.workflow_runner.jobs import (
    ARTIFACT_ACTIONS,
    Concurrency,
    candidates,
    crons_of,
    filled,
    is_started,
    jobs_of,
)
from kalypso_sandbox.workflow_runner.runs import Execute, JobLog, Run, StepResult, WorkflowRunner

log = logging.getLogger(__name__)

INTERVAL: Final = 0.1
"""Seconds of the machine between two looks for new events."""

STOPPED: Final = "the sandbox stopped"
REPLACED: Final = "a newer run of the concurrency group {} took its place"
PERSON_CANCELLED: Final = "{} cancelled it"

MAX_RUNS: Final = 1000
"""The number of runs that a repository keeps; a sandbox with crons may run for days."""


INVALID: Final = (KalypsoError, AttributeError, KeyError, TypeError, ValueError)
"""The errors with which files of people that are no workflows are refused."""


class RunCancelledError(BaseException):
    """The run was cancelled. No command may catch it as an error of its own."""


@dataclass(eq=False)
class JobClock:
    """The clock of the jobs of a run; whoever reads it or waits learns that the run was cancelled.

    `cancelled` is the end of the run, set by another thread.
    """

    clock: FastClock
    cancelled: threading.Event = field(default_factory=threading.Event)

    def __call__(self) -> datetime:
        """Return the time. Raises RunCancelledError."""
        self.check()
        return self.clock()

    def sleep(self, seconds: float) -> None:
        """Wait. Raises RunCancelledError."""
        if self.cancelled.wait(self.clock.seconds_of_machine(seconds)):
            raise RunCancelledError

    def check(self) -> None:
        """Raise RunCancelledError if the run was cancelled."""
        if self.cancelled.is_set():
            raise RunCancelledError


@dataclass(eq=False)
class _Started:
    """A run that has not ended, with what other threads tell it."""

    run: Run
    record: WorkflowRun
    cancel_in_progress: bool
    clock: JobClock
    approved: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def group(self) -> tuple[str, str]:
        """The concurrency group, in its repository, whatever its case; "" for none."""
        return self.run.event.repository.lower(), self.record.group.lower()


@dataclass(frozen=True, slots=True)
class Cron:
    """A workflow that a cron expression starts, and when it does so next (None: never)."""

    repository: str
    workflow: str
    name: str
    expression: str
    next_at: datetime | None


@dataclass(eq=False)
class BackgroundRunner:
    """Starts the workflows of a sandbox's events while the context lasts.

    `machine`, `secrets`, `own_secrets` and `folder` are those of `WorkflowRunner`. `execute`
    returns what runs the steps of one run by its clock, for the known `actions`. A step with one of
    `command_inputs` runs a program that its workflow file names; it does so only with
    `allow_commands`. Every method is safe to use from several threads.
    """

    sandbox: Sandbox
    clock: FastClock
    machine: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    folder: Path
    execute: Callable[[JobClock], Execute]
    actions: frozenset[str] = frozenset()
    command_inputs: frozenset[str] = frozenset()
    allow_commands: bool = False
    own_secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._runner = WorkflowRunner(
            self.sandbox,
            self.clock,
            self.machine,
            self.secrets,
            self.folder,
            self._execute,
            before_job=self._before_job,
            own_secrets=self.own_secrets,
        )
        self._started: dict[int, _Started] = {}
        self._waiting: list[_Started] = []
        self._stopping = threading.Event()
        self._last_look = self.clock()
        self._crons: dict[tuple[str, str], list[Workflow]] = {}
        self._thread = threading.Thread(target=self._watch, name="events", daemon=True)

    def __enter__(self) -> Self:
        with self.sandbox.lock:
            store = self.sandbox.store
            if store.events_run_until is None:
                store.events_run_until = max((event.id for event in store.events), default=0)
            interrupted = [
                run
                for repository in store.repositories.values()
                for run in repository.runs
                if run.event_id and run.event_id <= store.events_run_until and _is_open(run)
            ]
            for run in interrupted:
                try:
                    self._run_again(run.id, "")
                except ValueError as error:
                    run.reason = f"{STOPPED}, and {error}"
                    self._runner.conclude(run, "cancelled")
            self.sandbox.state.runner = self
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop all runs; the next runner of the folder starts them again."""
        self.sandbox.state.runner = None
        self._stopping.set()
        self._thread.join()
        with self.sandbox.lock:
            started = list(self._started.values())
            for each in started:
                each.clock.cancelled.set()
        for each in started:
            if each.thread:
                each.thread.join(timeout=10)

    # What people do

    def cancel(self, run_id: int, actor: str) -> None:
        """Cancel a run: it ends at its next line, wait or look at the clock.

        Raises LookupError for an unknown run, and ValueError for one that has ended.
        """
        with self.sandbox.lock:
            self.run(run_id)
            if run_id not in self._started:
                raise ValueError(f"the run {run_id} is not running")
            self._cancel(self._started[run_id], PERSON_CANCELLED.format(actor))

    def run_again(self, run_id: int, actor: str) -> None:
        """Start another attempt of a run, of the same commit and event, by `actor`.

        Raises LookupError for an unknown run, and ValueError for one that has not ended, or whose
        event the sandbox has forgotten.
        """
        with self.sandbox.lock:
            if _is_open(self.run(run_id)[1]):
                raise ValueError(f"the run {run_id} has not ended")
            self._run_again(run_id, actor)

    def approve(self, run_id: int) -> None:
        """Let the job begin that waits for a person. Raises LookupError and ValueError."""
        with self.sandbox.lock:
            _, record = self.run(run_id)
            if run_id not in self._started or record.status != "waiting":
                raise ValueError(f"the run {run_id} does not wait for a person")
            self._started[run_id].approved.set()

    def start_cron(self, repository: str, workflow: str) -> None:
        """Start a workflow with a cron expression now. Raises LookupError for an unknown one."""
        with self.sandbox.lock:
            crons = self.crons()
            wanted = (repository.lower(), workflow)
            cron = next((c for c in crons if (c.repository.lower(), c.workflow) == wanted), None)
            if cron is None:
                raise LookupError(f"no cron expression starts {workflow} of {repository}")
            events.schedule(
                self.sandbox.store, self.sandbox.repository(repository), cron.expression
            )
            self.sandbox.store.save()

    # What people see

    def run(self, run_id: int) -> tuple[Repository, WorkflowRun]:
        """Return a run and its repository. Raises LookupError."""
        with self.sandbox.lock:
            for repository in self.sandbox.store.repositories.values():
                for run in repository.runs:
                    if run.id == run_id:
                        return repository, run
        raise LookupError(f"the sandbox has no run {run_id}")

    def crons(self) -> list[Cron]:
        """Return the cron expressions of all default branches."""
        with self.sandbox.lock:
            now = self.clock()
            return [
                Cron(repository.full_name, workflow.path, workflow.name, cron, _after(cron, now))
                for repository, workflow in self._scheduled()
                for cron in crons_of(workflow)
            ]

    def is_idle(self) -> bool:
        """Return whether no run has yet to end, and every event has started its runs."""
        with self.sandbox.lock:
            events_seen = self.sandbox.store.events_run_until or 0
            newest = max((event.id for event in self.sandbox.store.events[-1:]), default=0)
            return not self._started and newest <= events_seen

    # The thread that looks for events

    def _watch(self) -> None:
        while not self._stopping.wait(INTERVAL):
            try:
                with self.sandbox.lock:
                    self._tick()
                    self._start_new()
                    self._start_waiting()
            except Exception:
                log.exception("a look for new events failed")

    def _tick(self) -> None:
        """Record the cron expressions that have become due since the last look, each once."""
        now, last = self.clock(), self._last_look
        if now.replace(second=0, microsecond=0) <= last:
            return
        self._last_look = now
        due = [
            (repository, cron)
            for repository, cron in dict.fromkeys(
                (repository.full_name, cron)
                for repository, workflow in self._scheduled()
                for cron in crons_of(workflow)
            )
            if (at := _after(cron, last)) and at <= now
        ]
        for name, cron in due:
            events.schedule(self.sandbox.store, self.sandbox.repository(name), cron)
        if due:
            self.sandbox.store.save()

    def _scheduled(self) -> Iterator[tuple[Repository, Workflow]]:
        for repository in self.sandbox.store.repositories.values():
            git = self.sandbox.git(repository.full_name)
            head = git.head(repository.default_branch)
            if not repository.actions_enabled or not head:
                continue
            key = repository.full_name, head
            if key not in self._crons:
                found = [each for each in workflows_of(git, head) if crons_of(each)]
                others = {k: v for k, v in self._crons.items() if k[0] != key[0]}
                self._crons = {**others, key: found}
            for workflow in self._crons[key]:
                yield repository, workflow

    def _start_new(self) -> None:
        store = self.sandbox.store
        seen = store.events_run_until or 0
        new = []
        for event in reversed(store.events):
            if event.id <= seen:
                break
            new.append(event)
        for event in reversed(new):
            store.events_run_until = event.id
            repository = store.repository(event.repository)
            if repository and repository.actions_enabled:
                self._start(store.event(event.id) or event, repository)
        if new:
            store.save()

    def _start(self, event: Event, repository: Repository) -> None:
        """Start the workflows of an event; a file that cannot run here leaves a run with why."""
        git = self.sandbox.git(repository.full_name)
        for workflow in candidates(event, git) if event.commit else ():
            reason = ""
            try:
                if not is_started(workflow, event, git):
                    continue
            except INVALID as error:
                if event.name not in workflow.triggers:
                    continue
                reason = _reason(error)
            record = self._record(event, repository, workflow)
            self._queue(event, workflow, record, reason)

    def _record(self, event: Event, repository: Repository, workflow: Workflow) -> WorkflowRun:
        """Return the record of a new run: a dispatch has one already."""
        if event.name == DISPATCH:
            return next(run for run in repository.runs if run.event_id == event.id)
        pull = event.payload.get("pull_request") or {}
        record = WorkflowRun(
            id=self.sandbox.store.new_id(),
            workflow=workflow.path,
            ref=BRANCHES + pull["head"]["ref"] if pull else event.ref,
            commit=pull["head"]["sha"] if pull else event.commit,
            inputs={},
            author=event.actor,
            created_at=event.created_at,
            event=event.name,
            event_id=event.id,
        )
        repository.runs.append(record)
        return record

    def _queue(
        self, event: Event, workflow: Workflow, record: WorkflowRun, reason: str = ""
    ) -> None:
        """Prepare a run, and let it wait for its concurrency group."""
        record.status, record.conclusion, record.reason = "queued", None, ""
        record.jobs, record.name = [], workflow.name
        repository = self.sandbox.repository(event.repository)
        same = [run.id for run in repository.runs if run.workflow == workflow.path]
        run = Run(
            event,
            workflow,
            (),
            record.attempt,
            record.triggering_actor,
            record,
            same.index(record.id) + 1,
        )
        cancels = False
        try:
            contexts = self._runner.contexts(run)
            record.title = filled(workflow.run_name, contexts).strip() or _title(event, workflow)
            run = dataclasses.replace(run, jobs=jobs_of(workflow))
            concurrency = Concurrency.of(workflow)
            record.group = filled(concurrency.group, contexts).strip()
            cancels = filled(concurrency.cancel_in_progress, contexts) == "true"
            reason = reason or self._refusal(run, contexts)
        except INVALID as error:
            record.title = record.title or _title(event, workflow)
            reason = reason or _reason(error)
        if reason:
            record.reason = reason
            self._runner.conclude(record, "skipped")
            return
        started = _Started(run, record, cancels, JobClock(self.clock))
        self._started[record.id] = started
        if record.group:
            self._make_room(started)
        self._waiting.append(started)

    def _refusal(self, run: Run, contexts: Mapping[str, Any]) -> str:
        """Return why a run does not run here; "" if it does."""
        steps = [step for job in run.jobs for step in job.steps]
        unknown = {step.action for step in steps} - self.actions - {*ARTIFACT_ACTIONS}
        if unknown:
            return f"it runs what no job does here: {', '.join(sorted(unknown))}"
        if self.allow_commands:
            return ""
        named = sorted(
            f"{name} of the step {step.title!r}"
            for step in steps
            for name in step.inputs.keys() & self.command_inputs
            if _is_command(step.inputs[name], contexts)
        )
        if not named:
            return ""
        return f"it names a command: {', '.join(named)}. --allow-commands lets it run."

    def _make_room(self, new: _Started) -> None:
        """Cancel the run of the group that waits, and if the new one says so, the one that runs."""
        reason = REPLACED.format(new.record.group)
        for other in list(self._started.values()):
            is_rival = other is not new and other.group == new.group
            if is_rival and (other in self._waiting or new.cancel_in_progress):
                self._cancel(other, reason)

    def _start_waiting(self) -> None:
        """Start the runs whose concurrency groups are free."""
        for started in list(self._waiting):
            others = (each for each in self._started.values() if each is not started)
            busy = started.record.group and any(
                each.group == started.group and each not in self._waiting for each in others
            )
            if not busy:
                self._waiting.remove(started)
                started.thread = threading.Thread(
                    target=self._work, args=(started,), name=f"run {started.record.id}", daemon=True
                )
                started.thread.start()

    def _cancel(self, started: _Started, reason: str) -> None:
        started.record.reason = reason
        started.clock.cancelled.set()
        if started in self._waiting:
            self._waiting.remove(started)
            self._end(started, "cancelled")

    def _end(self, started: _Started, conclusion: str) -> None:
        self._started.pop(started.record.id, None)
        self._runner.conclude(started.record, conclusion)
        self._runner.forget(started.run)
        runs = self.sandbox.repository(started.run.event.repository).runs
        for old in runs[:-MAX_RUNS]:
            if not _is_open(old):
                runs.remove(old)
        self.sandbox.store.save()

    def _run_again(self, run_id: int, actor: str) -> None:
        """Queue a run once more. Raises LookupError and ValueError."""
        repository, record = self.run(run_id)
        event = self.sandbox.store.event(record.event_id)
        if event is None or not event.payload:
            raise ValueError(f"the event of the run {run_id} is too old")
        workflows = workflows_of(self.sandbox.git(repository.full_name), event.commit)
        workflow = next((each for each in workflows if each.path == record.workflow), None)
        if workflow is None:
            raise ValueError(f"{record.workflow} is not in the commit of the run {run_id}")
        record.attempt += 1
        record.triggering_actor = actor or record.triggering_actor
        self._queue(event, workflow, record)
        self.sandbox.store.save()

    # The threads of runs

    def _work(self, started: _Started) -> None:
        conclusion = "cancelled"
        try:
            started.clock.check()
            self._runner.run(started.run)
        except RunCancelledError:
            started.record.reason = started.record.reason or STOPPED
        except KalypsoError as error:
            started.record.reason = _reason(error)
            conclusion = "failure"
        except Exception as error:
            log.exception("the run %d failed", started.record.id)
            started.record.reason = f"this is a bug of the sandbox: {error!r}"
            conclusion = "failure"
        else:
            conclusion = started.record.conclusion or "success"
        with self.sandbox.lock:
            if self._stopping.is_set() and started.record.reason == STOPPED:
                # The next runner of the folder starts it again.
                self._started.pop(started.record.id, None)
                started.record.status, started.record.conclusion = "queued", None
                return
            self._end(started, conclusion)

    def _execute(
        self, action: str, inputs: Mapping[str, str], variables: Mapping[str, str], job_log: JobLog
    ) -> StepResult:
        started = self._started[int(variables["GITHUB_RUN_ID"])]
        started.clock.check()
        named = sorted(name for name in self.command_inputs if inputs.get(name, "").strip())
        if named and not self.allow_commands:  # by a variable of the job's environment
            message = f"{action} names a command: {', '.join(named)}"
            raise KalypsoError(message, advice="--allow-commands lets it run")
        return self.execute(started.clock)(action, inputs, variables, job_log)

    def _before_job(self, run: Run, job: JobRun) -> None:
        """Wait until a person approves the job, if its environment asks for that."""
        record = run.record
        if record is None:
            return
        started = self._started[record.id]
        repository = self.sandbox.repository(run.event.repository)
        environment = repository.environments.get(job.environment.lower())
        if environment is None or not environment.needs_approval:
            return
        record.status = job.status = "waiting"
        while not started.approved.wait(INTERVAL):
            started.clock.check()
        started.approved.clear()
        record.status = "in_progress"


def _is_command(text: str, contexts: Mapping[str, Any]) -> bool:
    """Return whether an input names a command, unless a variable that is not set would name it."""
    try:
        return bool(filled(text, contexts).strip())
    except INVALID:
        return True


def _is_open(run: WorkflowRun) -> bool:
    return run.status != "completed"


def _reason(error: Exception) -> str:
    if not isinstance(error, KalypsoError):
        return f"the file is not a valid workflow: {error!r}"
    problem = error.problems[0]
    return f"{problem.where}: {problem.message}" if problem.where else problem.message


def _title(event: Event, workflow: Workflow) -> str:
    """Return the title that GitHub gives a run whose file has none."""
    pull = event.payload.get("pull_request")
    if pull:
        return str(pull["title"])
    head: Mapping[str, Any] = event.payload.get("head_commit") or {}
    return str(head.get("message") or workflow.name).partition("\n")[0]


def _after(cron: str, moment: datetime) -> datetime | None:
    """Return the first time of a cron expression after a moment; None for none, or a wrong one."""
    try:
        return next(CronSim(cron, moment))
    except (CronSimError, StopIteration):
        return None
