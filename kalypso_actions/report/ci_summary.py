"""What `kalypso ci` tells people: its page, and the description of its status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kalypso_actions.model.counts import counted
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_documents import CheckedEntry, CiDocument
from kalypso_actions.report.documents import ChangesEntry

MOST_PATHS = 100
"""Of each environment; more are only counted."""


@dataclass(frozen=True, slots=True)
class CiFacts:
    """What the page tells besides the document.

    `repository_url` is the control plane's; `started` are the pages of cd's runs, by environment.
    """

    repository_url: str
    started: Sequence[tuple[str, str]] = ()


def changes_entry(changes: TreeChanges) -> ChangesEntry:
    """What changes but for the file that tracks the commit: that one changes with every commit."""

    def kept(paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if not path.endswith(PROMOTED_COMMIT_FILE))

    return ChangesEntry(
        added=kept(changes.added),
        modified=kept(changes.modified),
        deleted=kept(changes.deleted),
        unchanged=kept(changes.unchanged),
    )


def ci_headline(document: CiDocument) -> str:
    """What came of it, in a line of plain text; the description of the status."""
    if document.problems:
        return counted(len(document.problems), "problem") + _warnings(document)
    rendered = [one for one in document.checked if one.assignments is not None]
    assignments = sum(one.assignments or 0 for one in rendered)
    found = f"{counted(assignments, 'assignment')} in {counted(len(rendered), 'environment')}"
    return found + _warnings(document)


def ci_summary(document: CiDocument, facts: CiFacts) -> str:
    """The page for the step's summary."""
    commit = markdown.link(document.commit[:7], f"{facts.repository_url}/commit/{document.commit}")
    parts = [
        f"## kalypso ci: {markdown.text(ci_headline(document))}",
        f"Checked {commit}, and what each environment becomes with it.",
        _table(document, facts) if document.checked else "",
        _next(facts, failed=bool(document.problems)),
        markdown.findings(document.warnings, document.problems),
        markdown.notes(document.notes),
        *(_paths(one) for one in document.checked),
    ]
    return "\n\n".join(part for part in parts if part)


def _table(document: CiDocument, facts: CiFacts) -> str:
    head = ("Environment", "Has", "Assignments", "Added", "Modified", "Deleted", "Problems")
    return markdown.table(head, (_row(one, facts) for one in document.checked))


def _row(one: CheckedEntry, facts: CiFacts) -> tuple[str, ...]:
    has = markdown.link(one.has[:7], f"{facts.repository_url}/commit/{one.has}") if one.has else "–"
    changes = one.changes
    counts = (
        (str(len(changes.added)), str(len(changes.modified)), str(len(changes.deleted)))
        if changes
        else ("?", "?", "?")
    )
    assignments = "not rendered" if one.assignments is None else str(one.assignments)
    found = f"{one.problems} ({counted(one.warnings, 'warning')})"
    return (markdown.code(one.environment), has, assignments, *counts, found)


def _next(facts: CiFacts, *, failed: bool) -> str:
    if failed:
        return "**Next:** correct the problems; the commit is not promoted."
    if facts.started:
        runs = ", ".join(markdown.link(name, url) for name, url in facts.started)
        return f"Started cd for {runs}."
    return ""


def _paths(one: CheckedEntry) -> str:
    changes = one.changes
    if changes is None or not (changes.added or changes.modified or changes.deleted):
        return ""
    lines = [
        f"- {what} {markdown.code(path)}"
        for what, paths in (
            ("deleted", changes.deleted),
            ("modified", changes.modified),
            ("added", changes.added),
        )
        for path in paths
    ]
    name = markdown.html_text(one.environment)
    return markdown.details(
        f"Files that change in {name}", "\n".join(markdown.some(lines, MOST_PATHS))
    )


def _warnings(document: CiDocument) -> str:
    return f", {counted(len(document.warnings), 'warning')}" if document.warnings else ""
