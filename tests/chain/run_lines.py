"""The names of a run in a story, and a line about each step."""

from __future__ import annotations

from kalypso_actions.report.chain_document import (
    CdDocument,
    CiDocument,
    NotifyDocument,
    PollDocument,
    StartScheduleDocument,
)
from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_actions.report.preview_document import PreviewCommentDocument, PreviewDocument
from kalypso_actions.report.rollback_document import RollbackDocument
from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_sandbox.workflow_runner.runs import CompletedStep, Run

REFUSED = 2

TO_DEV = ["ci: checked, starts dev", "cd dev: written", "schedule dev: created, promoted"]
FROM_DEV = [
    "notify: tells of dev",
    "check-promote dev: compliant, starts stage",
    "cd stage: written",
    "schedule stage: created, promoted",
]
IN_STAGE = ["notify: tells of stage", "check-promote stage: compliant"]
"""The runs of a commit that reaches stage without interruption, from merge to merge."""


def names_of(run: Run) -> set[str]:
    """Return the command of a run, alone and with its environment or branch."""
    command = run.jobs[0].steps[0].action
    inputs = run.event.payload.get("inputs") or {}
    pushed = run.event.ref.removeprefix("refs/heads/") if run.event.name == "push" else ""
    return {command, f"{command} {inputs.get('environment', pushed)}".strip()}


def full_name(run: Run) -> str:
    """Return the longest name of a run."""
    return max(names_of(run), key=len)


def line(done: CompletedStep) -> str:
    """Return `cd dev: written`, `check-promote dev: compliant, starts stage`, …"""
    match document := done.outcome.document:
        case _ if done.exit_code == REFUSED:
            ending = "refused"
        case CheckPromoteDocument():
            unfinished = "error" if done.exit_code else "goes on"
            ending = _starts(document.verdict or unfinished, document.promoted_to)
        case _ if done.exit_code:
            ending = "failed"
        case CiDocument():
            ending = _starts("checked", document.environments)
        case CdDocument():
            ending = document.action
        case ScheduleDocument():
            actions = [entry.action for entry in document.pull_requests] or ["unchanged"]
            ending = ", ".join([*actions, *(["promoted"] if document.promoted else [])])
        case NotifyDocument():
            told = "promotion of" if document.promoted else "tells of"
            ending = f"{told} {', '.join(document.environments) or 'nothing'}"
        case PollDocument():
            ending = _starts("polled", document.environments)
        case StartScheduleDocument():
            ending = f"for {', '.join(document.environments) or 'nothing'}"
        case _:
            ending = _ended(document)
    name = " ".join(filter(None, (done.command, done.environment)))
    return f"{name}: {ending}"


def _ended(document: object) -> str:
    """Return the ending of a rollback, a preview, or the job that comments for it."""
    if isinstance(document, RollbackDocument):
        return "went back" if document.changed else "unchanged"
    if isinstance(document, PreviewDocument):
        return f"comment {document.comment}"
    assert isinstance(document, PreviewCommentDocument)
    return document.action or document.reason


def _starts(ending: str, environments: tuple[str, ...]) -> str:
    return f"{ending}, starts {', '.join(environments)}" if environments else ending
