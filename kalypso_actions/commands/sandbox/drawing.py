"""The pipeline of a sandbox, as its first page shows it.

    embedded.draw = PipelineDrawing(embedded, os.environ)

It asks as `kalypso status --clusters` does, with a token of its own.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from kalypso_actions.clients.process import INHERITED, Programs
from kalypso_actions.commands.sandbox import HUB
from kalypso_actions.errors import Location
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.promotion_policy import Hold
from kalypso_actions.promotion.policy_file import with_hold
from kalypso_actions.report.pipeline_drawing import pipeline_html
from kalypso_actions.runner import Runner
from kalypso_sandbox.azure import JobIdentity

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import Runtime
    from kalypso_actions.report.status_document import StatusDocument
    from kalypso_sandbox import Sandbox
    from kalypso_sandbox.store import Repository

IDLE: Final = 15.0
"""Seconds after which the pipeline is read anew, although nothing has changed: waits end."""

ENVIRONMENT: Final = re.compile(rb"^kind: ['\"]?Environment\b", re.MULTILINE)
"""A line of a file on the main branch of a control plane."""

VARIABLES: Final = {
    "cluster-reports": "KALYPSO_CLUSTER_REPORTS",
    "status-authors": "KALYPSO_STATUS_AUTHORS",
    "argocd-servers": "KALYPSO_ARGOCD_SERVERS",
    "azure-scopes": "AZURE_SCOPES",
    "azure-client-id": "AZURE_CLIENT_ID",
    "azure-tenant-id": "AZURE_TENANT_ID",
}
"""The options that say where clusters report, and the variables of the control plane with them."""

HOLD: Final = Hold("say why", "somebody")
"""The hold that the page offers; the person of the pages is `somebody`."""

READER: Final = "sandbox-page"
"""The login whose token reads the pipeline."""

NOTHING: Final = (
    "<p>No repository has an Environment on its main branch yet. <code>kalypso init</code> sets a "
    "control plane up; <code>kalypso sandbox --sample --run</code> begins with one.</p>"
)


class PipelineDrawing:
    """Draws the pipelines of a sandbox's control planes; reads them only after a change."""

    def __init__(self, sandbox: Sandbox, machine: Mapping[str, str]) -> None:
        self._sandbox = sandbox
        self._machine = {name: text for name, text in machine.items() if name in INHERITED}
        self._tokens: dict[str, str] = {}
        self._seen: object = None
        self._seen_at = 0.0
        self._pipelines: dict[str, StatusDocument] = {}

    def __call__(self) -> str:
        """Return the drawing, with the ages of this moment."""
        seen = self._state()
        if seen != self._seen or time.monotonic() - self._seen_at > IDLE:
            self._pipelines = {name: self._read(name) for name in self._control_planes()}
            self._seen, self._seen_at = seen, time.monotonic()
        return "".join(map(self._draw, self._pipelines)) or NOTHING

    def _state(self) -> object:
        """Return what changes with everything that a pipeline shows."""
        with self._sandbox.lock:
            store = self._sandbox.store
            runs = (run for each in store.repositories.values() for run in each.runs)
            running = [(run.id, run.status) for run in runs if run.status != "completed"]
            states = self._sandbox.clusters.states()
            clusters = [(each.name, each.phase, each.applied, each.fault) for each in states]
            return store.next_id, store.saved_at, running, clusters

    def _control_planes(self) -> list[str]:
        """Return the repositories with an Environment on their default branch."""
        with self._sandbox.lock:
            return [
                repository.full_name
                for repository in self._sandbox.store.repositories.values()
                if any(map(ENVIRONMENT.search, self._documents(repository)))
            ]

    def _documents(self, repository: Repository) -> Iterator[bytes]:
        git = self._sandbox.store.git(repository)
        head = git.head(repository.default_branch)
        for path, content in (git.files(head) if head else {}).items():
            if path.endswith((".yaml", ".yml")):
                yield content

    def _read(self, control_plane: str) -> StatusDocument:
        # The command is slow to import, and other pages do not need it.
        from kalypso_actions.commands.report import read_pipeline  # noqa: PLC0415

        return read_pipeline(
            f"{self._sandbox.url}/{control_plane}",
            self._runtime(control_plane),
            self._options(control_plane),
        )

    def _draw(self, control_plane: str) -> str:
        now = {"at": self._sandbox.store.now}
        document = self._pipelines[control_plane].model_copy(update=now)
        heading = f"<h2>{html.escape(control_plane)}</h2>"
        drawing = pipeline_html(
            document,
            server=self._sandbox.url,
            hold=with_hold(None, HOLD, Location(control_plane)),
            clusters="/clusters",
        )
        return heading + drawing

    def _options(self, control_plane: str) -> dict[str, Any]:
        """Return the options that say where the clusters report, if the repository knows.

        Only a sandbox that runs workflows lets anybody sign in to Azure.
        """
        repository = self._sandbox.repository(control_plane)
        known = {**repository.shared_variables, **repository.variables}
        given = {name: known[key] for name, key in VARIABLES.items() if key in known}
        is_asked = bool(given) and ("azure-scopes" not in given or self._sandbox.state.runner)
        return {"clusters": True, **given} if is_asked else {}

    def _runtime(self, control_plane: str) -> Runtime:
        from kalypso_actions.commands.shared.context import Runtime  # noqa: PLC0415 - as above

        sandbox = self._sandbox
        if not self._tokens:
            self._tokens = {
                "KALYPSO_TOKEN": sandbox.create_token(login=READER),
                "KALYPSO_ARGOCD_TOKENS": sandbox.argocd.create_token(HUB),
            }
        identity = sandbox.azure.job_environment(sandbox.url, self._job(control_plane))
        environment = {**self._machine, **sandbox.environment(), **identity, **self._tokens}
        return Runtime(
            environment=environment,
            programs=Programs(environment),
            runner=Runner({}, StringIO()),
            progress=no_progress,
            log=lambda _: None,
            now=lambda: sandbox.store.now,
            sleep=time.sleep,
        )

    def _job(self, control_plane: str) -> JobIdentity:
        """Return a job that may sign in to Azure: one in the environment of a branch."""
        with self._sandbox.lock:
            repository = self._sandbox.repository(control_plane)
            main = repository.default_branch
            branches = sorted(self._sandbox.store.git(repository).branches())
        environment = next((name for name in branches if name != main), "")
        return JobIdentity(control_plane, environment, f"refs/heads/{main}")
