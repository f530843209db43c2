"""The output of `kalypso app render`: its document, and its text."""

from __future__ import annotations

from pydantic import Field
from rich.console import Console

from kalypso_actions.report.documents import (
    CHANGES,
    ChangesEntry,
    Document,
    ProblemEntry,
    SourceEntry,
    finding_counts,
    hidden_counts,
)
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    not_compared,
    print_findings,
    print_line,
)

LIST_LIMIT = 500
"""The most paths of each kind to show; the JSON output has all."""


class AppTargetEntry(Document):
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


class AppRenderDocument(Document):
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
