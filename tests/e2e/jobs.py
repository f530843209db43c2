"""The jobs of workflows, each run by act with the token and variables that GitHub would give it.

act implements neither permissions nor environments: this module makes a job's token, its variables
and its identity in Azure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import JobIdentity
from kalypso_sandbox.workflow_runner.jobs import ARTIFACT_ACTIONS, Job, filled
from kalypso_sandbox.workflow_runner.runs import (
    ID_TOKEN,
    Run,
    RunnerEnvironment,
    WorkflowRunner,
    is_restricted,
)
from tests.e2e import act, job_file
from tests.e2e.act import Act, JobRun
from tests.git_repositories import git

OF_MACHINE: Final = ("IDENTITY_ENDPOINT", "IDENTITY_HEADER")
"""A hosted runner has no identity in Azure: jobs sign in with GitHub's OIDC tokens."""


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that act has run, or that was skipped because one before it has failed.

    `command` is Kalypso's, `environment` the one that the run is about, `deploys_to` the GitHub
    environment that the job is in.
    """

    run: Run
    name: str
    command: str
    environment: str
    deploys_to: str
    outcome: JobRun
    folder: Path


class Jobs:
    """Runs the workflows that the events of a sandbox start; keeps the files of jobs in `folder`.

    `secrets` are those of all repositories, `environment` variables of every job.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        workflows: WorkflowRunner,
        machine: RunnerEnvironment,
        runner: Act,
        secrets: Mapping[str, str],
        environment: Mapping[str, str],
        folder: Path,
    ) -> None:
        self._sandbox = sandbox
        self._workflows = workflows
        self._runner_environment = machine
        self._runner = runner
        self._secrets = secrets
        self._environment = environment
        self._folder = folder
        self.finished: list[FinishedJob] = []
        self.tokens: set[str] = set()
        """Every text that a job got and that no log may contain."""

    def run(self, run: Run) -> list[FinishedJob]:
        """Run the jobs of a workflow in the order of their needs, and return them.

        A job is skipped unless all that it needs have succeeded, or its condition is `ALWAYS`; a
        job whose condition does not hold is left out.
        """
        record = self._workflows.record(run.event)
        finished: dict[str, FinishedJob] = {}
        run_id = record.id if record else run.event.id
        for job in run.jobs:
            is_wanted = self._workflows.is_wanted(run, job)
            if job.condition and not is_wanted:
                self._workflows.keep_result(run, job, "skipped")
                continue
            finished[job.name] = self._job(run, job, run_id, skipped=not is_wanted)
            self.finished.append(finished[job.name])
            outcome = finished[job.name].outcome
            outputs = {name: {"outputs": given} for name, given in outcome.steps.items()}
            self._workflows.keep_outputs(run, job, outputs)
            self._workflows.keep_result(run, job, outcome.result)
        failed = any(job.outcome.result != "success" for job in finished.values())
        conclusion = "failure" if failed else "success"
        self._workflows.conclude(record, conclusion)
        self._workflows.record_completion(run, run_id, conclusion)
        return list(finished.values())

    def _job(self, run: Run, job: Job, run_id: int, *, skipped: bool) -> FinishedJob:
        event = run.event
        token = self._runner_environment.token(event, job)
        secrets = {} if is_restricted(event) else self._secrets
        contexts = self._runner_environment.contexts(run, token, secrets)
        environment = filled(job.environment, contexts)
        about = contexts["inputs"].get("environment", "")
        folder = self._new_folder(run.file, job.name, about)
        if skipped:
            outcome = act.SKIPPED
        else:
            variables = self._variables(run, job, environment, run_id)
            self.tokens |= {token, variables.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", token)}
            act_job = act.Job(
                name=job.name,
                workflow=job_file.alone(
                    self._file(run),
                    job.name,
                    self._folder / "artifacts",
                    self._workflows.needs(run),
                ),
                checkout=self._checkout(run, folder / "checkout"),
                event=event.name,
                payload=event.payload,
                actor=event.actor,
                secrets={"GITHUB_TOKEN": token, **secrets},
                variables={
                    **contexts["vars"],
                    **self._runner_environment.environment_variables(event, environment),
                },
                environment=variables,
            )
            outcome = self._runner.run(act_job, folder)
        (command,) = {step.action for step in job.steps if step.action not in ARTIFACT_ACTIONS}
        return FinishedJob(run, job.name, command, about, environment, outcome, folder)

    def _variables(self, run: Run, job: Job, environment: str, run_id: int) -> dict[str, str]:
        event = run.event
        of_sandbox = self._sandbox.environment()
        variables = {
            **{name: value for name, value in of_sandbox.items() if name not in OF_MACHINE},
            **self._environment,
            "GITHUB_REF": event.ref,
            "GITHUB_REPOSITORY": event.repository,
            "GITHUB_RUN_ATTEMPT": str(run.attempt),
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_RUN_NUMBER": str(run.number),
            "GITHUB_TRIGGERING_ACTOR": run.starter,
            "SHA_REF": event.commit,  # act's name for GITHUB_SHA
        }
        if job.permissions and ID_TOKEN in job.permissions:
            identity = JobIdentity(event.repository, environment, event.ref)
            variables |= self._sandbox.azure.job_environment(self._sandbox.url, identity)
        return variables

    def _file(self, run: Run) -> bytes:
        """Return the workflow's file, of the commit that GitHub uses."""
        return self._sandbox.git(run.event.repository).files(run.event.commit)[run.workflow.path]

    def _checkout(self, run: Run, folder: Path) -> Path:
        """Make a clone of the repository at the event's commit."""
        source = self._sandbox.git(run.event.repository).git_dir
        git(self._folder, "init", "--quiet", str(folder))
        git(folder, "fetch", "--quiet", "--depth=1", str(source), run.event.commit)
        git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        url = f"{self._sandbox.url}/{run.event.repository}"
        git(folder, "remote", "add", "origin", url)
        return folder

    def _new_folder(self, *names: str) -> Path:
        """Make the folder `<number>-<file>-<job>-<environment>` for the files of a job."""
        parts = [f"{len(self.finished) + 1:02}", *(name for name in names if name)]
        folder = self._folder / "-".join(parts)
        folder.mkdir(parents=True)
        return folder
