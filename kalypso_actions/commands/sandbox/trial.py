"""A sandbox that runs its workflows: the sample organisation, its secrets, and the runner.

with running(embedded, clock, inputs, machine, secrets):
    ...  # pushes, pull requests, dispatches and crons start the workflow files
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kalypso_actions.commands.registry import ACTIONS
from kalypso_actions.inputs.local import SandboxInputs

if TYPE_CHECKING:
    from kalypso_sandbox import Sandbox
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner, JobClock
    from kalypso_sandbox.workflow_runner.clock import FastClock
    from kalypso_sandbox.workflow_runner.runs import Execute

SPEED: Final = 20.0
"""The speed of the clock while workflows run: settle, grace and soak take seconds."""

COMMAND_INPUTS: Final = frozenset(
    {"generator-command", "post-deployment", "pre-deployment", "reports-command", "scan"}
)
"""The inputs of actions that name a command of the user."""

CLUSTERS: Final[Mapping[str, Mapping[str, int]]] = {
    "dev": {"drone": 2, "command-center": 1, "large": 1, "small": 1},
    "stage": {"drone": 1, "command-center": 1, "large": 1},
}
"""The clusters of the sample by environment and type."""

REGISTRATION: Final = "Register hello-world"
SECRETS_FILE: Final = "secrets.json"
RUNS: Final = "runs"
"""The folder with the logs and summaries of the steps."""

APP_KEY: Final = "KALYPSO_APP_PRIVATE_KEY"
NOTIFIER_KEY: Final = "KALYPSO_NOTIFIER_PRIVATE_KEY"


def create_sample(embedded: Sandbox, inputs: SandboxInputs, folder: Path) -> str:
    """Set the sample organisation up, unless the folder has it; return its App's private key.

    Its last commit registers an application, so that its chain begins with the runner.
    """
    # The import needs the sandbox's libraries.
    from kalypso_actions.commands.demo import organisation  # noqa: PLC0415

    if embedded.store.repository(organisation.CONTROL_PLANE) is not None:
        return ""
    secrets = organisation.create_organisation(
        embedded, inputs.cluster_reports, CLUSTERS, left_out=("report",)
    )
    _write_private(folder / SECRETS_FILE, secrets)
    with embedded.lock:
        embedded.store.events_run_until = max(event.id for event in embedded.store.events)
        files = organisation.change("registration", embedded)
        embedded.commit(organisation.CONTROL_PLANE, files, message=REGISTRATION)
    return secrets[APP_KEY]


def secrets_of(folder: Path, app_key: str, argocd_token: str) -> dict[str, str]:
    """Return the secrets of all jobs: those of the sample, else the key of the sandbox's App."""
    file = folder / SECRETS_FILE
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    secrets = {APP_KEY: app_key, NOTIFIER_KEY: app_key, **kept}
    return {**secrets, "KALYPSO_ARGOCD_TOKENS": argocd_token}


def share_variables(embedded: Sandbox, app: int, argocd: str) -> None:
    """Give every repository the variables of its workflows; those of a repository come first."""
    from kalypso_sandbox.azure.clusters import SUBSCRIPTION  # noqa: PLC0415

    with embedded.lock:
        for repository in embedded.store.repositories.values():
            repository.shared_variables |= {
                "AZURE_SCOPES": SUBSCRIPTION,
                "KALYPSO_APP_ID": str(app),
                "KALYPSO_ARGOCD_SERVERS": argocd,
                "KALYPSO_NOTIFIER_APP_ID": str(app),
            }
            if "KALYPSO_ARGOCD_SERVERS" in repository.variables:  # the port may be another one
                repository.variables["KALYPSO_ARGOCD_SERVERS"] = argocd
        embedded.store.save()


def running(
    embedded: Sandbox,
    clock: FastClock,
    inputs: SandboxInputs,
    machine: Mapping[str, str],
    secrets: Mapping[str, str],
    folder: Path,
) -> BackgroundRunner:
    """Return the runner of a sandbox's workflows, a context manager."""
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner  # noqa: PLC0415

    # Tokens last as long as on the machine: Azure's libraries compare them with its clock.
    embedded.azure.settings.token_lifetime = round(3600 * clock.speed)
    _register_identities(embedded)
    return BackgroundRunner(
        embedded,
        clock,
        machine,
        secrets,
        folder / RUNS,
        _in_process,
        actions=frozenset(ACTIONS),
        command_inputs=COMMAND_INPUTS,
        allow_commands=inputs.allow_commands,
    )


def _in_process(clock: JobClock) -> Execute:
    # The commands are slow to import, and the first page does not need them.
    from kalypso_actions.commands.demo.scenario_runner import InProcess  # noqa: PLC0415

    return InProcess(clock)


def _register_identities(embedded: Sandbox) -> None:
    """Let jobs sign in to Azure as their repositories' variables say, also after a new start."""
    with embedded.lock:
        for repository in embedded.store.repositories.values():
            client_id = repository.variables.get("AZURE_CLIENT_ID")
            if client_id and client_id not in embedded.azure.applications:
                branches = embedded.store.git(repository).branches()
                names = [name for name in branches if name != repository.default_branch]
                subjects = [f"repo:{repository.full_name}:environment:{name}" for name in names]
                embedded.azure.register(*subjects[:20], client_id=client_id)


def _write_private(file: Path, content: Any) -> None:
    file.touch(mode=0o600)
    file.write_text(json.dumps(content), encoding="utf-8")
