"""The jobs of workflows, each run by act with what GitHub would give it.

Of its own, act knows neither permissions nor environments: a job's token, its variables and its
identity towards Azure are made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kalypso_actions.sandbox import Sandbox
from kalypso_actions.sandbox.azure import Job as AzureJob
from kalypso_actions.sandbox.workflow_runner import expressions
from kalypso_actions.sandbox.workflow_runner.runner_environment import ID_TOKEN, RunnerEnvironment
from kalypso_actions.sandbox.workflow_runner.runs import Run, WorkflowRunner
from kalypso_actions.sandbox.workflow_runner.workflow_files import Job
from tests.e2e import act, job_file
from tests.e2e.act import Act, JobRun
from tests.git_repositories import git

OF_MACHINE: Final = ("IDENTITY_ENDPOINT", "IDENTITY_HEADER")
"""A hosted runner has no identity in Azure: jobs sign in by what GitHub says of them."""


@dataclass(frozen=True, slots=True)
class Done:
    """A job that act has run, or that was skipped because one before it has failed.

    `command` is Kalypso's, `environment` the one that the run is about, `deploys_to` the GitHub
    environment that the job is in.
    """

    run: Run
    name: str
    command: str
    environment: str
    deploys_to: str
    ended: JobRun
    folder: Path


class Jobs:
    """Runs what the events of a sandbox have started; keeps what each job leaves in `folder`.

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
        self.done: list[Done] = []
        self.tokens: set[str] = set()
        """Every text that was given to a job and must not be read in any log."""

    def run(self, run: Run) -> list[Done]:
        """Run the jobs of a workflow in the order of their needs; what came of each.

        A job is skipped unless all that it needs have succeeded.
        """
        record = self._workflows.record(run.event)
        ended: dict[str, Done] = {}
        for job in run.workflow.jobs:
            may_run = all(ended[name].ended.result == "success" for name in job.needs)
            done = self._job(run, job, record.id if record else run.event.id, skipped=not may_run)
            ended[job.name] = done
            self.done.append(done)
        failed = any(done.ended.result != "success" for done in ended.values())
        self._workflows.conclude(record, "failure" if failed else "success")
        return list(ended.values())

    def _job(self, run: Run, job: Job, run_id: int, *, skipped: bool) -> Done:
        event = run.event
        token = self._runner_environment.token(event, job)
        contexts = self._runner_environment.contexts(event, token, self._secrets)
        environment = expressions.filled(job.environment, contexts)
        about = contexts["inputs"].get("environment", "")
        folder = self._new_folder(run.file, job.name, about)
        if skipped:
            ended = act.SKIPPED
        else:
            given = {"GITHUB_TOKEN": token, **self._secrets}
            variables = self._variables(run, job, environment, run_id)
            self.tokens |= {token, variables.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", token)}
            wanted = act.Job(
                name=job.name,
                workflow=job_file.alone(self._file(run), job.name),
                checkout=self._checkout(run, folder / "checkout"),
                event=event.name,
                payload=event.payload,
                actor=event.actor,
                secrets=given,
                variables={
                    **contexts["vars"],
                    **self._runner_environment.environment_variables(event, environment),
                },
                environment=variables,
            )
            ended = self._runner.run(wanted, folder)
        command = job.steps[-1].action
        return Done(run, job.name, command, about, environment, ended, folder)

    def _variables(self, run: Run, job: Job, environment: str, run_id: int) -> dict[str, str]:
        event = run.event
        of_sandbox = self._sandbox.environment()
        variables = {
            **{name: one for name, one in of_sandbox.items() if name not in OF_MACHINE},
            **self._environment,
            "GITHUB_REF": event.ref,
            "GITHUB_REPOSITORY": event.repository,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": str(run_id),
            "SHA_REF": event.commit,  # act's name for GITHUB_SHA
        }
        if job.permissions and ID_TOKEN in job.permissions:
            identity = AzureJob(event.repository, environment, event.ref)
            variables |= self._sandbox.azure.job_environment(self._sandbox.url, identity)
        return variables

    def _file(self, run: Run) -> bytes:
        """The workflow's file, in the commit that GitHub takes it from."""
        return self._sandbox.git(run.event.repository).files(run.event.commit)[run.workflow.path]

    def _checkout(self, run: Run, folder: Path) -> Path:
        """A clone of the repository at the event's commit."""
        source = self._sandbox.git(run.event.repository).git_dir
        git(self._folder, "init", "--quiet", str(folder))
        git(folder, "fetch", "--quiet", "--depth=1", str(source), run.event.commit)
        git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        url = f"{self._sandbox.url}/{run.event.repository}"
        git(folder, "remote", "add", "origin", url)
        return folder

    def _new_folder(self, *names: str) -> Path:
        """`<number>-<file>-<job>-<environment>`, for what a job leaves."""
        parts = [f"{len(self.done) + 1:02}", *(name for name in names if name)]
        folder = self._folder / "-".join(parts)
        folder.mkdir(parents=True)
        return folder
