"""Run the waiting workflows as GitHub does: in order, at once, after approvals, or not at all."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from kalypso_sandbox.workflow_runner.runs import CompletedStep, Execute, Run, WorkflowRunner
from tests.chain.approvals import Approvals
from tests.chain.run_lines import full_name, line, names_of

ENDLESS: Final = 60
"""The most runs of a story; more are an endless loop."""


class WorkflowRuns:
    """The workflow runs that events started, and the steps that ran."""

    def __init__(self, workflows: WorkflowRunner) -> None:
        self._workflows = workflows
        self._queue: list[Run] = []
        self._numbers = itertools.count(1)
        self._approvals = Approvals(workflows)
        self.to_be_lost: set[str] = set()
        self.done: list[CompletedStep] = []
        """All steps that ran, except those that only verified inputs."""

    def execute_by(self, execute: Execute) -> None:
        """Run actions in another way from now on."""
        self._workflows.execute = execute

    @property
    def waiting(self) -> list[str]:
        """The commands of the waiting runs: `cd dev`, `notify`, …"""
        return [full_name(run) for run in self.waiting_runs]

    @property
    def waiting_runs(self) -> list[Run]:
        """The waiting runs, in order."""
        self._queue += self._workflows.pending_runs()
        return list(self._queue)

    @property
    def waiting_for_approval(self) -> list[str]:
        """The commands that wait for an approval: `cd stage`, `check-promote stage`, …"""
        return [full_name(run) for run in self._approvals.waiting]

    def run_everything(self, *, but: Set[str] = frozenset()) -> list[str]:
        """Run everything that is due, `but` these commands (`check-promote`, `cd stage`, …).

        Return a line for each step.
        """
        first = len(self.done)
        while (run := self._next(but)) is not None:
            self._queue.remove(run)
            if self._is_lost(run):
                self.lose(run)
                continue
            self.run(run)
            assert len(self.done) - first < ENDLESS, "the chain goes round in circles"
        return [line(run) for run in self.done[first:]]

    def take(self, number: int) -> Run:
        """Take one of the waiting runs by its place."""
        self._queue += self._workflows.pending_runs()
        return self._queue.pop(number)

    def run(self, run: Run) -> list[str]:
        """Run a taken run; return a line for each step. An exception kills its job."""
        now, later = self._approvals.halves(run)
        every = self._workflows.run(now)
        self._approvals.let_wait(later, every)
        done = _to_be_told(every)
        self.done += done
        return [line(run) for run in done]

    def run_without_secrets(self, run: Run) -> list[str]:
        """Run it as GitHub does for a pull request from a fork or of Dependabot."""
        folder = self._workflows.folder / "without-secrets"
        done = dataclasses.replace(self._workflows, secrets={}, folder=folder).run(run)
        self.done += done
        return [line(run) for run in done]

    def run_at_once(self) -> list[str]:
        """Run everything that is due at the same time; return a line for each step."""
        halves = [self._approvals.halves(run) for run in self.waiting_runs]
        self._queue = []
        runs = [now for now, _ in halves]
        folder = self._workflows.folder / f"at-once-{next(self._numbers)}"
        workflows = [
            dataclasses.replace(self._workflows, folder=folder / f"{number:02}")
            for number, _ in enumerate(runs)
        ]
        with ThreadPoolExecutor(len(runs)) as pool:
            done = list(pool.map(WorkflowRunner.run, workflows, runs))
        for (_, later), every in zip(halves, done, strict=True):
            self._approvals.let_wait(later, every)
        steps = [step for steps in done for step in _to_be_told(steps)]
        self.done += steps
        return [line(step) for step in steps]

    def lose(self, run: Run) -> None:
        """End a run without running it: GitHub records it as `cancelled`."""
        self._workflows.conclude(self._workflows.record(run.event), "cancelled")

    def drop_next_run(self, name: str) -> None:
        """Lose the next run of this name (`cd dev`, `notify dev`)."""
        self.to_be_lost.add(name)

    def forget_what_is_due(self) -> None:
        """Forget the runs that events before the story started."""
        for run in [*self._queue, *self._workflows.pending_runs()]:
            self.lose(run)
        self._queue = []

    def postpone(self, name: str) -> None:
        """Move the first waiting run of this command (`cd dev`) to the end."""
        run = next(run for run in self._queue if name in names_of(run))
        self._queue.remove(run)
        self._queue.append(run)

    def run_again(self, name: str) -> None:
        """Run the newest run of this name again as a person; it waits like any other."""
        self.run_anew(next(run.run for run in reversed(self.done) if name in names_of(run.run)))

    def run_anew(self, run: Run, by: str = "ada") -> None:
        """Run all jobs of a run again, as a person or another account, with the same inputs."""
        self._queue.append(self._approvals.anew(run, by))

    def requires_approval(self, environment: str) -> None:
        """Require approvals for jobs in this GitHub environment from now on."""
        self._approvals.environments.add(environment)

    def approve(self, name: str) -> None:
        """Approve the oldest waiting run of this name (`cd stage`), which continues."""
        self._queue.append(self._approvals.approve(self._unapproved(name)))

    def refuse(self, name: str) -> None:
        """Reject the oldest waiting run of this name, which ends."""
        self._approvals.refuse(self._unapproved(name))

    def _unapproved(self, name: str) -> Run:
        return next(run for run in self._approvals.waiting if name in names_of(run))

    def _next(self, but: Set[str]) -> Run | None:
        self._queue += self._workflows.pending_runs()
        return next((run for run in self._queue if not but & names_of(run)), None)

    def _is_lost(self, run: Run) -> bool:
        lost = self.to_be_lost & names_of(run)
        self.to_be_lost -= lost
        return bool(lost)


def _to_be_told(done: Sequence[CompletedStep]) -> list[CompletedStep]:
    return [run for run in done if not run.is_verified]
