"""The step summary of `kalypso schedule`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kalypso_actions.report import markdown
from kalypso_actions.report.assignment_matrix import AssignmentCell, assignment_matrix
from kalypso_actions.report.documents import LeftOutEntry
from kalypso_actions.report.markdown import CommitLink
from kalypso_actions.report.schedule_document import PullRequestEntry, ScheduleDocument

MOST_LINES = 500


@dataclass(frozen=True, slots=True)
class ScheduleFacts:
    """Facts that the document lacks.

    `branches` are the GitOps branches, `removed` the folders that a mass removal would delete.
    `stopped` means that people have rejected the proposal. `started` are the URLs of
    check-promote's runs, `cells` the assignments. `earlier_run` is the page of a run with the same
    inputs, which this run repeats.
    """

    main: CommitLink | None = None
    branches: Sequence[str] = ()
    removed: Sequence[str] = ()
    stopped: bool = False
    started: Sequence[str] = ()
    cells: Sequence[AssignmentCell] = ()
    earlier_run: str = ""


def schedule_summary(document: ScheduleDocument, facts: ScheduleFacts) -> str:
    """Return the step summary."""
    manifests = (
        f"as {markdown.link('an earlier run', facts.earlier_run)} has left them"
        if facts.earlier_run
        else document.changes.counts()
    )
    rows = [
        ("Environment", markdown.code(document.environment)),
        ("Commit of main", _main(document, facts)),
        ("Assignments", str(document.assignments)),
        ("Manifests", manifests),
        ("GitOps", ", ".join(map(markdown.code, facts.branches))),
    ]
    if facts.started:
        runs = ", ".join(markdown.link("check-promote", url) for url in facts.started)
        rows.append(("Started", runs))
    parts = [
        f"## kalypso schedule: {markdown.text(headline(document, facts))}",
        *_next(document, facts),
        markdown.properties([row for row in rows if row[1]]),
        _pull_requests(document.pull_requests),
        _removed(facts.removed),
        _left_out(document.left_out),
        assignment_matrix(facts.cells),
        markdown.findings(document.findings),
    ]
    return "\n\n".join(part for part in parts if part)


def headline(document: ScheduleDocument, facts: ScheduleFacts) -> str:
    """Return the result as a line of plain text."""
    name = document.environment
    if facts.removed and document.problems:
        return f"{name} would lose many assignments: nothing was written"
    if document.problems and not document.pull_requests:
        return f"{name} is not proposed"
    done = [f"#{entry.number} {_done(entry)}" for entry in document.pull_requests]
    if done:
        return f"{name}: {', '.join(done)}"
    if facts.stopped:
        return f"the changes of {name} were rejected: nothing is proposed"
    return f"{name} is up to date: there is nothing to propose"


def _main(document: ScheduleDocument, facts: ScheduleFacts) -> str:
    """Link the commit of main, with the number of later commits of main."""
    if facts.main is None:
        return "none is named"
    if document.main is None:
        return str(facts.main)
    subject = markdown.text(document.main.subject)
    return f"{facts.main} {subject}: {markdown.text(document.main.distance)}"


def _done(entry: PullRequestEntry) -> str:
    return "is open already" if entry.action == "unchanged" else f"was {entry.action}"


def _next(document: ScheduleDocument, facts: ScheduleFacts) -> list[str]:
    """Return the next steps of people."""
    if facts.removed and document.problems:
        return [
            "If you want that, run schedule with `allow_removals` set. If not, find the change "
            "that removed the cluster types, the targets or the policies."
        ]
    waiting = [
        markdown.link(f"{entry.repository}#{entry.number}", entry.url)
        for entry in document.pull_requests
        if entry.action in {"created", "updated", "unchanged"} and not entry.auto_merge
    ]
    steps = []
    if waiting:
        steps.append(f"**Next:** review and merge {', '.join(waiting)}.")
    if facts.stopped:
        steps.append(
            "schedule does not propose again what people have closed or reverted. To propose it, "
            "run schedule with `force` set, promote another commit, or change the environment."
        )
    if facts.started:
        steps.append("check-promote waits for the clusters now.")
    if document.problems:
        steps.append("Solve the problems below; then push the solution, or run schedule again.")
    return steps


def _pull_requests(entries: Sequence[PullRequestEntry]) -> str:
    if not entries:
        return ""
    rows = [
        [
            markdown.text(entry.repository),
            markdown.link(f"#{entry.number}", entry.url),
            f"{entry.action}, GitHub merges it" if entry.auto_merge else entry.action,
        ]
        for entry in entries
    ]
    return markdown.table(("Repository", "Pull request", "What was done"), rows)


def _left_out(entries: Sequence[LeftOutEntry]) -> str:
    """Return the applications that are frozen or missing."""
    if not entries:
        return ""
    lines = [f"- {markdown.code(item.registration)} {item.text}" for item in entries]
    return "\n".join(
        ["**These registrations are left out:**", "", *markdown.some(lines, MOST_LINES)]
    )


def _removed(folders: Sequence[str]) -> str:
    if not folders:
        return ""
    lines = [f"- {markdown.code(folder)}" for folder in folders]
    title = "**These assignments would be removed:**"
    return "\n".join([title, "", *markdown.some(lines, MOST_LINES)])
