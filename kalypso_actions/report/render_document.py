"""The output of `kalypso render`: its document, its text, and its step summary."""

from __future__ import annotations

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import (
    CHANGES,
    AcknowledgedEntry,
    ChangesEntry,
    FileDiffEntry,
    LeftOutEntry,
    OutputDocument,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    finding_counts,
    finding_verdict,
    hidden_counts,
)
from kalypso_actions.report.escaping import escape_line, escape_log_line
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    not_compared,
    print_findings,
    print_line,
    print_table,
)

TABLE_LIMIT = 500
"""The most assignments and deleted files to show; the JSON output has all."""


class AssignmentEntry(OutputDocument):
    """One target on one cluster type; `files` are paths in the tree."""

    workload: str
    deployment_target: str
    cluster_type: str
    policies: tuple[str, ...]
    namespace: str
    files: tuple[str, ...]


class RenderDocument(OutputDocument):
    """The output of `kalypso render --output json`.

    If it is not `compared`, problems make the tree's content unknown, and `changes` are empty.
    `diffs` are those of `--diff` and `--stat`, with secrets masked. `commit` is the commit that
    `--commit-to` made, "" if it made none. `left_out` are the applications that are frozen or
    missing. `warnings_fail` (`--strict`): nothing was written because of the warnings.
    """

    schema_name: str = Field("kalypso.render/v1", alias="schema")
    environment: str
    main: PositionEntry | None = None
    sources: tuple[SourceEntry, ...] = ()
    assignments: tuple[AssignmentEntry, ...] = ()
    compared: bool = True
    changes: ChangesEntry = Field(default_factory=ChangesEntry)
    diffs: tuple[FileDiffEntry, ...] = ()
    commit: str = ""
    degraded: bool = False
    left_out: tuple[LeftOutEntry, ...] = ()
    warnings_fail: bool = False
    notes: tuple[ProblemEntry, ...] = ()
    acknowledged: tuple[AcknowledgedEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def print_render(
    console: Console, document: RenderDocument, files: Files = NO_FILES, *, with_notes: bool = False
) -> None:
    """Print the assignments, the changes, and the findings with their numbers.

    If faults make the changes unknown, print only that.
    """
    if document.main:
        print_line(console, document.main.text)
    if document.compared:
        _print_assignments(console, document)
        deleted = document.changes.deleted
        console.print(f"\nmanifests: {document.changes.counts()}")
        for path in deleted[:TABLE_LIMIT]:
            print_line(console, f"  deleted {path}")
        _print_hidden(console, len(deleted) - TABLE_LIMIT, "deleted files")
    else:
        print_line(console, f"manifests: {not_compared(document.problems, files)}")
    print_render_findings(console, document, files, with_notes=with_notes)


def print_render_findings(
    console: Console, document: RenderDocument, files: Files = NO_FILES, *, with_notes: bool = False
) -> None:
    """Print the findings with their numbers."""
    main = document.main
    commits = {main.commit: f"{main.branch} at {main.commit[:7]}"} if main else {}
    listed = document.all_findings if with_notes else document.findings
    print_findings(console, listed, files, commits=commits)
    for entry in document.left_out:
        print_line(console, f"registration {entry.registration!r} {entry.text}")
    rest = "" if with_notes else hidden_counts(document.all_findings)
    more = f", {rest}: --notes shows more" if rest else ""
    console.print(f"{finding_verdict(document)}{more}")


def _print_assignments(console: Console, document: RenderDocument) -> None:
    if not document.assignments:
        console.print(f"{document.environment}: no assignments")
        return
    lines = []
    for entry in document.assignments[:TABLE_LIMIT]:
        names = ", ".join(path.rpartition("/")[2] for path in entry.files) or "none: see below"
        cells = entry.deployment_target, entry.cluster_type, ", ".join(entry.policies), names
        lines.append([escape_log_line(cell) for cell in cells])
    print_table(console, ("target", "cluster type", "policies", "files"), lines)
    _print_hidden(console, len(document.assignments) - TABLE_LIMIT, "assignments")


def _print_hidden(console: Console, number: int, noun: str) -> None:
    if number > 0:
        console.print(f"… and {number} more {noun}; --output json lists all")


def render_summary(document: RenderDocument) -> str:
    """Return the step summary."""
    number, noun = len(document.problems), "problem"
    if not number:
        number, noun = len(document.assignments), "assignment"
    main = f"{markdown.text(document.main.text)}. " if document.main else ""
    manifests = (
        document.changes.counts()
        if document.compared
        else markdown.text(not_compared(document.problems))
    )
    parts = [
        f"## kalypso render: {markdown.text(document.environment)} has {counted(number, noun)}",
        f"{main}Manifests: {manifests}.",
        markdown.findings(document.all_findings),
    ]
    return "\n\n".join(filter(None, parts))


LIST_LIMIT = 500
"""The most paths of each kind to show; the JSON output has all."""


class AppTargetEntry(OutputDocument):
    """A target; `values` are the files of its values, from the first level down."""

    folder: str
    values: tuple[str, ...]
    files: tuple[str, ...]
    images: tuple[str, ...] = ()


class AppChangesEntry(ChangesEntry):
    """Changed paths.

    `kept` are files that no run wrote, `edited` are generated files that people changed.
    """

    kept: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


class AppRenderDocument(OutputDocument):
    """The output of `kalypso app render --output json`.

    If it is not `compared`, problems make the tree's content unknown, and `changes` are empty.
    `programs` are the generators with their versions. `commit` is the commit that `--commit-to`
    made, "" if it made none.
    """

    schema_name: str = Field("kalypso.app-render/v1", alias="schema")
    environment: str
    compatibility: str = "none"
    generator: str = ""
    programs: dict[str, str] = Field(default_factory=dict)
    sources: tuple[SourceEntry, ...] = ()
    variables: dict[str, str] = Field(default_factory=dict)
    targets: tuple[AppTargetEntry, ...] = ()
    compared: bool = True
    changes: AppChangesEntry = Field(default_factory=AppChangesEntry)
    commit: str = ""
    notes: tuple[ProblemEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def print_app_render(
    console: Console, document: AppRenderDocument, files: Files = NO_FILES, *, verbose: bool = False
) -> None:
    """Print the targets, what changes, and the findings with their numbers."""
    if document.compared:
        programs = ", ".join(f"{name} {version}" for name, version in document.programs.items())
        by = f" by {programs}" if programs else ""
        names = ", ".join(target.folder for target in document.targets)
        print_line(console, f"{document.environment}: {names}{by}")
        console.print(f"manifests: {document.changes.counts()}")
        for word in CHANGES:
            paths = document.changes.manifests(word)
            for path in paths[:LIST_LIMIT]:
                print_line(console, f"  {word} {path}")
            if len(paths) > LIST_LIMIT:
                console.print(f"  … and {len(paths) - LIST_LIMIT} more {word} files")
        if document.commit:
            console.print(f"committed as {document.commit}")
    else:
        print_line(console, f"manifests: {not_compared(document.problems, files)}")
    print_findings(console, document.all_findings if verbose else document.findings, files)
    rest = "" if verbose else hidden_counts(document.all_findings)
    more = f", {rest}: --verbose shows more" if rest else ""
    console.print(f"{finding_counts(document.findings)}{more}")


class TemplateProblemEntry(ProblemEntry):
    """A problem of a template; `excerpt` shows its place in the text ("" for none)."""

    excerpt: str = ""


class TemplateDocument(OutputDocument):
    """The output of `kalypso template --output json`.

    `output` is the text of all `manifests`; with problems, both are empty. A byte that is not
    UTF-8 becomes U+FFFD.
    """

    schema_name: str = Field("kalypso.template/v1", alias="schema")
    template: str
    manifests: tuple[str, ...] = ()
    output: str = ""
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[TemplateProblemEntry, ...] = ()


def print_template(
    output: Console, findings: Console, document: TemplateDocument, files: Files = NO_FILES
) -> None:
    """Print the rendered text to one console, and warnings and problems to another."""
    print_findings(findings, (entry.finding("warning") for entry in document.warnings), files)
    for problem in document.problems:
        print_findings(findings, [problem.finding()], files, with_lines=not problem.excerpt)
        for line in problem.excerpt.splitlines():
            print_line(findings, f"    {line}")
    text = document.output
    if output.is_terminal:
        escaped = ("\t".join(map(escape_line, line.split("\t"))) for line in text.split("\n"))
        text = "\n".join(escaped)
    output.file.write(text)  # `print` would expand tabs
