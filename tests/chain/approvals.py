"""GitHub environments with required reviewers: jobs wait for an approval."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kalypso_sandbox.store import RunStatus
from kalypso_sandbox.workflow_runner.jobs import Job, filled
from kalypso_sandbox.workflow_runner.runs import CompletedStep, Run, WorkflowRunner


class Approvals:
    """Splits each run before its first job that needs an approval.

    `waiting` has the second halves of runs whose first half succeeded, oldest first.
    """

    def __init__(self, workflows: WorkflowRunner) -> None:
        self._workflows = workflows
        self._whole: dict[tuple[int, str], Run] = {}
        self.environments: set[str] = set()
        self.waiting: list[Run] = []

    def halves(self, run: Run) -> tuple[Run, Run | None]:
        """Return a run of the jobs that run now, and a run of those that wait or None."""
        contexts = {
            "github": {"triggering_actor": run.starter},
            "inputs": run.event.payload.get("inputs") or {},
        }
        for number, job in enumerate(run.jobs):
            # The first job of a second half has its approval; its needs ran in the first half.
            is_approved = number == 0 and job.needs
            environment = filled(job.environment, contexts)
            if not is_approved and environment in self.environments:
                self._whole[run.event.id, run.workflow.path] = run
                jobs = run.jobs
                return _with_jobs(run, jobs[:number]), _with_jobs(run, jobs[number:])
        return run, None

    def let_wait(self, run: Run | None, done: Sequence[CompletedStep]) -> None:
        """Let a second half wait unless the first half failed."""
        is_wanted = run is not None and self._workflows.is_wanted(run, run.jobs[0])
        if run and is_wanted and not any(ended.exit_code for ended in done):
            self.waiting.append(run)
            self._record(run, "waiting")

    def approve(self, run: Run) -> Run:
        """Remove a second half from `waiting`, and return it."""
        self._end(run, "queued")
        return run

    def refuse(self, run: Run) -> None:
        """Fail the run of a second half, as GitHub does."""
        self._end(run, "completed", "failure")

    def anew(self, run: Run, by: str) -> Run:
        """Return the next attempt of a run by an account, with all of its jobs."""
        whole = self._whole.get((run.event.id, run.workflow.path), run)
        return dataclasses.replace(whole, attempt=run.attempt + 1, triggering_actor=by)

    def _end(self, run: Run, status: RunStatus, conclusion: str | None = None) -> None:
        self.waiting = [waiting for waiting in self.waiting if waiting is not run]
        self._record(run, status, conclusion)

    def _record(self, run: Run, status: RunStatus, conclusion: str | None = None) -> None:
        record = self._workflows.record(run.event)
        if record:
            with self._workflows.sandbox.lock:
                record.status, record.conclusion = status, conclusion


def _with_jobs(run: Run, jobs: Sequence[Job]) -> Run:
    return dataclasses.replace(run, jobs=jobs)
