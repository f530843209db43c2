"""The options about output, and errors as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

import typer

from kalypso_actions.cli.streams import print_json
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.report.documents import Document

Output = Annotated[Literal["text", "json"], typer.Option(help="The format of standard output.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Show notes and acknowledged warnings, and on standard error each program started and "
        "API call, with its time.",
    ),
]
Notes = Annotated[bool, typer.Option("--notes", help="Show notes and acknowledged warnings.")]
VerboseCalls = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show each program started and API call.")
]


LocalOutput = Annotated[
    Literal["text", "json", "sarif"],
    typer.Option(help="The format of standard output. sarif is for code scanning and editors."),
]


StatOption = Annotated[
    bool, typer.Option("--stat", help="Show each file that differs, with its changed lines.")
]
MaskOption = Annotated[
    str,
    typer.Option(
        metavar="GLOBS",
        help="More globs of keys whose values are shown as ***, separated by commas.",
    ),
]
ExitCodeOption = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 1 if there are differences, else with 0.")
]


@contextmanager
def errors_as_json(output: str, failed: Callable[[Sequence[Problem]], Document]) -> Iterator[None]:
    """With `json`, print an error that ends the run as the command's document."""
    try:
        yield
    except KalypsoError as error:
        if output != "json":
            raise
        print_json(failed(error.problems))
        raise typer.Exit(error.exit_code) from error
