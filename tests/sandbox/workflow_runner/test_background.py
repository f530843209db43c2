"""Runs in the background: which start, in what order, and how people and faults end them."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import Environment, WorkflowRun
from kalypso_sandbox.workflow_runner.background import BackgroundRunner, JobClock
from kalypso_sandbox.workflow_runner.clock import FastClock
from kalypso_sandbox.workflow_runner.runs import JobLog, StepResult
from tests.git_repositories import programs
from tests.sandbox.served_sandbox import FLEET, NOON

ACTION = "kalypso-actions/kalypso-actions/actions"
JOB = f"jobs: {{one: {{steps: [{{uses: {ACTION}/ci@v0, with: {{environment: dev}}}}]}}}}\n"
PUSH = "on: push\n" + JOB
FOLDER = ".github/workflows"


class Steps:
    """A fake of Kalypso's commands: each step writes a line, and waits until `go` is set."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun: list[str] = []
        self.clocks: list[weakref.ref[JobClock]] = []
        self.fails = False

    def __call__(self, clock: JobClock) -> Callable[..., StepResult]:
        self.clocks.append(weakref.ref(clock))

        def execute(
            action: str, inputs: Mapping[str, str], variables: Mapping[str, str], log: JobLog
        ) -> StepResult:
            self.begun.append(variables["GITHUB_SHA"])
            log.write_line(f"{action} of {inputs['token'][:4]}", clock())
            while not self.go.wait(0.01):
                clock.sleep(1)
            return StepResult(None, int(self.fails), ())

        return execute


@pytest.fixture
def steps() -> Steps:
    return Steps()


@contextmanager
def running(
    folder: Path, steps: Steps, files: Mapping[str, str] | None = None, **options: object
) -> Iterator[tuple[Sandbox, BackgroundRunner]]:
    """Serve acme/fleet with these workflow files, and run its workflows 600 times as fast."""
    clock = FastClock(NOON, 600)
    with Sandbox(folder / "sandbox", programs(), now=clock) as sandbox:
        if sandbox.store.repository(FLEET) is None:
            named = {f"{FOLDER}/{name}.yaml": text for name, text in (files or {}).items()}
            sandbox.create_repository(FLEET, {"README.md": "fleet\n", **named})
        runs = folder / "runs"
        settings: dict[str, Any] = {"actions": frozenset({"ci"}), **options}
        with BackgroundRunner(sandbox, clock, {}, {}, runs, steps, **settings) as runner:
            yield sandbox, runner
            steps.go.set()


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)


def states(sandbox: Sandbox) -> list[str]:
    with sandbox.lock:
        return [run.conclusion or run.status for run in sandbox.repository(FLEET).runs]


def only(sandbox: Sandbox) -> WorkflowRun:
    (run,) = sandbox.runs(FLEET)
    return run


def test_a_push_starts_a_run_whose_record_tells_everything(tmp_path: Path, steps: Steps) -> None:
    with running(tmp_path, steps, {"ci": "name: Check\n" + PUSH}) as (sandbox, runner):
        commit = sandbox.commit(FLEET, {"a": "1"}, message="Add a\n\nWhy")
        until(lambda: steps.begun)
        run = only(sandbox)
        assert (run.name, run.title, run.event, run.commit) == ("Check", "Add a", "push", commit)
        assert (run.author, run.attempt, run.status) == ("somebody", 1, "in_progress")
        ((job,), (step,)) = run.jobs, run.jobs[0].steps
        assert (job.key, job.name, job.status, step.status) == ("one", "one", *["in_progress"] * 2)
        steps.go.set()
        until(runner.is_idle)
        run = only(sandbox)
        ((job,), (step,)) = run.jobs, run.jobs[0].steps
        conclusions = [each.conclusion for each in (run, job, step)]
        assert conclusions == ["success"] * 3
        moments = [run.created_at, run.started_at, job.started_at, step.started_at]
        moments += [step.completed_at, job.completed_at, run.completed_at]
        assert moments == sorted(moment for moment in moments if moment)
        log = tmp_path / "runs" / step.folder / "log.txt"
        assert log.read_text().endswith("ci of ghs_\n")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc lists the descriptors of a process")
def test_ended_runs_leave_neither_objects_nor_descriptors(tmp_path: Path, steps: Steps) -> None:
    steps.go.set()
    open_files = []
    with running(tmp_path, steps, {"ci": PUSH}) as (sandbox, runner):
        for number in range(4):
            sandbox.commit(FLEET, {"a": str(number)})
            until(runner.is_idle)
            open_files.append(len(list(Path("/proc/self/fd").iterdir())))
        until(lambda: gc.collect() >= 0 and not any(clock() for clock in steps.clocks))
    assert len(steps.clocks) == 4
    assert open_files[-1] <= open_files[0]


