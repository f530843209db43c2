"""The output of `kalypso template`: its document, and its text."""

from __future__ import annotations

from pydantic import Field
from rich.console import Console

from kalypso_actions.report.documents import Document, ProblemEntry
from kalypso_actions.report.escaping import escape_line
from kalypso_actions.report.terminal import NO_FILES, Files, print_findings, print_line


class TemplateProblemEntry(ProblemEntry):
    """A problem of a template; `excerpt` shows its place in the text ("" for none)."""

    excerpt: str = ""


class TemplateDocument(Document):
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
