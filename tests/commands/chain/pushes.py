"""Pushes to a GitOps branch, and runs of notify."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalypso_actions.commands.notify import notify
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import NotifyInputs
from kalypso_actions.report.chain_document import NotifyDocument
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Dispatch, Job, Organisation

DEV = "dev environment"


def pushed(acme: Organisation, repository: str = GITOPS) -> Mapping[str, Any]:
    """Return the payload of the latest push."""
    with acme.sandbox.lock:
        events = [
            event
            for event in acme.sandbox.store.events
            if (event.name, event.repository) == ("push", repository)
        ]
    payload: Mapping[str, Any] = events[-1].payload
    return payload


def run(
    acme: Organisation,
    payload: Mapping[str, Any] | None = None,
    repository: str = GITOPS,
    **inputs: Any,
) -> CommandResult:
    """Run notify on the latest push, or another one."""
    payload = pushed(acme, repository) if payload is None else payload
    job = Job("push", payload.get("ref", ""), payload.get("after", ""), repository, payload)
    return acme.run(notify, NotifyInputs, job=job, control_plane=CONTROL_PLANE, **inputs)


def document(result: CommandResult) -> NotifyDocument:
    assert isinstance(result.document, NotifyDocument)
    return result.document


def checks(merged: str, promoted: str = "", environment: str = "dev") -> Dispatch:
    given = {
        "environment": environment,
        "promoted_commit_id": promoted,
        "commit_id": merged,
        "gitops_repository": GITOPS,
    }
    return Dispatch("check-promote.yaml", {key: value for key, value in given.items() if value})


def starts(acme: Organisation) -> list[Dispatch]:
    """Return the starts since `forget`."""
    notified = acme.dispatches()
    with acme.sandbox.lock:
        acme.sandbox.repository(CONTROL_PLANE).runs.clear()
    return notified
