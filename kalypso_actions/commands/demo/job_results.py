"""The results of a workflow's steps, in words."""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.report.cd_document import CdDocument
from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_actions.report.ci_document import CiDocument
from kalypso_actions.report.documents import CHANGES
from kalypso_actions.report.markdown import plain
from kalypso_actions.report.notify_document import NotifyDocument
from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_actions.report.start_schedule_document import StartScheduleDocument
from kalypso_sandbox.workflow_runner.runs import CompletedStep

PROGRESS: Final = re.compile(r"compliant (?P<share>\d+/\d+)(?P<others>.*)")
"""The lines in which check-promote reports the clusters' states."""


def ending(done: CompletedStep) -> str:
    """Return the result of a step in a word."""
    word: str
    match document := done.outcome.document:
        case CheckPromoteDocument() if document.verdict:
            word = document.verdict
        case _ if done.exit_code:
            word = "failed"
        case CiDocument():
            word = "promoted" if document.environments else "checked"
        case CdDocument():
            word = document.action
        case ScheduleDocument():
            word = document.pull_requests[0].action if document.pull_requests else "unchanged"
            word += ", promoted" if document.promoted else ""
        case NotifyDocument():
            word = "promotion" if document.promoted else "configuration"
        case StartScheduleDocument() if document.environments:
            word = "started"
        case _:
            word = "done"
    return word


def environment(done: CompletedStep) -> str:
    """Return the environments of a step; "" for all."""
    document = done.outcome.document
    if isinstance(document, StartScheduleDocument):
        return ", ".join(document.environments)
    return done.environment


def headline(done: CompletedStep) -> str:
    """Return the heading of a step's summary."""
    first = done.outcome.summary.partition("\n")[0]
    return plain(first.removeprefix(f"## kalypso {done.command}").removeprefix(":"))


def links(done: CompletedStep) -> tuple[str, ...]:
    """Return the URLs of a step's pull requests."""
    document = done.outcome.document
    if isinstance(document, ScheduleDocument):
        return tuple(pull.url for pull in document.pull_requests)
    return ()


def details(done: CompletedStep) -> tuple[str, ...]:
    """Return details that the headline lacks."""
    match document := done.outcome.document:
        case CiDocument(environments=started) if started:
            lines = [f"starts CD in {', '.join(started)}"]
        case CiDocument(problems=()):
            lines = ["only checks"]
        case ScheduleDocument(changes=changes):
            lines = [f"manifests: {changes.counts(*CHANGES)}"]
        case NotifyDocument(promoted=True, promoted_commit=commit):
            lines = [f"the promotion of {commit[:7]}"]
        case NotifyDocument():
            lines = ["a change of configuration, not promoted"]
        case CheckPromoteDocument(promoted_to=environments):
            lines = _progress(done)
            lines += [f"goes on to {', '.join(environments)}"] if environments else []
        case _:
            lines = []
    problems = [problem.message for problem in document.problems]
    return tuple(dict.fromkeys([*lines, *problems]))


def _progress(done: CompletedStep) -> list[str]:
    """Return the shares of compliant clusters over time, and the final states of the others."""
    reports = [report for line in done.lines if (report := PROGRESS.fullmatch(line))]
    if not reports:
        return []
    shares = dict.fromkeys(report["share"] for report in reports)
    return [f"compliant {' → '.join(shares)}{reports[-1]['others']}"]
