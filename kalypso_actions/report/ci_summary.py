"""The step summary of `kalypso ci`, and the description of its status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kalypso_actions.model.counts import counted
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.ci_document import CheckedEntry, CiDocument
from kalypso_actions.report.documents import ChangesEntry
from kalypso_actions.report.pipeline_diagram import MAIN, Mark, PipelineNode, pipeline_diagram

MOST_PATHS = 100
"""The most paths to list for each environment."""


@dataclass(frozen=True, slots=True)
class CiFacts:
    """Facts that the document lacks.

    `repository_url` is that of the control plane; `started` are environments with the URLs of cd's
    runs; `arrows` lead from main ("") and each environment to the next ones.
    """

    repository_url: str
    started: Sequence[tuple[str, str]] = ()
    arrows: Sequence[tuple[str, str]] = ()


def changes_entry(changes: TreeChanges) -> ChangesEntry:
    """Leave out the file that tracks the commit, which changes with every commit."""
    entry = ChangesEntry.model_validate(changes)
    return ChangesEntry(**{name: entry.manifests(name) for name in ChangesEntry.model_fields})


def ci_headline(document: CiDocument) -> str:
    """Return the result as a line of plain text, also the description of the status."""
    if document.problems:
        return counted(len(document.problems), "problem") + _warnings(document)
    assignments = [entry.assignments for entry in document.checked if entry.assignments is not None]
    total = counted(sum(assignments), "assignment")
    return f"{total} in {counted(len(assignments), 'environment')}{_warnings(document)}"


def ci_summary(document: CiDocument, facts: CiFacts) -> str:
    """Return the step summary."""
    commit = markdown.link(document.commit[:7], f"{facts.repository_url}/commit/{document.commit}")
    parts = [
        f"## kalypso ci: {markdown.text(ci_headline(document))}",
        f"Checked {commit} in each environment.",
        _table(document, facts) if document.checked else "",
        _diagram(document, facts),
        _next(facts, failed=bool(document.problems)),
        markdown.findings(document.all_findings),
        *map(_paths, document.checked),
    ]
    return "\n\n".join(part for part in parts if part)


def _table(document: CiDocument, facts: CiFacts) -> str:
    head = ("Environment", "Has", "Assignments", "Added", "Modified", "Deleted", "Problems")
    return markdown.table(head, (_row(entry, facts) for entry in document.checked))


def _row(entry: CheckedEntry, facts: CiFacts) -> tuple[str, ...]:
    promoted_commit = entry.has
    page = f"{facts.repository_url}/commit/{promoted_commit}"
    link = markdown.link(promoted_commit[:7], page) if promoted_commit else "–"
    changes = entry.changes
    counts = (
        (str(len(changes.added)), str(len(changes.modified)), str(len(changes.deleted)))
        if changes
        else ("?", "?", "?")
    )
    assignments = "not rendered" if entry.assignments is None else str(entry.assignments)
    problems = f"{entry.problems} ({counted(entry.warnings, 'warning')})"
    return (markdown.code(entry.environment), link, assignments, *counts, problems)


def _diagram(document: CiDocument, facts: CiFacts) -> str:
    """Draw the pipeline with the commits that the environments have."""
    started = {name for name, _ in facts.started}
    nodes = [PipelineNode(MAIN, document.commit[:7])]
    for entry in document.checked:
        mark: Mark = "failed" if entry.problems else ""
        is_started = entry.environment in started
        text = "cd is started" if is_started else f"has {entry.has[:7] or 'none'}"
        nodes.append(PipelineNode(entry.environment, text, "active" if is_started else mark))
    return pipeline_diagram(nodes, facts.arrows)


def _next(facts: CiFacts, *, failed: bool) -> str:
    if failed:
        return "**Next:** correct the problems; the commit is not promoted."
    if facts.started:
        runs = ", ".join(markdown.link(name, url) for name, url in facts.started)
        return f"Started cd for {runs}."
    return ""


def _paths(entry: CheckedEntry) -> str:
    changes = entry.changes
    if changes is None or not (changes.added or changes.modified or changes.deleted):
        return ""
    lines = [
        f"- {action} {markdown.code(path)}"
        for action, paths in (
            ("deleted", changes.deleted),
            ("modified", changes.modified),
            ("added", changes.added),
        )
        for path in paths
    ]
    name = markdown.html_text(entry.environment)
    return markdown.details(
        f"Files that change in {name}", "\n".join(markdown.some(lines, MOST_PATHS))
    )


def _warnings(document: CiDocument) -> str:
    return f", {counted(len(document.warnings), 'warning')}" if document.warnings else ""
