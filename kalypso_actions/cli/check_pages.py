"""The command check-pages, for jobs that publish a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer

from kalypso_actions.cli.github_inputs import github_inputs
from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import errors_as_json
from kalypso_actions.cli.streams import configure_logging, print_json, stderr
from kalypso_actions.commands.check_pages import check_pages as run_check_pages
from kalypso_actions.commands.shared.context import open_context
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.check_pages import CheckPagesInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.model.progress import no_progress
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.report_document import CheckPagesDocument
from kalypso_actions.report.terminal import print_findings

TEXT: Final = """Stop a job before it publishes a report to people who may not see all of it.

    Asks GitHub who may read the site of GitHub Pages, the control plane, and
    each repository that the report shows. What GitHub does not tell counts as
    the worst case. The token needs pages: read, and nothing for public
    repositories.
    """


def _run(given: dict[str, Any]) -> None:
    output = given.pop("output")
    configure_logging(calls=given.pop("verbose"))

    def failed(problems: Sequence[Problem]) -> CheckPagesDocument:
        return CheckPagesDocument(problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        inputs, runtime = github_inputs(CheckPagesInputs, given, no_progress)
        with open_context(inputs, runtime) as context:
            document = run_check_pages(inputs, context)
    if output == "json":
        print_json(document)
    else:
        print_findings(stderr(), document.findings)
        number = counted(len(document.repositories), "repository", "repositories")
        verdict = "must not" if document.problems else "may"
        typer.echo(f"the site {verdict} show the report of {number}")
    raise typer.Exit(1 if document.problems else 0)


check_pages = with_options(CheckPagesInputs, "check-pages", TEXT, _run)
