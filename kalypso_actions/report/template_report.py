"""The result of `kalypso template`, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from kalypso_actions.report.documents import TemplateDocument, TemplateProblemEntry
from kalypso_actions.report.escaping import escape_line
from kalypso_actions.report.terminal import print_findings


def print_template(output: Console, findings: Console, document: TemplateDocument) -> None:
    """The rendered text on one console, warnings and problems with their excerpts on another."""
    print_findings(findings, document.warnings, ())
    for problem in document.problems:
        print_findings(findings, (), (problem,))
        _print_excerpt(findings, problem)
    output.file.write(_shown(output, document.output))  # as it is: print would expand tabs


def _print_excerpt(console: Console, problem: TemplateProblemEntry) -> None:
    for line in problem.excerpt.splitlines():
        console.print(Text(f"    {line}"), soft_wrap=True)


def _shown(console: Console, text: str) -> str:
    """Exactly as it would be written; on a terminal without what the terminal would obey."""
    if not console.is_terminal:
        return text
    return "\n".join(
        "\t".join(escape_line(part) for part in line.split("\t")) for line in text.split("\n")
    )
