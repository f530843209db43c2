"""The command validate, `--watch`, and the action validate-workload."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import typer

from kalypso_actions.cli.command import Given
from kalypso_actions.cli.local_result import ReportedCommand
from kalypso_actions.cli.streams import report_error, stderr, stdout
from kalypso_actions.clients.git import enclosing_clone
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.validate import validate as run_validate
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.local import ValidateInputs
from kalypso_actions.inputs.paths import PathAtBranch
from kalypso_actions.inputs.reading import ACTION_INPUTS, action_inputs, checked_inputs
from kalypso_actions.inputs.validate_workload import ValidateWorkloadInputs
from kalypso_actions.report.terminal import Files
from kalypso_actions.report.validate_document import (
    ValidateDocument,
    print_validate,
    validate_outputs,
    validate_summary,
)
from kalypso_actions.runner import Runner


class Validate(ReportedCommand[ValidateInputs, ValidateDocument]):
    """Check all documents of branches: schemas, references, templates, names."""

    model, document = ValidateInputs, ValidateDocument
    title = "kalypso validate"
    doing = "validating"

    def __call__(self, given: Given) -> NoReturn:
        """Run the command with its options, and exit; with --watch, at Ctrl-C."""
        if given.get("watch"):
            self._watch(given)
        super().__call__(given)

    def compute_in(self, inputs: ValidateInputs, context: LocalContext) -> ValidateDocument:
        """Validate."""
        return run_validate(inputs, context)

    def summary(self, document: ValidateDocument) -> str:
        """Return the step summary."""
        return validate_summary(document)

    def show_findings(
        self, inputs: ValidateInputs, document: ValidateDocument, files: Files
    ) -> None:
        """Print the findings."""
        with_notes = inputs.notes or inputs.verbose
        print_validate(stdout(), document, files, with_notes=with_notes)

    def _watch(self, given: Given) -> NoReturn:
        """Validate now, and whenever a file or branch that it reads changes; Ctrl-C ends it."""
        if given["output"] != "text":
            raise UsageError("--watch is for people: it prints text only")
        if given.get("control-plane"):
            raise UsageError("--watch follows the files of places, not a --control-plane")
        # Few runs watch, but every run would wait for this import.
        from kalypso_actions.clients.folder import FileWatch  # noqa: PLC0415

        self.log(calls=given.get("verbose", False))
        files = FileWatch(_folders(checked_inputs(ValidateInputs, given)))
        while True:
            seen = files.state()
            if stdout().is_terminal:
                stdout().clear()
            try:
                self.print(*self.compute_or_fail(dict(given)))
            except KalypsoError as error:
                report_error(error)
            stderr().print("waiting for a change; Ctrl-C ends", style="dim")
            files.wait(seen)


def _folders(inputs: ValidateInputs) -> Iterator[Path]:
    """Yield the folders on this machine to watch: those of the places, else the clone."""
    for place in inputs.places:
        path = PathAtBranch.parse(place).path
        if path.is_dir():
            yield path
    if not inputs.places:
        yield enclosing_clone(Path()) or Path()
    yield from (source.path for source in inputs.source)


def validate_workload() -> None:
    """Check the Workloads in the checkout of a job: the action of this name."""
    inputs = checked_inputs(ValidateWorkloadInputs, action_inputs(os.environ))
    os.environ.pop(ACTION_INPUTS, None)
    validate = Validate()
    given = {
        "places": [inputs.path],
        "workload": True,
        "registration-text": inputs.registration_text,
        "output": "text",
    }
    checked, document = validate.compute_or_fail(given)
    validate.print(checked, document)
    Runner(os.environ, sys.stdout).outputs(validate_outputs(document))
    raise typer.Exit(validate.exit_code(checked, document))
