"""The outputs of `kalypso preview` and `preview-comment`: documents, comment, step summary.

The JSON output is also the artifact that a later job comments from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from pydantic import BaseModel, Field

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.own_account import MARK as BEGINNING
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.comparison_entries import (
    ComparisonEntry,
    SetValueEntry,
    ValueChangeEntry,
)
from kalypso_actions.report.documents import CHANGES, Entries, OutputDocument, Where, strict_end
from kalypso_actions.report.escaping import shortened
from kalypso_actions.report.markdown import COMMENT_ROOM, LEFT_OUT, MarkdownRoom

CommentState = Literal["written", "pending", "none"]
"""`written` by this run, `pending` if another job must comment (this token may not), or `none`."""


class ArrivingCommitEntry(OutputDocument):
    """A commit of main, and the first line of its message."""

    commit: str
    subject: str


class ArrivalEntry(OutputDocument):
    """The content that arrives in an environment with the change.

    `has` is the environment's commit of main ("" for none). `commits` is the number of earlier
    commits of main that arrive together with the change (null if unknown), and `newest` are the
    last of these. `after` are the environments that get the change before this one (none: this one
    is first). `comparison` is null if only the change arrives; it does not repeat findings of the
    change.
    """

    has: str
    commits: int | None
    newest: Entries[ArrivingCommitEntry] = ()
    is_first: bool
    after: Entries[str]
    comparison: ComparisonEntry | None


class PreviewEnvironmentEntry(OutputDocument):
    """An environment; `compared` is false if one side cannot be read.

    `added` means that the change adds its Environment object, `removed` that it deletes this
    object; the GitOps branch stays as it is. `blocked` means that nothing arrives before people fix
    new or known problems: until then, ci promotes nothing, or schedule proposes nothing (with
    `on-failure: keep`, nothing for failing assignments). `waiting_for` is why the environment's
    policy, with the change, lets no commit in now. `failure` describes a failed deployment,
    by the status of the commit that the environment has. `idle` says which new targets and cluster
    types have no assignment. `arrival` is null for a change of the
    environment's own branch, which arrives at once.
    """

    environment: str
    compared: bool
    added: bool = False
    removed: bool = False
    blocked: bool = False
    waiting_for: str = ""
    failure: str = ""
    idle: Entries[str] = ()
    change: ComparisonEntry
    arrival: ArrivalEntry | None


class PreviewDocument(ChainDocument):
    """The output of `kalypso preview --output json`; its problems and warnings are new.

    `branch` gets the change. It leads from the commit `base` to `head`, the merge of
    `pull_request`; `head_commit` is the head of the pull request. If nothing is `compared`,
    `problems` say why. `settings` are changed files from which previews take their settings.
    `warnings_fail`: with `strict`, the new warnings fail.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "assignments-added": "The number of assignments that the change adds.",
        "assignments-removed": "The number of assignments that the change removes.",
        "files-changed": "The number of files of GitOps trees that the change changes.",
        "problems": "The number of new problems.",
    }

    schema_name: str = Field("kalypso.preview/v1", alias="schema")
    branch: str = ""
    base: str = ""
    head: str = ""
    pull_request: int | None = None
    head_commit: str = ""
    compared: bool = True
    comment: CommentState = "none"
    assignments_added: int = 0
    assignments_removed: int = 0
    files_changed: int = 0
    problems_known: int = 0
    warnings_known: int = 0
    warnings_fail: bool = False
    settings: Entries[str] = ()
    environments: Entries[PreviewEnvironmentEntry] = ()

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs, with the number of problems."""
        return {**super().outputs(), "problems": str(len(self.problems))}


class PreviewCommentDocument(ChainDocument):
    """The output of `kalypso preview-comment --output json`.

    `reason` says why nothing was written.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "pull-request-number": "The number of the pull request that has the comment.",
    }

    schema_name: str = Field("kalypso.preview-comment/v1", alias="schema")
    pull_request_number: int | None = None
    action: Literal["created", "updated", "unchanged", ""] = ""
    reason: str = ""


def without_links(document: PreviewDocument) -> PreviewDocument:
    """Return the document without links, except those to commits of the control plane.

    The author of the document may have chosen the servers of the links.
    """
    names = ("base", "head", "head_commit")
    commits = {name: getattr(document, name) for name in names}
    plain = _plain(document)
    assert isinstance(plain, PreviewDocument)  # noqa: S101 - copies have the type of the original
    update = {name: commit if is_commit_id(commit) else "" for name, commit in commits.items()}
    return plain.model_copy(update=update)


def _plain(value: object) -> object:
    """Return a copy whose places name no commit, because a place with a commit becomes a link."""
    if isinstance(value, Where):
        return value.model_copy(update={"commit": ""})
    if isinstance(value, BaseModel):
        fields = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return value.model_copy(update=fields)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value