@pytest.mark.parametrize(
    ("concurrency", "expected"),
    [
        ("", ["success"] * 3),
        ("concurrency: {group: one}\n", ["success", "cancelled", "success"]),
        ("concurrency: one\n", ["success", "cancelled", "success"]),
        ("concurrency: 'a ${{ github.sha }}'\n", ["success"] * 3),
        (
            "concurrency: {group: one, cancel-in-progress: \"${{ github.event_name == 'push' }}\"}",
            ["cancelled", "cancelled", "success"],
        ),
    ],
)
def test_runs_of_a_group_follow_each_other_and_others_do_not_wait(
    tmp_path: Path, steps: Steps, concurrency: str, expected: list[str]
) -> None:
    with running(tmp_path, steps, {"ci": concurrency + "\n" + PUSH}) as (sandbox, runner):
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: steps.begun)
        sandbox.commit(FLEET, {"a": "2"})
        sandbox.commit(FLEET, {"a": "3"})
        if len(set(expected)) == 1:
            until(lambda: len(steps.begun) == 3)
        elif expected[0] == "success":
            until(lambda: states(sandbox) == ["in_progress", "cancelled", "queued"])
            assert len(steps.begun) == 1
        else:
            until(lambda: states(sandbox)[:2] == ["cancelled", "cancelled"])
        steps.go.set()
        until(lambda: len(states(sandbox)) == 3 and runner.is_idle())
        assert states(sandbox) == expected
        for run in sandbox.runs(FLEET):
            assert ("took its place" in run.reason) == (run.conclusion == "cancelled")


def test_people_cancel_a_run_and_start_it_again(tmp_path: Path, steps: Steps) -> None:
    with running(tmp_path, steps, {"ci": PUSH}) as (sandbox, runner):
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: steps.begun)
        number = only(sandbox).id
        with pytest.raises(ValueError, match="has not ended"):
            runner.run_again(number, "anna")
        runner.cancel(number, "anna")
        until(runner.is_idle)
        run = only(sandbox)
        assert (run.conclusion, run.reason) == ("cancelled", "anna cancelled it")
        assert [job.conclusion for job in run.jobs] == ["cancelled"]
        with pytest.raises(ValueError, match="is not running"):
            runner.cancel(number, "anna")
        steps.go.set()
        runner.run_again(number, "berta")
        until(runner.is_idle)
        run = only(sandbox)
        assert (run.conclusion, run.attempt, run.triggering_actor) == ("success", 2, "berta")
        assert run.reason == ""
        assert len({step.folder for job in run.jobs for step in job.steps}) == 1
        with pytest.raises(LookupError):
            runner.cancel(7, "anna")


SCRIPT = "on: push\njobs: {one: {runs-on: x, steps: [{run: make}]}}\n"
NAMES_COMMAND = PUSH.replace("environment: dev", "pre-deployment: ./check.sh")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (SCRIPT, f"{FOLDER}/ci.yaml: a step of the job one: run is not supported here"),
        ("on: push\njobs: {one: {uses: ./x.yaml}}\n", "the job one: uses is not supported here"),
        ("on: {push: {names: [a]}}\n" + JOB, "the filter names is not supported here"),
        ("on: push\njobs: {one: 7}\n", "the job one is not a mapping"),
        ("on: push\njobs: {one: {steps: [], needs: [two]}}\n", "the jobs need each other"),
        ("on: push\nconcurrency: ${{ fromJSON(1) }}\n" + JOB, "'fromJSON(1)' is not supported"),
        (PUSH.replace("/ci@", "/fly@"), "it runs what no job does here: fly"),
        (NAMES_COMMAND, "it names a command: pre-deployment of the step 'ci'. --allow-commands"),
    ],
)
def test_what_cannot_run_here_says_why_and_stops_nothing_else(
    tmp_path: Path, steps: Steps, file: str, reason: str
) -> None:
    steps.go.set()
    files = {"ci": file, "good": PUSH}
    commands = frozenset({"pre-deployment"})
    with running(tmp_path, steps, files, command_inputs=commands) as (sandbox, runner):
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: len(states(sandbox)) == 2 and runner.is_idle())
        refused, good = sandbox.runs(FLEET)
        assert (refused.conclusion, good.conclusion) == ("skipped", "success")
        assert reason in refused.reason


def test_commands_of_workflow_files_run_if_the_person_allows_it(
    tmp_path: Path, steps: Steps
) -> None:
    steps.go.set()
    options = {"command_inputs": frozenset({"pre-deployment"}), "allow_commands": True}
    with running(tmp_path, steps, {"ci": NAMES_COMMAND}, **options) as (sandbox, runner):
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: states(sandbox) and runner.is_idle())
        assert states(sandbox) == ["success"]


