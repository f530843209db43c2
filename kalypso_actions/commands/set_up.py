"""What the action at the root does: kalypso for the next steps of a job, and one command line now.

Installed it is already: launch.sh did that, to start this.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kalypso_actions import __version__
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.set_up import SetUpInputs
from kalypso_actions.runner import Runner

COMMANDS: Final = "kalypso-commands"
"""The folder, in the virtual environment, that comes to the front of PATH: it holds kalypso and
nothing else, so that the job's own `python` and `pip` stay what they are."""

OUTPUTS: Final[Mapping[str, str]] = {
    "version": "The version of kalypso.",
    "python-path": "The Python that has the package kalypso_actions installed.",
}


def set_up(
    inputs: SetUpInputs, runner: Runner, python: Path, environment_folder: Path
) -> list[str]:
    """Put `kalypso` on the job's PATH, and say where it is; the words of the command to run now.

    `python` runs it, and `environment_folder` is its virtual environment. Raises UsageError for a
    command line that ends within quotes.
    """
    try:
        words = _words(inputs.run)
    except ValueError as error:
        raise UsageError(f"--run: {error}: {inputs.run}") from error
    folder = environment_folder / COMMANDS
    _write_command(folder, python)
    runner.path(folder)
    runner.outputs(dict(zip(OUTPUTS, (__version__, str(python)), strict=True)))
    return words


def _words(line: str) -> list[str]:
    """A backslash is one: it parts the folders of Windows. Raises ValueError for an open quote."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    return list(lexer)


def _write_command(folder: Path, python: Path) -> None:
    """`kalypso` for every shell, and `kalypso.cmd`, which Windows' own shells look for."""
    arguments: Sequence[str] = ("-I", "-X", "utf8", "-m", "kalypso_actions")
    folder.mkdir(exist_ok=True)
    script = folder / "kalypso"
    line = shlex.join([str(python), *arguments])
    script.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8", newline="\n")
    script.chmod(0o755)
    batch = f'@"{python}" {" ".join(arguments)} %*\r\n'
    (folder / "kalypso.cmd").write_text(batch, encoding="utf-8", newline="")
