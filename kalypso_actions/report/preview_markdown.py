"""The comment of a preview on a pull request, and its step summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import Level
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.own_account import MARK as BEGINNING
from kalypso_actions.report import markdown
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.comparison_markdown import MOST_ROWS, add_comparison, withheld_numbers
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.markdown import COMMENT_ROOM, LEFT_OUT, MarkdownRoom
from kalypso_actions.report.preview_documents import (
    ArrivalEntry,
    PreviewDocument,
    PreviewEnvironmentEntry,
)

MARK: Final = f"{BEGINNING}kind=preview -->"

SUMMARY_ROOM: Final = 900_000
"""The most bytes of a summary; GitHub shows 1 MiB of a step."""

MOST_FINDINGS: Final = 30
"""The most problems, and the most warnings, in the comment."""

MOST_IN_SUMMARY: Final = 1_000
"""The most problems, and the most warnings, in the summary; the artifact has all."""

_COLUMNS: Final = (
    "Environment",
    "Assignments",
    "Files",
    "Values",
    "New problems",
    "New warnings",
    "Arrives",
)


@dataclass(frozen=True, slots=True)
class PreviewFacts:
    """Facts that the document lacks: the pages of the control plane and of the run.

    `is_of_author` means that the document comes from a job that ran content of the pull request's
    author.
    """

    repository_url: str
    run_url: str = ""
    is_of_author: bool = False


def preview_headline(document: PreviewDocument) -> str:
    """Return the result as a line of plain text, also the description of the status."""
    added, removed = document.assignments_added, document.assignments_removed
    if not document.compared and document.problems:
        return f"nothing was compared: {document.problems[0].message}"
    if not (document.environments or document.problems) and document.branch:
        return f"{document.branch} belongs to no environment"
    changes = [f"+{added} −{removed} assignments"] if added or removed else []
    if document.files_changed:
        names = [item.environment for item in document.environments if item.change.files_changed]
        changes.append(f"{counted(document.files_changed, 'changed file')} in {abbreviated(names)}")
    documents = {
        (change.kind, change.name)
        for item in document.environments
        for change in item.change.documents
    }
    if documents and not changes:
        changes = [counted(len(documents), "changed document")]
    findings = [
        counted(len(entries), f"new {name}")
        for name, entries in (("problem", document.problems), ("warning", document.warnings))
        if entries
    ]
    return "; ".join(filter(None, (", ".join(findings), ", ".join(changes)))) or "nothing changes"


def preview_comment(document: PreviewDocument, facts: PreviewFacts) -> str:
    """Return the comment, cut to the length that GitHub accepts."""
    return _page(document, facts, COMMENT_ROOM, "###", MOST_FINDINGS)


def preview_summary(document: PreviewDocument, facts: PreviewFacts) -> str:
    """Return the step summary, cut to the length that GitHub shows."""
    return _page(document, facts, SUMMARY_ROOM, "##", MOST_IN_SUMMARY)


def _page(
    document: PreviewDocument, facts: PreviewFacts, size: int, level: str, most_findings: int
) -> str:
    room = MarkdownRoom(size - LEFT_OUT)
    room.add(f"{level} Kalypso preview: {markdown.text(preview_headline(document))}")
    room.add(_compared(document, facts))
    for block in _attention(document, facts):
        room.add(block)
    if document.environments:
        room.add(_overview(document))
    _add_findings(room, document, most_findings)
    room.add(_not_compared(document))
    shown = [item for item in document.environments if _has_content(item)]
    for index, item in enumerate(shown):
        share = room.size // (len(shown) - index)
        _environment(room, item, share, level)
    if room.left_out:
        complete = "the complete preview is an artifact of the run"
        link = markdown.link(complete, f"{facts.run_url}#artifacts") if facts.run_url else complete
        room.blocks.append(f"_Not everything fits here: {link}._")
    return "\n\n".join(room.blocks)


def _compared(document: PreviewDocument, facts: PreviewFacts) -> str:
    def commit(name: str) -> str:
        return markdown.link(name[:7], f"{facts.repository_url}/commit/{name}")

    is_merge = document.pull_request is not None
    merge = f"the merge of {commit(document.head_commit)}" if is_merge else commit(document.head)
    branch = markdown.code(document.branch)
    # GitHub shows a fork's commits on pages of the control plane, too.
    base = markdown.code(document.base[:7]) if facts.is_of_author else commit(document.base)
    text = f"{branch} at {base}, compared with {merge}."
    known = [
        counted(number, name)
        for number, name in (
            (document.problems_known, "problem"),
            (document.warnings_known, "warning"),
        )
        if number
    ]
    if known:
        text += f" Not listed: {' and '.join(known)} of the base."
    return text


def _attention(document: PreviewDocument, facts: PreviewFacts) -> Iterator[str]:
    """Yield facts that reviewers may not expect."""
    if facts.is_of_author:
        yield "**The author of the pull request can change this preview.**"
    blocked = [markdown.code(item.environment) for item in document.environments if item.blocked]
    if blocked:
        names = ", ".join(markdown.some(blocked, MOST_ROWS))
        yield f"**Nothing arrives before the problems are fixed**, in {names}."
    for item in document.environments:
        if item.failure:
            name = markdown.code(item.environment)
            yield f"**The last deployment in {name} failed**: {markdown.text(item.failure)}"
    if document.settings:
        names = ", ".join(markdown.some([*map(markdown.code, document.settings)], MOST_ROWS))
        yield (
            f"**This change alters {names}.** GitHub runs the workflows of the merge: the settings "
            "of this preview, such as allowed-repositories, may be those of the change."
        )


def _overview(document: PreviewDocument) -> str:
    rows = [_row(item) for item in _some(document)]
    more = len(document.environments) - len(rows)
    table = markdown.table(_COLUMNS, rows)
    return f"{table}\n\n… and {counted(more, 'environment')} more" if more else table


def _some(document: PreviewDocument) -> Sequence[PreviewEnvironmentEntry]:
    return document.environments[: 4 * MOST_ROWS]


def _row(item: PreviewEnvironmentEntry) -> list[str]:
    change = item.change
    if not item.compared:
        cells = ["not compared", "", ""]
    else:
        added, removed = len(change.assignments_added), len(change.assignments_removed)
        cells = [
            f"+{added} −{removed}" if added or removed else "–",
            str(change.files_changed or "–"),
            str(change.values_changed or "–"),
        ]
    warnings = len(change.warnings) + bool(change.mass_removal)
    findings = [f"**{len(change.problems)}**" if change.problems else "–", str(warnings or "–")]
    state = " (added)" if item.added else " (removed)" if item.removed else ""
    return [f"{markdown.code(item.environment)}{state}", *cells, *findings, _when(item)]


def _when(item: PreviewEnvironmentEntry) -> str:
    arrival = item.arrival
    if item.removed:
        return "–"
    if item.blocked:
        return "**blocked by problems**"
    if arrival is None:
        return "with the merge"
    if arrival.is_first:
        return "first, after the merge"
    if arrival.after:
        return f"after {', '.join(map(markdown.code, arrival.after))}"
    return "when a person promotes it"


def _add_findings(room: MarkdownRoom, document: PreviewDocument, most: int) -> None:
    """Add the first problems and warnings, a few at a time, as long as they fit."""
    for start in range(0, most, MOST_FINDINGS):
        room.add(_findings(document.problems[start : start + MOST_FINDINGS], "error"))
    for start in range(0, most, MOST_FINDINGS):
        room.add(_findings(document.warnings[start : start + MOST_FINDINGS], "warning"))
    more = sum(max(0, len(entries) - most) for entries in (document.problems, document.warnings))
    room.add(f"… and {more} more" if more else "")
    room.left_out += more


def _findings(entries: Sequence[ProblemEntry], level: Level) -> str:
    return markdown.findings(entry.finding(level) for entry in entries)


def _not_compared(document: PreviewDocument) -> str:
    if not document.notes:
        return ""
    shown = markdown.findings((entry.finding("note") for entry in document.notes), MOST_FINDINGS)
    return f"**Not everything was compared**, because this run cannot read or trust it.\n\n{shown}"


def _has_content(item: PreviewEnvironmentEntry) -> bool:
    return bool(
        _differs(item.change) or (item.arrival and item.arrival.comparison) or item.change.withheld
    )


def _differs(comparison: ComparisonEntry) -> bool:
    return bool(
        comparison.assignments_added
        or comparison.assignments_removed
        or comparison.files_changed
        or comparison.values_changed
        or comparison.documents
    )


def _environment(room: MarkdownRoom, item: PreviewEnvironmentEntry, share: int, level: str) -> None:
    """Add the section of an environment: its table, then the collapsed parts."""
    end = room.size - share
    room.add(f"{level}# {markdown.text(item.environment)}")
    arrival = item.arrival
    arriving = arrival.comparison if arrival else None
    for text in _sentences(item):
        room.add(text)
    add_comparison(room, item.change, (room.size - end) // (2 if arriving else 1))
    if arrival and arriving:
        name = markdown.html_text(item.environment)
        title = (
            f"<b>What arrives in <code>{name}</code></b>: {markdown.html_text(_amount(arrival))}"
        )
        inner = MarkdownRoom(max(0, room.size - end - LEFT_OUT))
        inner.add(_newest(arrival))
        _arriving(inner, arriving)
        room.left_out += inner.left_out
        room.add(markdown.details(title, "\n\n".join(inner.blocks) or "No manifest changes."))


def arriving_commits(arrival: ArrivalEntry) -> str:
    """Return the number of arriving commits, in words."""
    if arrival.commits == 0:
        return "this change"
    known = arrival.commits is not None
    earlier = counted(arrival.commits or 0, "earlier commit") if known else "earlier commits"
    return f"this change and {earlier} of main"


def _newest(arrival: ArrivalEntry) -> str:
    lines = [
        f"- {markdown.code(each.commit[:7])} {markdown.text(each.subject)}"
        for each in arrival.newest
    ]
    more = (arrival.commits or 0) - len(lines)
    return "\n".join([*lines, f"- … and {more} more"] if lines and more > 0 else lines)


def _amount(arrival: ArrivalEntry) -> str:
    comparison = arrival.comparison
    files = counted(comparison.files_changed, "file") if comparison else ""
    return ", ".join(filter(None, (arriving_commits(arrival), files)))


def _sentences(item: PreviewEnvironmentEntry) -> Iterator[str]:
    change, arrival = item.change, item.arrival
    if item.removed:
        yield (
            "The change removes this environment. Its GitOps branch gets no further pull requests, "
            "and **its files stay there until people delete them**."
        )
    if arrival and arrival.comparison:
        yield (
            f"The environment has {markdown.code(arrival.has[:7])} of main: earlier commits arrive "
            "together with this change."
        )
    if not _differs(change):
        yield "The change alone changes nothing here."
    yield from withheld_numbers(change)


def _arriving(room: MarkdownRoom, comparison: ComparisonEntry) -> None:
    """Add the commits that arrive with the change and are not part of it."""
    room.add(markdown.findings(comparison.findings, MOST_FINDINGS))
    for text in withheld_numbers(comparison):
        room.add(text)
    add_comparison(room, comparison, room.size)
