"""`kalypso validate --watch`: validate again after each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from kalypso_actions.cli.error_report import report_error
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.clients.file_watch import FileWatch
from kalypso_actions.clients.git import enclosing_clone
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.local import ValidateInputs
from kalypso_actions.inputs.paths import PathAtBranch


def watch(inputs: ValidateInputs, run: Callable[[], object]) -> NoReturn:
    """Call `run` now, and whenever a file or branch that it reads changes; Ctrl-C ends it."""
    files = FileWatch(_folders(inputs))
    while True:
        seen = files.state()
        if stdout().is_terminal:
            stdout().clear()
        try:
            run()
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