@pytest.mark.parametrize(
    ("of_repository", "of_environment", "conclusion"),
    [({}, {}, "success"), ({"RUN": "ls"}, {}, "skipped"), ({}, {"RUN": "ls"}, "failure")],
)
def test_a_variable_names_a_command_only_if_it_is_set(
    tmp_path: Path,
    steps: Steps,
    of_repository: dict[str, str],
    of_environment: dict[str, str],
    conclusion: str,
) -> None:
    steps.go.set()
    file = NAMES_COMMAND.replace("./check.sh", "'${{ vars.RUN }}'")
    file = file.replace("{steps", "{environment: dev, steps")
    commands = frozenset({"pre-deployment"})
    with running(tmp_path, steps, {"ci": file}, command_inputs=commands) as (sandbox, runner):
        repository = sandbox.repository(FLEET)
        repository.variables |= of_repository
        repository.environments["dev"] = Environment(
            id=1, name="dev", created_at=NOON, variables=of_environment
        )
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: states(sandbox) and runner.is_idle())
        run = only(sandbox)
        assert (run.conclusion, len(steps.begun)) == (conclusion, conclusion == "success")
        assert ("pre-deployment" in run.reason) == (conclusion != "success")


def test_a_failure_skips_the_jobs_behind(tmp_path: Path, steps: Steps) -> None:
    steps.fails = True
    steps.go.set()
    step = f"{{uses: {ACTION}/ci@v0}}"
    two = f"on: push\njobs: {{b: {{needs: a, steps: [{step}]}}, a: {{steps: [{step}, {step}]}}}}\n"
    with running(tmp_path, steps, {"ci": two}) as (sandbox, runner):
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: states(sandbox) and runner.is_idle())
        run = only(sandbox)
        assert run.conclusion == "failure"
        jobs = [(job.key, job.conclusion, [s.conclusion for s in job.steps]) for job in run.jobs]
        assert jobs == [("a", "failure", ["failure", "skipped"]), ("b", "skipped", ["skipped"])]


def test_a_job_waits_for_the_approval_of_its_environment(tmp_path: Path, steps: Steps) -> None:
    steps.go.set()
    file = PUSH.replace("{steps", "{environment: '${{ github.ref_name }}', steps")
    with running(tmp_path, steps, {"ci": file}) as (sandbox, runner):
        main = Environment(id=1, name="Main", created_at=NOON, needs_approval=True)
        sandbox.repository(FLEET).environments["main"] = main
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: states(sandbox) == ["waiting"])
        (job,) = only(sandbox).jobs
        assert (job.status, job.environment, steps.begun) == ("waiting", "main", [])
        runner.approve(only(sandbox).id)
        until(runner.is_idle)
        assert states(sandbox) == ["success"]
        with pytest.raises(ValueError, match="does not wait"):
            runner.approve(only(sandbox).id)


CRON = "on: {schedule: [{cron: '7,37 * * * *'}], workflow_dispatch: }\n" + JOB


def test_crons_start_by_the_clock_and_by_people(tmp_path: Path, steps: Steps) -> None:
    steps.go.set()
    with running(tmp_path, steps, {"poll": CRON}) as (sandbox, runner):
        (cron,) = runner.crons()
        assert (cron.workflow, cron.expression) == (f"{FOLDER}/poll.yaml", "7,37 * * * *")
        assert cron.next_at == NOON + timedelta(minutes=7)
        until(lambda: states(sandbox) and runner.is_idle())  # seven minutes are 0.7 seconds
        run = only(sandbox)
        assert (run.event, run.conclusion) == ("schedule", "success")
        assert timedelta(minutes=7) <= run.created_at - NOON < timedelta(minutes=12)
        runner.start_cron(FLEET, cron.workflow)
        until(lambda: len(states(sandbox)) > 1 and runner.is_idle())
        with pytest.raises(LookupError, match="no cron expression starts ci"):
            runner.start_cron(FLEET, "ci.yaml")


def test_the_next_runner_of_a_folder_goes_on_with_what_was_running(
    tmp_path: Path, steps: Steps
) -> None:
    with running(tmp_path, steps, {"ci": PUSH}) as (sandbox, runner):
        sandbox.commit(FLEET, {"a": "1"})
        until(lambda: steps.begun)
        runner.__exit__(None, None, None)
        assert states(sandbox) == ["queued"]
        sandbox.commit(FLEET, {"a": "2"})
    with running(tmp_path, steps) as (sandbox, runner):
        until(lambda: len(states(sandbox)) == 2 and runner.is_idle())
        first, second = sandbox.runs(FLEET)
        assert (first.conclusion, first.attempt) == ("success", 2)
        assert (second.conclusion, second.attempt) == ("success", 1)