MARK: Final = f"{BEGINNING}kind=preview -->"

SUMMARY_ROOM: Final = 900_000
"""The most bytes of a summary; GitHub shows 1 MiB of a step."""

MOST_FINDINGS: Final = 30
"""The most problems, and the most warnings, in the comment."""

MOST_IN_SUMMARY: Final = 1_000
"""The most problems, and the most warnings, in the summary; the artifact has all."""

MOST_ROWS: Final = 25
"""The most rows of a table in the comment."""

MOST_CHARACTERS: Final = 80
"""The most characters of a name or value in a table."""

MOST_LINES: Final = 200
"""The most lines of a diff, which leaves room for other diffs. The artifact has all."""


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
    parts = (", ".join(findings) + strict_end(document), ", ".join(changes))
    return "; ".join(filter(None, parts)) or "nothing changes"


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
    problems = [entry.finding("error") for entry in document.problems]
    warnings = [entry.finding("warning") for entry in document.warnings]
    blocked = [markdown.code(item.environment) for item in document.environments if item.blocked]
    more = sum(max(0, len(listed) - most_findings) for listed in (problems, warnings))
    markdown.render(
        "preview.md.j2",
        "top",
        document=document,
        facts=facts,
        room=room,
        level=level,
        headline=preview_headline(document),
        known=" and ".join(known_findings(document)),
        blocked=", ".join(markdown.some(blocked, MOST_ROWS)),
        settings=", ".join(markdown.some([*map(markdown.code, document.settings)], MOST_ROWS)),
        MOST_ENVIRONMENTS=4 * MOST_ROWS,
        assignments=_assignments,
        arrives=_when,
        findings=[  # a few at a time, as long as they fit
            listed[start : start + MOST_FINDINGS]
            for listed in (problems[:most_findings], warnings[:most_findings])
            for start in range(0, len(listed), MOST_FINDINGS)
        ],
        more=more,
        notes=[entry.finding("note") for entry in document.notes],
        MOST_FINDINGS=MOST_FINDINGS,
    )
    room.left_out += more
    shown = [item for item in document.environments if _has_content(item)]
    for index, item in enumerate(shown):
        _environment(room, item, room.size // (len(shown) - index), level)
    if room.left_out:
        complete = "the complete preview is an artifact of the run"
        link = markdown.link(complete, f"{facts.run_url}#artifacts") if facts.run_url else complete
        room.blocks.append(f"_Not everything fits here: {link}._")
    return "\n\n".join(room.blocks)


def known_findings(document: PreviewDocument) -> list[str]:
    """Return the numbers of problems and of warnings of the base that stay, if there are any."""
    numbers = ((document.problems_known, "problem"), (document.warnings_known, "warning"))
    return [counted(number, name) for number, name in numbers if number]


def _assignments(change: ComparisonEntry) -> str:
    added, removed = len(change.assignments_added), len(change.assignments_removed)
    return f"+{added} −{removed}" if added or removed else "–"


def _when(item: PreviewEnvironmentEntry) -> str:
    if item.removed or item.blocked or not item.waiting_for:
        return _order(item)
    return f"{_order(item)}; waits: {markdown.text(item.waiting_for)}"


def _order(item: PreviewEnvironmentEntry) -> str:
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


def _has_content(item: PreviewEnvironmentEntry) -> bool:
    arrives = item.arrival and item.arrival.comparison
    return bool(item.change.differs or arrives or item.change.withheld or item.idle)


def _environment(room: MarkdownRoom, item: PreviewEnvironmentEntry, share: int, level: str) -> None:
    """Add the section of an environment: its table, then the collapsed parts."""
    end = room.size - share
    arrival = item.arrival
    arriving = arrival.comparison if arrival else None
    idle = markdown.some([f"- {markdown.text(line)}" for line in item.idle], MOST_ROWS)
    markdown.render("preview.md.j2", "environment", **locals())
    for text in withheld_numbers(item.change):
        room.add(text)
    add_comparison(room, item.change, (room.size - end) // (2 if arriving else 1))
    if arrival and arriving:
        name = markdown.html_text(item.environment)
        title = (
            f"<b>What arrives in <code>{name}</code></b>: {markdown.html_text(_amount(arrival))}"
        )
        inner = MarkdownRoom(max(0, room.size - end - LEFT_OUT))
        inner.add(_newest(arrival))
        inner.add(markdown.findings(arriving.findings, MOST_FINDINGS))
        for text in withheld_numbers(arriving):
            inner.add(text)
        add_comparison(inner, arriving, inner.size)
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


def add_comparison(room: MarkdownRoom, comparison: ComparisonEntry, share: int) -> None:
    """Add the documents, the table of targets, and collapsed values and diffs."""
    end = room.size - share
    documents = [
        [
            f"{markdown.text(item.kind)} {_code(item.name)}",
            item.change,
            _place(item.where) if item.where else "",
        ]
        for item in comparison.documents
    ]
    room.add(_table(("Document", "Change", "Place"), documents))
    rows = list(_target_rows(comparison))
    is_scheduled = comparison.assignments_added or comparison.assignments_removed
    head = ("Cluster type", "Target", "Files", *(["Assignment"] if is_scheduled else []))
    room.add(_table(head, [row[: len(head)] for row in rows]))
    if comparison.values:
        values = [
            value_table(comparison.values[start : start + MOST_ROWS])
            for start in range(0, len(comparison.values), MOST_ROWS)
        ]
        title = counted(len(comparison.values), "configuration value")
        room.add_details(title, values, (room.size - end) // 2)
    diffs = (_diff(file.path, file.change, file.diff) for file in comparison.files)
    title = f"Diffs of {counted(len(comparison.files), 'file')}"
    room.add_details(title, diffs, room.size - end)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format the first rows as a table, with the number of omitted rows; "" for no rows."""
    if not rows:
        return ""
    more = f"\n\n… and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return markdown.table(head, rows[:MOST_ROWS]) + more


def _target_rows(comparison: ComparisonEntry) -> Iterator[list[str]]:
    assignments = {
        (name.cluster_type, name.target): state
        for state, names in (
            ("added", comparison.assignments_added),
            ("removed", comparison.assignments_removed),
        )
        for name in names
    }
    counts: dict[tuple[str, str], Counter[str]] = {key: Counter() for key in assignments}
    for file in comparison.files:
        cluster_type, _, rest = file.path.partition("/")
        target = rest.rpartition("/")[0]
        counts.setdefault((cluster_type, target), Counter())[file.change] += 1
    for (cluster_type, target), changes in sorted(counts.items()):
        files = ", ".join(f"{changes[change]} {change}" for change in CHANGES if changes[change])
        state = assignments.get((cluster_type, target), "")
        name = markdown.code(target) if target else "–"
        yield [markdown.code(cluster_type), name, files or "–", f"**{state}**" if state else "–"]


def value_table(changes: Sequence[ValueChangeEntry]) -> str:
    """Format the values that differ, with the layers that set them."""
    head = ("Value", "Before", "After", "Set in", "Assignments")
    return markdown.table(head, map(_value_row, changes))


def _value_row(change: ValueChangeEntry) -> list[str]:
    places = [side.where for side in (change.after, change.before) if side and side.where]
    return [
        _code(change.key),
        _value(change.before),
        _value(change.after),
        _place(places[0]) if places else "",
        _names(change),
    ]


def _place(where: Where) -> str:
    file = _code(f"{where.path}:{where.line}")
    url = markdown.permalink(where)
    branch = f" on {_code(where.branch)}" if where.branch else ""
    return f"{f'[{file}]({url})' if url else file}{branch}"


def _value(side: SetValueEntry | None) -> str:
    return "–" if side is None else _code(side.value)


def _names(change: ValueChangeEntry) -> str:
    names = [name.text for name in change.assignments]
    return _code(abbreviated(names, 2, change.more_assignments))


def _code(text: str) -> str:
    return markdown.code(shortened(text, MOST_CHARACTERS))


def _diff(path: str, change: str, diff: str | None) -> str:
    if not diff:  # outside of <summary>, GitHub reads Markdown even next to HTML
        return f"{markdown.code(path)}: {change}"
    title = f"<code>{markdown.html_text(path)}</code>: {change}"
    lines = diff.rstrip("\n").split("\n")
    text = markdown.block("\n".join(lines[:MOST_LINES]), "diff")
    if len(lines) > MOST_LINES:
        more = counted(len(lines) - MOST_LINES, "more line")
        text += f"\n\n… and {more}: the artifact of the run has all"
    return markdown.details(title, text)


def withheld_numbers(comparison: ComparisonEntry) -> Iterator[str]:
    """Yield a sentence for each repository whose content is not shown."""
    for withheld in comparison.withheld:
        numbers = [
            counted(number, word)
            for number, word in (
                (withheld.assignments, "assignment"),
                (withheld.files, "file"),
                (withheld.values, "value"),
                (withheld.problems, "problem"),
                (withheld.warnings, "warning"),
            )
            if number
        ]
        repository = markdown.code(markdown.HOST.sub("", withheld.repository))
        yield f"Not shown: {', '.join(numbers)} of {repository}, which fewer people may read."
