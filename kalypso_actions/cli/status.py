"""The command status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer
from rich.live import Live

from kalypso_actions.cli.github_inputs import github_inputs
from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import errors_as_json
from kalypso_actions.cli.streams import configure_logging, print_json, stderr, stdout
from kalypso_actions.commands.shared.context import open_context
from kalypso_actions.commands.status import status as read_status
from kalypso_actions.commands.status import watch
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.status import StatusInputs
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.status_document import StatusDocument, pipeline, print_status
from kalypso_actions.report.terminal import ProgressDisplay

TEXT: Final = """Show the pipeline: what each environment has, its state, and what waits for whom.

    From GitHub's statuses, branches, pull requests and issues; --clusters also
    asks the cluster reports. The token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN)
    needs contents, statuses, pull requests and issues: read. In a clone of the
    control plane, --control-plane is not needed.
    """


def _run(given: dict[str, Any]) -> None:
    output = given.pop("output")
    configure_logging(calls=given.pop("verbose"))

    def failed(problems: Sequence[Problem]) -> StatusDocument:
        name = given.get("control-plane") or ""
        return StatusDocument(control_plane=name, problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed), ProgressDisplay(stderr, "reading") as progress:
        inputs, runtime = github_inputs(StatusInputs, given, progress.update)
        if inputs.watch and output == "json":
            raise UsageError("--watch is for people: it prints text only")
        if inputs.watch:
            progress.stop()
            with Live(console=stdout(), auto_refresh=False) as live:
                watch(inputs, runtime, lambda shown: live.update(pipeline(shown), refresh=True))
        with open_context(inputs, runtime) as context:
            document = read_status(inputs, context)
    if output == "json":
        print_json(document)
    else:
        print_status(stdout(), document)
    fails = any(entry.problems for entry in document.environments)
    raise typer.Exit(1 if fails else 0)


status = with_options(StatusInputs, "status", TEXT, _run)
