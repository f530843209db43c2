"""Pull requests of the control plane, and the jobs that preview them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kalypso_actions.commands.preview import preview
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import PreviewInputs
from kalypso_actions.report.preview_document import PreviewDocument
from kalypso_sandbox.github import events
from kalypso_sandbox.store import Event, Permissions
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, Job, Organisation

CONTEXT: Final = "kalypso / preview"


def propose(
    acme: Organisation,
    files: Mapping[str, str | bytes | None],
    *,
    base: str = "main",
    head: str = "change",
) -> int:
    """Open a pull request of the control plane with these changes; return its number."""
    acme.reset(head, acme.head(base))
    acme.commit(files, head)
    return acme.pull(head, base)


def setting(value: str) -> dict[str, str]:
    """Return a change of main that sets a configuration value of every environment."""
    return {"release.yaml": documents.config_map("base", RELEASE=value)}


def newest(acme: Organisation, name: str = "pull_request") -> Event:
    """Return the newest event of the control plane with this name."""
    with acme.sandbox.lock:
        return [event for event in acme.sandbox.store.events if event.name == name][-1]


def job_of(event: Event, **changes: Any) -> Job:
    """Return the job that an event starts."""
    job = Job(event.name, event.ref, event.commit, CONTROL_PLANE, event.payload)
    return dataclasses.replace(job, **changes)


def run(acme: Organisation, *, job: Job | None = None, **inputs: Any) -> CommandResult:
    """Preview the newest pull request as its job does."""
    return acme.run(preview, PreviewInputs, job=job or job_of(newest(acme)), **inputs)


def document(result: CommandResult) -> PreviewDocument:
    assert isinstance(result.document, PreviewDocument)
    return result.document


def fork_proposes(
    acme: Organisation, files: Mapping[str, str | bytes | None], *, owner: str = "mallory"
) -> int:
    """Open a pull request of a fork's main; return its number."""
    fork = f"{owner}/control-plane"
    if acme.sandbox.store.repository(fork) is None:
        acme.sandbox.fork(CONTROL_PLANE, owner)
    acme.commit(files, "main", fork)
    return acme.pull(f"{owner}:main")


READS: Final[Permissions] = {"contents": "read", "metadata": "read"}


def pending_artifact(acme: Organisation) -> Path:
    """Preview the newest pull request with a token that only reads; return the document's file."""
    token = acme.sandbox.create_token("actions", READS, owner="acme", repositories=[CONTROL_PLANE])
    run(acme, token=token, out=str(acme.folder / "artifact"))
    return acme.folder / "artifact" / "preview.json"


def job_after(acme: Organisation, **changes: Any) -> Job:
    """Return the job that the end of the newest preview starts, with changes of its run."""
    cause = newest(acme)
    with acme.sandbox.lock:
        repository = acme.sandbox.repository(CONTROL_PLANE)
        completed = events.CompletedRun(
            4711, ".github/workflows/preview.yaml", "Preview", "success"
        )
        events.workflow_run(acme.sandbox.store, repository, cause, completed)
    job = job_of(newest(acme, "workflow_run"))
    payload = {**job.payload, "workflow_run": {**job.payload["workflow_run"], **changes}}
    return dataclasses.replace(job, payload=payload)
