"""The environment of a job: its token, its variables, and the contexts of its expressions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from kalypso_actions.clients.process import INHERITED
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import JobIdentity
from kalypso_sandbox.git.repositories import BRANCHES
from kalypso_sandbox.store import Event, Permissions
from kalypso_sandbox.workflow_runner.jobs import Job

ID_TOKEN: Final = "id_token"  # noqa: S105 - the name of a permission
DEPENDABOT: Final = "dependabot[bot]"


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

    def contexts(self, event: Event, token: str, secrets: Mapping[str, str]) -> dict[str, Any]:
        """Return the contexts of expressions; `vars` are the repository's."""
        repository = self._sandbox.repository(event.repository)
        return {
            "github": {
                "actor": event.actor,
                "event": event.payload,
                "event_name": event.name,
                "ref": event.ref,
                "ref_name": event.ref.removeprefix(BRANCHES),
                "repository": repository.full_name,
                "repository_owner": repository.owner,
                "sha": event.commit,
                "token": token,
                "triggering_actor": event.actor,
            },
            "inputs": event.payload.get("inputs") or {},
            "vars": dict(repository.variables),
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
