"""The command validate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NoReturn

import typer

from kalypso_actions.cli.local import (
    ControlPlaneOption,
    MaxTargetsOption,
    MissingValuesOption,
    NowOption,
    RegistrationTextOption,
    SchedulerOption,
    SourceOption,
    files_at_hand,
    github_place,
    local_context,
)
from kalypso_actions.cli.local_result import Forms, errors_as_result, print_result
from kalypso_actions.cli.output import LocalOutput, Notes, Verbose
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.commands.validate import validate as run_validate
from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.local import ValidateInputs
from kalypso_actions.model.delivery import MAX_TARGETS
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.terminal import Files, ProgressDisplay
from kalypso_actions.report.validate_document import (
    ValidateDocument,
    print_validate,
    validate_summary,
)


def validate(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO[@BRANCH]|DIR",
            help="The branches to check together. Default: those of the control plane of which "
            "the current folder is a clone, else the current folder.",
        ),
    ] = None,
    workload: Annotated[
        bool,
        typer.Option(
            "--workload",
            help="The places have an application team's Workloads: check these alone, without a "
            "control plane.",
        ),
    ] = False,
    control_plane: ControlPlaneOption = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    missing_values: MissingValuesOption = "warn",
    scheduler: SchedulerOption = "",
    now: NowOption = None,
    registration_text: RegistrationTextOption = "strict",
    max_targets: MaxTargetsOption = MAX_TARGETS,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.")
    ] = False,
    output: LocalOutput = "text",
    notes: Notes = False,
    verbose: Verbose = False,
) -> None:
    """Check all documents of branches: schemas, references, templates, names."""
    options = {
        "places": places or [],
        "control_plane": github_place(control_plane),
        "workload": workload,
        "source": source,
        "missing_values": missing_values,
        "scheduler": scheduler,
        "now": now,
        "registration_text": registration_text,
        "max_targets": max_targets,
        "notes": notes,
        "verbose": verbose,
    }
    if watch:
        watch_places(options, output, control_plane)
    document = print_validation(options, output, control_plane)
    raise typer.Exit(1 if document.problems else 0)


def watch_places(options: Mapping[str, Any], output: str, control_plane: str | None) -> NoReturn:
    """Validate again whenever the places change. Raises UsageError if that is not possible."""
    if output != "text":
        raise UsageError("--watch is for people: it prints text only")
    if control_plane:
        raise UsageError("--watch follows the files of places, not a --control-plane")
    # Few runs watch, but every run would wait for this import.
    from kalypso_actions.cli.validate_watch import watch  # noqa: PLC0415

    watch(checked_inputs(ValidateInputs, options), lambda: print_validation(options, output))


def print_validation(
    options: Mapping[str, Any], output: str, control_plane: str | None = None
) -> ValidateDocument:
    """Run validate with its options, print the result, and return it. Raises KalypsoError.

    `control_plane` is the control plane as a person gave it. If it is on GitHub, the
    command reads it with the token in the environment.
    """
    verbose = bool(options.get("verbose"))

    def failed(problems: Sequence[Problem]) -> ValidateDocument:
        return ValidateDocument(problems=ProblemEntry.all_of(problems))

    def print_text(document: ValidateDocument, files: Files) -> None:
        print_validate(stdout(), document, files, with_notes=verbose or bool(options.get("notes")))

    forms = Forms("kalypso validate", print_text, validate_summary)
    with errors_as_result(output, failed, forms):
        given = checked_inputs(ValidateInputs, options)
        with ProgressDisplay(stderr, "validating") as progress:
            context = local_context(
                progress, calls=verbose, now=given.now, control_plane=control_plane
            )
            document = run_validate(given, context)
    print_result(document, output, files_at_hand(given.source), forms)
    return document
