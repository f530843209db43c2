"""Acme, a small organisation in the sandbox, in which tests run the chain's commands as in jobs.

acme/control-plane   main (Environments dev, then stage; Templates; the registration `shop`;
                     workflow files), and the branches dev and stage, which have main's commit
acme/gitops          the branches dev and stage, without anything of ours
acme/shop            a registered application with the Workload `shop`
clusters             <environment>-<cluster type>, following acme/gitops

`founding` starts it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final, TypeVar

import urllib3
from jsonschema import Draft202012Validator

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.context import CommandContext, Runtime, open_context
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import GitHubInputs
from kalypso_actions.model.own_account import JOBS
from kalypso_actions.model.processes import no_progress
from kalypso_actions.runner import Runner, read_job_context
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure.clusters import Cluster, Configuration
from kalypso_sandbox.workflow_runner.clock import Clock
from tests.commands.chain.writes import RECORDS, recorded, written
from tools.reference.schemas import schema_of

CONTROL_PLANE: Final = "acme/control-plane"
GITOPS: Final = "acme/gitops"
EDGE: Final = "acme/gitops-edge"
SHOP: Final = "acme/shop"
ENVIRONMENTS: Final = ("dev", "stage")
CLUSTER_TYPES: Final = ("drone", "large")
NOON: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RUN: Final = 4711

Model = TypeVar("Model", bound=GitHubInputs)


@dataclass(frozen=True)
class Job:
    """The job of a command; the default for `commit` is the ref's head."""

    event: str = "workflow_dispatch"
    ref: str = "refs/heads/main"
    commit: str = ""
    repository: str = CONTROL_PLANE
    payload: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    actor: str = "somebody"
    triggering_actor: str = ""


@dataclass(frozen=True)
class Dispatch:
    """A started workflow: the name of its file, and the inputs with a value."""

    workflow: str
    inputs: Mapping[str, str]
    repository: str = CONTROL_PLANE
    ref: str = "main"


