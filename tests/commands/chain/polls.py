"""Run poll in the organisation, and change its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from kalypso_actions.commands.poll import poll
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.schedule_sources import PresentInputs, read_inputs
from kalypso_actions.inputs.chain import PollInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.start_records import Kind, StartRecord, schedule_context
from kalypso_actions.report.chain_document import PollDocument, StartEntry
from kalypso_actions.report.pull_request import Mark
from tests.commands.chain import documents
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    GITOPS,
    SHOP,
    Organisation,
)

TEMPLATES = Path(__file__).parents[3] / "workflows-templates" / "control-plane"
WORKFLOWS = ("cd.yaml", "schedule.yaml", "check-promote.yaml")
LONG = 700
"""Seconds after which a start without a run counts as lost."""


def run(acme: Organisation, **inputs: Any) -> CommandResult:
    return acme.run(poll, PollInputs, **inputs)


def document(result: CommandResult) -> PollDocument:
    assert isinstance(result.document, PollDocument)
    return result.document


def started(result: CommandResult) -> list[tuple[str, str, int]]:
    """Return workflow, environment and attempt of all starts."""
    entries: tuple[StartEntry, ...] = document(result).started
    return [(entry.workflow, entry.environment, entry.attempt) for entry in entries]


def inputs_of(acme: Organisation, **given: Any) -> dict[str, PresentInputs]:
    """Return the inputs of the readable environments by name, as poll reads them."""
    inputs_by_name: dict[str, PresentInputs] = {}

    def look(_: PollInputs, context: CommandContext) -> CommandResult:
        read, _problems, _warnings = read_inputs(context, context.environments().values())
        inputs_by_name.update({environment.name: environment for environment in read})
        return CommandResult(PollDocument(), "")

    acme.run(look, PollInputs, **given)
    return inputs_by_name


def at_rest(
    acme: Organisation, *environments: str, kind: Kind = "scheduled", attempt: int = 0, **given: Any
) -> None:
    """Record the present inputs of these environments (by default all), as schedule would.

    `kind` and `attempt` change the record; `given` are inputs of poll.
    """
    for name, read in inputs_of(acme, **given).items():
        if name in (environments or ENVIRONMENTS):
            record = StartRecord(kind, read.digest, attempt)
            post(acme, read.head, record.status(schedule_context(name)))
    acme.forget()


def post(acme: Organisation, commit: str, status: CommitStatus) -> None:
    acme.status(commit, status.context, status.description, status.state)


def with_run_names(acme: Organisation) -> None:
    """Give the control plane's workflow files the run names of the templates."""
    files = {}
    for name in WORKFLOWS:
        template = yaml.safe_load((TEMPLATES / name).read_text())
        title = f"run-name: {template['run-name']}\n"
        path = f".github/workflows/{name}"
        files[path] = title + documents.workflow(*documents.WORKFLOWS[name])
    acme.commit(files)


def start_run(acme: Organisation, workflow: str, status: Any = "queued", **inputs: str) -> int:
    """Start a workflow as a person; return the id of the unfinished run."""
    path = f"{CONTROL_PLANE}/actions/workflows/{workflow}/dispatches"
    acme.ask("POST", path, {"ref": "main", "inputs": inputs})
    number = acme.sandbox.runs(CONTROL_PLANE)[-1].id
    acme.sandbox.change_run(number, status)
    return number


def end_runs(acme: Organisation) -> None:
    """End all runs without any effect."""
    for run in acme.sandbox.runs(CONTROL_PLANE):
        acme.sandbox.change_run(run.id, "completed", "cancelled")


def propose(
    acme: Organisation,
    environment: str = "dev",
    *,
    files: dict[str, str | None] | None = None,
    **mark: Any,
) -> int:
    """Open a pull request of ours into a GitOps branch; return its number."""
    branch = f"kalypso/{environment}"
    acme.reset(branch, acme.head(environment, GITOPS), GITOPS)
    head = acme.commit(dict(files or {"large/README.md": "New.\n"}), branch, GITOPS)
    text = f"{Mark(environment, head, **mark)}\nThis PR updates the manifests.\n"
    body = {"title": "Update", "head": branch, "base": environment, "body": text}
    return int(acme.ask("POST", f"{GITOPS}/pulls", body)["number"])


def push_to_shop(acme: Organisation, path: str = "workload/shop.yaml", text: str = "") -> None:
    """Push a change to the shop's repository."""
    content = text or documents.workload("shop", "https://x", ("dev",))
    acme.commit({path: content}, repository=SHOP)


def asked(acme: Organisation, template: str) -> int:
    return len([exchange for exchange in acme.sandbox.traffic if exchange.template == template])
