"""The demo's organisation with a complete set-up, and `kalypso doctor` on it."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import requests
from jsonschema import Draft202012Validator

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.organisation import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    GITOPS,
    create_organisation,
)
from kalypso_actions.commands.doctor import doctor
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.inputs.chain import DoctorInputs
from kalypso_actions.inputs.local import DemoClusterReports
from kalypso_actions.model.processes import no_progress
from kalypso_actions.report.doctor_document import DoctorDocument
from kalypso_actions.runner import Runner
from kalypso_sandbox import Sandbox
from kalypso_sandbox.azure import JobIdentity
from kalypso_sandbox.embedded import USUAL_LAG
from kalypso_sandbox.store import Environment, Repository
from kalypso_sandbox.workflow_runner.clock import Clock
from tests.chain.quick_reads import quick_reads
from tests.commands.chain.organisation import NOON
from tests.commands.preview_workflows import add_previews
from tests.git_repositories import programs
from tools.reference.schemas import schema_of

APP_KEY: Final = "KALYPSO_APP_PRIVATE_KEY"
NOTIFIER_KEY: Final = "KALYPSO_NOTIFIER_PRIVATE_KEY"


class Acme:
    """Acme, with a token that can read all settings."""

    def __init__(
        self,
        sandbox: Sandbox,
        clock: Callable[[], datetime],
        folder: Path,
        cluster_reports: DemoClusterReports = "azure-resource-graph",
    ) -> None:
        self.sandbox = sandbox
        self.clock = clock
        self.folder = folder
        self.log: list[str] = []
        self.token = sandbox.create_token(owner="acme")
        secrets = create_organisation(sandbox, cluster_reports)
        self.key = secrets[APP_KEY]
        add_previews(sandbox)
        _pin_actions(sandbox)
        with sandbox.lock:
            self.control_plane.secrets += [name for name in secrets if name != NOTIFIER_KEY]
            self.gitops.secrets.append(NOTIFIER_KEY)
            for number, name in enumerate(ENVIRONMENTS):
                self.control_plane.environments[name] = Environment(
                    id=100 + number, name=name, created_at=clock()
                )
        self.azure = {
            name.lower().replace("_", "-"): value
            for name, value in self.control_plane.variables.items()
            if name.startswith("AZURE_")
        }
        self.reporting = {
            name.removeprefix("KALYPSO_").lower().replace("_", "-"): value
            for name, value in (self.control_plane.variables | secrets).items()
            if name.startswith(("KALYPSO_CLUSTER", "KALYPSO_STATUS", "KALYPSO_ARGOCD"))
        }
        """The inputs of a source of cluster reports other than Azure."""

    @property
    def control_plane(self) -> Repository:
        return self.sandbox.repository(CONTROL_PLANE)

    @property
    def gitops(self) -> Repository:
        return self.sandbox.repository(GITOPS)

    @property
    def app_id(self) -> str:
        return self.control_plane.variables["KALYPSO_APP_ID"]

    @property
    def variables(self) -> dict[str, str]:
        """The variables of a machine that uses the sandbox as GitHub and Azure."""
        job = JobIdentity(CONTROL_PLANE, ENVIRONMENTS[0], "refs/heads/main")
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            **self.sandbox.environment(),
            **self.sandbox.azure.job_environment(self.sandbox.url, job),
        }

    def doctor(self, reports: ClusterReports | None = None, **given: Any) -> DoctorDocument:
        """Run doctor with a token that can read everything, with the App and Azure."""
        options = {
            "token": self.token,
            "control-plane": CONTROL_PLANE,
            "app-id": self.app_id,
            "app-private-key": self.key,
            **self.azure,
            **self.reporting,
            **{name.replace("_", "-"): value for name, value in given.items()},
        }
        inputs = DoctorInputs.model_validate(options)
        document = doctor(inputs, self._runtime(), reports, lambda *_: True)
        Draft202012Validator(schema_of(DoctorDocument)).validate(json.loads(document.to_json()))
        return document

    def ask(self, method: str, path: str, body: Any) -> Any:
        """Send a request with the same token."""
        headers = {"authorization": f"Bearer {self.token}"}
        url = self.sandbox.api_url + path
        answer = requests.request(method, url, json=body, headers=headers, timeout=60)
        answer.raise_for_status()
        return answer.json()

    def _runtime(self) -> Runtime:
        variables = self.variables
        return Runtime(
            environment=variables,
            programs=Programs(variables),
            runner=Runner(variables, io.StringIO()),
            progress=no_progress,
            log=self.log.append,
            now=self.clock,
            sleep=self.clock.sleep if isinstance(self.clock, Clock) else lambda _: None,
        )


@contextmanager
def acme(
    folder: Path,
    now: Callable[[], datetime] | None = None,
    cluster_reports: DemoClusterReports = "azure-resource-graph",
) -> Iterator[Acme]:
    """Yield Acme in a sandbox of its own, by default with a clock that does not wait."""
    clock, lag = now or Clock(NOON), 0.0 if now else USUAL_LAG
    with Sandbox(folder / "sandbox", programs(), now=clock, sign_in=True, lag=lag) as sandbox:
        acme = Acme(sandbox, clock, folder, cluster_reports)
        with quick_reads(sandbox):
            yield acme


def lines(document: DoctorDocument, *states: str) -> list[str]:
    """Return the checks of these states, by default all, as lines."""
    return [
        f"{check.state} {check.place}: {check.text}"
        for check in document.checks
        if check.state in (states or ("ok", "warning", "problem"))
    ]


def _pin_actions(sandbox: Sandbox) -> None:
    """Use the actions by a commit, as init writes it."""
    pinned = f"@{'c' * 40} # v0.1.0\n"
    for repository in (CONTROL_PLANE, GITOPS):
        for branch in ("main", *ENVIRONMENTS):
            files = sandbox.git(repository).files(branch).items()
            changes = {
                path: content.decode().replace("@v0\n", pinned)
                for path, content in files
                if path.startswith(".github/workflows/")
            }
            sandbox.commit(repository, changes, branch=branch)