class Organisation:
    """Acme in a running sandbox; several threads can use it."""

    def __init__(self, sandbox: Sandbox, clock: Clock, folder: Path) -> None:
        self.sandbox = sandbox
        self.clock = clock
        self.folder = folder
        self.logged: list[str] = []
        """The lines that the commands logged."""
        self.token = sandbox.create_token(owner="acme")
        """A token with all permissions in acme."""
        self._pool = urllib3.PoolManager()

    def url(self, repository: str = CONTROL_PLANE) -> str:
        return f"{self.sandbox.url}/{repository}"

    # Commands

    def run(
        self,
        command: Callable[[Model, CommandContext], CommandResult],
        model: type[Model],
        *,
        job: Job | None = None,
        token: str = "",
        variables: Mapping[str, str] | None = None,
        **given: str,
    ) -> CommandResult:
        """Run a command with inputs as an action has them: texts (`_` stands for `-`).

        `variables` are added to the job's environment. The document is checked by its schema.
        Errors are raised.
        """
        written = {name.replace("_", "-"): value for name, value in given.items()}
        inputs = model.model_validate({"token": token or self.token, **written})
        environment = self.job_environment(job or Job()) | dict(variables or {})
        runtime = Runtime(
            environment=environment,
            programs=Programs(environment),
            runner=Runner(environment, StringIO()),
            job=read_job_context(environment),
            progress=no_progress,
            log=self.logged.append,
            now=self.clock,
            sleep=self.clock.sleep,
        )
        with open_context(inputs, runtime) as context:
            result = command(inputs, context)
        printed = json.loads(result.document.to_json())
        Draft202012Validator(schema_of(type(result.document))).validate(printed)
        return result

    def job_environment(self, job: Job) -> dict[str, str]:
        """Return the variables of a job, with those of the sandbox."""
        event = self.folder / f"event-{threading.get_ident()}.json"
        event.write_text(json.dumps(dict(job.payload)))
        branch = job.ref.removeprefix("refs/heads/")
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            **self.sandbox.environment(),
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": job.repository,
            "GITHUB_REF": job.ref,
            "GITHUB_SHA": job.commit or self.head(branch, job.repository) or "",
            "GITHUB_EVENT_NAME": job.event,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_ACTOR": job.actor,
            "GITHUB_TRIGGERING_ACTOR": job.triggering_actor,
            "GITHUB_RUN_ID": str(RUN),
            "GITHUB_RUN_ATTEMPT": str(job.attempt),
        }

    @property
    def run_url(self) -> str:
        """The page of the run for commands in the control plane."""
        return f"{self.url()}/actions/runs/{RUN}"

    # People

    def commit(
        self,
        files: Mapping[str, str | bytes | None],
        branch: str = "main",
        repository: str = CONTROL_PLANE,
    ) -> str:
        """Push a change as a person (None deletes a file); return the commit."""
        return self.sandbox.commit(repository, files, branch=branch)

    def reset(self, branch: str, commit: str | None, repository: str = CONTROL_PLANE) -> None:
        """Set a branch to a commit by force, or delete it (None), without an event."""
        git = self.sandbox.git(repository)
        with self.sandbox.lock:
            assert git.update_ref(f"refs/heads/{branch}", commit, git.head(branch))

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """Send a person's request to the API below `/repos/`; return the JSON."""
        answer = self._pool.request(
            method,
            f"{self.sandbox.api_url}/repos/{path}",
            json=body,
            headers={"authorization": f"Bearer {token or self.token}"},
            timeout=60,
            retries=False,
        )
        assert answer.status < 400, answer.data.decode()
        return answer.json() if answer.data else None

    def merge(self, number: int, repository: str = GITOPS) -> str:
        """Merge a pull request as a person; return the merge commit."""
        return str(self.ask("PUT", f"{repository}/pulls/{number}/merge", {})["sha"])

    def pull(self, head: str, base: str = "main", repository: str = CONTROL_PLANE) -> int:
        """Open a pull request as a person; return its number."""
        body = {"title": head, "head": head, "base": base}
        return int(self.ask("POST", f"{repository}/pulls", body)["number"])

    def close(self, number: int, repository: str = GITOPS) -> None:
        """Close a pull request or an issue as a person."""
        self.ask("PATCH", f"{repository}/issues/{number}", {"state": "closed"})

    def status(self, commit: str, context: str, description: str, state: str = "pending") -> None:
        """Post a status on a commit of the control plane, as an earlier run would."""
        body = {"context": context, "description": description, "state": state}
        token = self.sandbox.create_token("user", None, login=JOBS, owner="acme")
        self.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)

    def cluster(self, environment: str, cluster_type: str, **configuration: Any) -> Cluster:
        """Add a cluster that follows the GitOps branch of an environment."""
        follows = {
            "repository": GITOPS,
            "branch": environment,
            "paths": [f"./{cluster_type}"],
            **configuration,
        }
        name = f"{environment}-{cluster_type}"
        made = Cluster(name=name, configurations=[Configuration.model_validate(follows)])
        return self.sandbox.azure.put(made)

    # The present state

    def head(self, branch: str, repository: str = CONTROL_PLANE) -> str | None:
        return self.sandbox.git(repository).head(branch)

    def files(self, branch: str, repository: str = CONTROL_PLANE) -> dict[str, str]:
        """Return the files of a branch by path."""
        files = self.sandbox.git(repository).files(branch)
        return {path: content.decode() for path, content in files.items()}

    def statuses(self, commit: str, repository: str = CONTROL_PLANE) -> dict[str, tuple[str, str]]:
        """Return state and description of the latest statuses of a commit, by context.

        Records of starts are left out.
        """
        every = self._latest_statuses(commit, repository)
        return {name: status for name, status in every.items() if not name.startswith(RECORDS)}

    def records(self, commit: str) -> dict[str, tuple[str, str]]:
        """Return the latest records of starts on a commit of the control plane, by context."""
        every = self._latest_statuses(commit)
        return {name: status for name, status in every.items() if name.startswith(RECORDS)}

    def _latest_statuses(
        self, commit: str, repository: str = CONTROL_PLANE
    ) -> dict[str, tuple[str, str]]:
        with self.sandbox.lock:
            every = self.sandbox.repository(repository).statuses
            return {
                status.context: (status.state, status.description or "")
                for status in every
                if status.commit == commit
            }

    def status_links(self, commit: str) -> set[str]:
        """Return the links of all statuses of a commit; "" for a status without one."""
        with self.sandbox.lock:
            every = self.sandbox.repository(CONTROL_PLANE).statuses
            return {status.target_url or "" for status in every if status.commit == commit}

    def status_history(self, commit: str) -> list[tuple[str, str]]:
        """Return context and description of all statuses of a commit, oldest first.

        Records of starts are left out.
        """
        with self.sandbox.lock:
            every = self.sandbox.repository(CONTROL_PLANE).statuses
            return [
                (status.context, status.description or "")
                for status in every
                if status.commit == commit and not status.context.startswith(RECORDS)
            ]

    def dispatches(self) -> list[Dispatch]:
        """Return the workflows that dispatches started, earliest first in each repository."""
        with self.sandbox.lock:
            return [
                Dispatch(
                    run.workflow.rpartition("/")[2],
                    {name: value for name, value in run.inputs.items() if value},
                    repository.full_name,
                    run.ref.removeprefix("refs/heads/"),
                )
                for repository in self.sandbox.store.repositories.values()
                for run in repository.runs
            ]

    def pulls(self, repository: str = GITOPS, state: str = "open") -> list[Any]:
        """Return the pull requests as the API returns them, oldest first."""
        pulls = self.ask("GET", f"{repository}/pulls?state={state}&per_page=100")
        return sorted(pulls, key=lambda pull: pull["number"])

    def issues(self, repository: str = GITOPS, state: str = "open") -> list[Any]:
        """Return the issues without pull requests, oldest first."""
        issues = self.ask("GET", f"{repository}/issues?state={state}&per_page=100")
        issues = [issue for issue in issues if "pull_request" not in issue]
        return sorted(issues, key=lambda issue: issue["number"])

    def comments(self, number: int, repository: str = GITOPS) -> list[str]:
        """Return the comments on an issue or pull request, oldest first."""
        comments = self.ask("GET", f"{repository}/issues/{number}/comments?per_page=100")
        return [comment["body"] for comment in comments]

    # Traffic

    def forget(self) -> None:
        """Forget the traffic so far."""
        self.sandbox.traffic.clear()

    def writes(self) -> list[str]:
        """Return the writes since `forget`: `POST <path>`, `push <repository>`.

        Records of starts are left out.
        """
        return [
            text
            for exchange in self.sandbox.traffic
            if (text := written(exchange)) and not recorded(exchange)
        ]

    def recorded(self) -> list[str]:
        """Return the contexts of the records of starts that were posted since `forget`."""
        return [name for exchange in self.sandbox.traffic if (name := recorded(exchange))]
