"""The report of `kalypso template`, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from kalypso_actions.report.documents import TemplateDocument, TemplateProblemEntry
from kalypso_actions.report.terminal import NO_FILES, Files, print_findings
from kalypso_actions.report.terminal_escaping import escape_line, escape_log_line


def print_template(
    output: Console, findings: Console, document: TemplateDocument, files: Files = NO_FILES
) -> None:
    """Print the rendered text to one console, and warnings and problems to another."""
    print_findings(findings, document.warnings, (), files)
    for problem in document.problems:
        print_findings(findings, (), (problem,), files, with_lines=not problem.excerpt)
        _print_excerpt(findings, problem)
    output.file.write(_escaped(output, document.output))  # `print` would expand tabs


def _print_excerpt(console: Console, problem: TemplateProblemEntry) -> None:
    for line in problem.excerpt.splitlines():
        console.print(Text(f"    {escape_log_line(line)}"), soft_wrap=True)


def _escaped(console: Console, text: str) -> str:
    """Return the exact text; on a terminal, with control characters escaped."""
    if not console.is_terminal:
        return text
    return "\n".join(
        "\t".join(escape_line(part) for part in line.split("\t")) for line in text.split("\n")
    )
