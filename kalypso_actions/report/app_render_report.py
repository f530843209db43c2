"""The report of `kalypso app render`, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.text import Text

from kalypso_actions.model.application import ApplicationChanges, Findings, Target
from kalypso_actions.model.documents import Revision
from kalypso_actions.report.app_documents import (
    AppChangesEntry,
    AppRenderDocument,
    AppTargetEntry,
)
from kalypso_actions.report.change_counts import CHANGES, change_counts, manifests
from kalypso_actions.report.documents import ProblemEntry, SourceEntry
from kalypso_actions.report.finding_counts import finding_counts, hidden_counts
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    not_compared,
    print_findings,
    print_notes,
)
from kalypso_actions.report.terminal_escaping import escape_log_line

LIST_LIMIT = 500
"""The most paths of each kind to show; the JSON output has all."""


def app_render_document(
    *,
    environment: str,
    compatibility: str,
    generator: str,
    programs: Mapping[str, str],
    sources: Iterable[tuple[str, Revision]],
    variables: Mapping[str, str],
    targets: Iterable[Target],
    images: Mapping[str, tuple[str, ...]],
    changes: ApplicationChanges | None,
    commit: str,
    findings: Findings,
) -> AppRenderDocument:
    """Build the JSON document; `changes` is None if problems make them unknown."""
    names = AppChangesEntry.model_fields
    files = sorted(changes.files) if changes else []
    return AppRenderDocument(
        environment=environment,
        compatibility=compatibility,
        generator=generator,
        programs=dict(programs),
        sources=SourceEntry.all_of(sources),
        variables=dict(variables),
        targets=tuple(
            AppTargetEntry(
                folder=target.folder,
                values=tuple(target.levels),
                files=tuple(path for path in files if path.startswith(f"{target.folder}/")),
                images=images.get(target.folder, ()),
            )
            for target in targets
        ),
        compared=changes is not None,
        changes=AppChangesEntry(**{name: getattr(changes, name) for name in names})
        if changes
        else AppChangesEntry(),
        commit=commit,
        notes=ProblemEntry.all_of(findings.notes),
        warnings=ProblemEntry.all_of(findings.warnings),
        problems=ProblemEntry.all_of(findings.problems),
    )


def print_app_render(
    console: Console, document: AppRenderDocument, files: Files = NO_FILES, *, verbose: bool = False
) -> None:
    """Print the targets, what changes, and the findings with their numbers."""
    if document.compared:
        programs = ", ".join(f"{name} {version}" for name, version in document.programs.items())
        by = f" by {programs}" if programs else ""
        names = ", ".join(target.folder for target in document.targets)
        _print(console, f"{document.environment}: {names}{by}")
        console.print(f"manifests: {change_counts(document.changes, with_unchanged=True)}")
        for word in CHANGES:
            paths = manifests(getattr(document.changes, word))
            for path in paths[:LIST_LIMIT]:
                _print(console, f"  {word} {path}")
            if len(paths) > LIST_LIMIT:
                console.print(f"  … and {len(paths) - LIST_LIMIT} more {word} files")
        if document.commit:
            console.print(f"committed as {document.commit}")
    else:
        _print(console, f"manifests: {not_compared(document.problems, files)}")
    if verbose:
        print_notes(console, document.notes, files)
    print_findings(console, document.warnings, document.problems, files)
    rest = "" if verbose else ", ".join(hidden_counts(document.notes, ()))
    counts = finding_counts(document.problems, document.warnings)
    console.print(f"{counts}{f', {rest}: --verbose shows more' if rest else ''}")


def _print(console: Console, text: str) -> None:
    console.print(Text(escape_log_line(text)), soft_wrap=True)
