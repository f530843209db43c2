"""`kalypso set-up`, the action at the root: put kalypso on a job's PATH, and run one command line.

launch.sh has installed kalypso already, to start this.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kalypso_actions import __version__
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import SetUpInputs
from kalypso_actions.runner import Runner

COMMANDS: Final = "kalypso-commands"
"""The folder of the virtual environment that becomes the first of PATH. It holds nothing but
kalypso, so that the job's own `python` and `pip` stay in effect."""

OUTPUTS: Final[Mapping[str, str]] = {
    "version": "The version of kalypso.",
    "python-path": "The Python that has the package kalypso_actions installed.",
}


def set_up(
    inputs: SetUpInputs, runner: Runner, python: Path, environment_folder: Path
) -> list[str]:
    """Put `kalypso` on the job's PATH, set the outputs, and return the words of the command line.

    `python` runs kalypso, and `environment_folder` is its virtual environment. Raises UsageError
    for a command line with an open quote.
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
    """Split a command line; backslashes stay, as in Windows paths. Raises ValueError."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    return list(lexer)


def _write_command(folder: Path, python: Path) -> None:
    """Write `kalypso` for POSIX shells, and `kalypso.cmd` for those of Windows."""
    arguments: Sequence[str] = ("-I", "-X", "utf8", "-m", "kalypso_actions")
    folder.mkdir(exist_ok=True)
    script = folder / "kalypso"
    line = shlex.join([str(python), *arguments])
    script.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8", newline="\n")
    script.chmod(0o755)
    batch = f'@"{python}" {" ".join(arguments)} %*\r\n'
    (folder / "kalypso.cmd").write_text(batch, encoding="utf-8", newline="")
