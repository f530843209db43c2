"""The runner reports each step, and compares it with the expectation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE
from kalypso_actions.commands.demo.scenario_runner import People, ScenarioRunner
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError
from kalypso_actions.report.chain_document import (
    CdDocument,
    ChainDocument,
    CiDocument,
    NotifyDocument,
    PollDocument,
    StartScheduleDocument,
)
from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_actions.report.demo_document import DemoStepEntry
from kalypso_actions.report.documents import ChangesEntry, ProblemEntry
from kalypso_actions.report.schedule_document import PullRequestEntry, ScheduleDocument
from kalypso_sandbox import Sandbox
from kalypso_sandbox.github.workflow_files import Workflow
from kalypso_sandbox.store import Event, Status
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runs import CompletedStep, Run, WorkflowRunner
from tests.commands.chain.organisation import NOON
from tests.git_repositories import programs

COMMIT = "1" * 40
PROBLEM = ProblemEntry(message="it is wrong", where=None, advice="")
PULL = PullRequestEntry(
    repository=CONTROL_PLANE, number=1, url="http://x/acme/control-plane/pull/1", action="created"
)


class Planned:
    """Workflows with planned results."""

    def __init__(self, folder: Path, *done: CompletedStep) -> None:
        self.folder = folder
        self.done = list(done)

    def pending_runs(self) -> list[Run]:
        """Return a run for each planned step."""
        runs, self.left = [run.run for run in self.done], self.done
        self.done = []
        return runs

    def run(self, _: Run) -> list[CompletedStep]:
        """Return the next planned step."""
        return [self.left.pop(0)]


def step(
    command: str,
    document: ChainDocument,
    folder: Path,
    *,
    environment: str = "dev",
    said: tuple[str, ...] = (),
    exit_code: int = 0,
) -> CompletedStep:
    event = Event(
        id=1,
        name="push",
        repository=CONTROL_PLANE,
        ref="refs/heads/main",
        commit=COMMIT,
        actor="somebody",
        payload={},
        created_at=NOON,
    )
    run = Run(event, Workflow(f".github/workflows/{command}.yaml", command), ())
    outcome = CommandResult(document, f"## kalypso {command}: it is so\n\nmore")
    return CompletedStep(
        run, command, {"environment": environment}, outcome, exit_code, said, folder
    )


def status(commit: str, description: str) -> Status:
    return Status(
        id=1,
        commit=commit,
        context="dev environment",
        state="pending",
        description=description,
        target_url=None,
        author="somebody",
        created_at=NOON,
    )


@contextmanager
def runner(
    folder: Path, *done: CompletedStep
) -> Iterator[tuple[ScenarioRunner, list[DemoStepEntry]]]:
    entries: list[DemoStepEntry] = []
    with Sandbox(folder / "sandbox", programs(), now=Clock(NOON)) as sandbox:
        sandbox.create_repository(CONTROL_PLANE, {"a": "a"})
        workflows = cast("WorkflowRunner", Planned(folder, *done))
        made = ScenarioRunner(sandbox, Clock(NOON), workflows, cast("People", None), entries.append)
        made.act = "An act"
        yield made, entries


@pytest.mark.parametrize(
    ("command", "document", "exit_code", "ends", "details"),
    [
        (
            "start-schedule",
            StartScheduleDocument(environments=("dev",)),
            0,
            "started",
            (),
        ),
        ("ci", CiDocument(), 0, "checked", ("only checks",)),
        ("ci", CiDocument(environments=("dev",)), 0, "promoted", ("starts CD in dev",)),
        ("ci", CiDocument(problems=(PROBLEM,)), 1, "failed", ("it is wrong",)),
        ("cd", CdDocument(action="written"), 0, "written", ()),
        (
            "notify",
            NotifyDocument(environments=("dev",)),
            0,
            "started",
            (),
        ),
        (
            "check-promote",
            CheckPromoteDocument(verdict="compliant", promoted_to=("stage",)),
            0,
            "compliant",
            ("compliant 0/3 → 2/3 → 3/3", "goes on to stage"),
        ),
        (
            "check-promote",
            CheckPromoteDocument(verdict="failed", problems=(PROBLEM,)),
            1,
            "failed",
            ("compliant 0/3 → 2/3 → 3/3", "it is wrong"),
        ),
        ("check-promote", CheckPromoteDocument(problems=(PROBLEM,)), 2, "failed", None),
        ("poll", PollDocument(), 0, "done", ()),
    ],
)
def test_the_result_of_a_step_in_a_word(
    tmp_path: Path,
    command: str,
    document: ChainDocument,
    exit_code: int,
    ends: str,
    details: tuple[str, ...] | None,
) -> None:
    said = ("compliant 0/3, progressing 3", "compliant 2/3", "compliant 2/3", "compliant 3/3", "x")
    done = step(command, document, tmp_path, said=said, exit_code=exit_code)
    with runner(tmp_path, done) as (made, entries):
        made.job(command, "dev", ends=ends)
        made.end_act()
    (entry,) = entries
    assert (entry.act, entry.at, entry.who) == ("An act", "2026-03-01T12:00:00Z", command)
    assert entry.text == "it is so"
    assert entry.as_expected
    assert details is None or entry.details == details


def test_the_pull_requests_of_schedule_are_in_its_folder(tmp_path: Path) -> None:
    document = ScheduleDocument(
        pull_requests=(PULL,), promoted=True, changes=ChangesEntry(added=("a", "b"))
    )
    with runner(tmp_path, step("schedule", document, tmp_path)) as (made, entries):
        people = People(made.sandbox, Clock(NOON), {})
        people.propose(CONTROL_PLANE, "new", {"c": "c"}, "Add c")
        made.job("schedule", "dev", ends="created, promoted")
    assert entries[0].details == ("manifests: 2 added, 0 modified, 0 deleted",)
    assert entries[0].links == (PULL.url,)
    assert (tmp_path / "pull-request-1.md").read_text().startswith("# Add c\n")


@pytest.mark.parametrize(
    ("command", "environment", "ends"),
    [("cd", "dev", "unchanged"), ("cd", "stage", "written"), ("ci", "dev", "written")],
)
def test_an_unexpected_result_is_reported_and_ends_the_run(
    tmp_path: Path, command: str, environment: str, ends: str
) -> None:
    done = step("cd", CdDocument(action="written"), tmp_path)
    with (
        runner(tmp_path, done) as (made, entries),
        pytest.raises(KalypsoError, match="cd dev ended 'written'") as caught,
    ):
        made.job(command, environment, ends=ends)
    assert str(tmp_path) in caught.value.problem.advice
    assert [entry.as_expected for entry in entries] == [False]


def test_nothing_may_be_missing(tmp_path: Path) -> None:
    with runner(tmp_path) as (made, _), pytest.raises(KalypsoError, match="no workflow started"):
        made.job("cd", "dev", ends="written")


def test_nothing_may_be_left(tmp_path: Path) -> None:
    left = step("cd", CdDocument(), tmp_path)
    with (
        runner(tmp_path, left) as (made, _),
        pytest.raises(KalypsoError, match=r"unexpected workflows are left to run: cd\.yaml"),
    ):
        made.end_act()


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"dev": ("pending", "Dep")}, True),
        ({"dev": ("success", "Dep")}, False),
        ({"dev": ("pending", "Failed")}, False),
        ({"dev": ("pending", "Dep"), "stage": ("pending", "")}, False),
        ({}, False),
    ],
)
def test_statuses_are_compared_with_the_expected_ones(
    tmp_path: Path, wanted: dict[str, tuple[str, str]], fits: bool
) -> None:
    with runner(tmp_path) as (made, entries):
        commit = made.sandbox.git(CONTROL_PLANE).head("main") or ""
        posted = made.sandbox.repository(CONTROL_PLANE).statuses
        posted += [status(commit, "Promoted"), status(commit, "Deployed")]
        if fits:
            made.statuses(commit, wanted)
        else:
            with pytest.raises(KalypsoError, match="the statuses of"):
                made.statuses(commit, wanted)
    assert entries[0].details == ("dev: Deployed (pending)",)
    assert entries[0].as_expected is fits
