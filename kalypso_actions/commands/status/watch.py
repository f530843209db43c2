"""Show the pipeline repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from kalypso_actions.commands.shared.context import Runtime, open_context
from kalypso_actions.commands.status.command import status
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.status import StatusInputs
from kalypso_actions.report.status_document import StatusDocument

INTERVAL: Final = 15.0
"""Seconds between two reads with --watch: an hour takes a tenth of a token's requests."""


def watch(
    inputs: StatusInputs, runtime: Runtime, show: Callable[[StatusDocument], None]
) -> NoReturn:
    """Show the pipeline until Ctrl-C; log a failure to read it, and try again."""
    while True:
        try:
            with open_context(inputs, runtime) as context:
                show(status(inputs, context))
        except KalypsoError as error:
            runtime.log(f"{error.problem.message}; looking again in {INTERVAL:.0f} s")
        runtime.sleep(INTERVAL)
