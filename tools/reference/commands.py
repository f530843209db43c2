"""The page of all commands, from `--help`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from kalypso_actions.cli.command_list import COMMANDS, GROUP_COMMANDS
from kalypso_actions.cli.plugin_commands import GROUP
from kalypso_actions.model.entry_points import own_points

WIDTH = 100


def commands_text() -> str:
    """Return a page with a section for each visible command."""
    sections = [
        f"\n## kalypso {name}\n\n```text\n{help_of(name)}\n```\n" for name in _visible_commands()
    ]
    return "# Commands\n\nWritten by `make docs` from the code.\n" + "".join(sections)


def _visible_commands() -> Iterator[str]:
    """Yield the words of each command, each group before its own; those of entry points last."""
    for name, command in COMMANDS.items():
        if not command.hidden:
            yield name
        yield from GROUP_COMMANDS.get(name, ())
    yield from own_points(GROUP)


def help_of(command: str) -> str:
    """Return the text of `--help`, independent of the terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "kalypso_actions", *command.split(), "--help"],
        env={"PATH": os.defpath, "COLUMNS": str(WIDTH), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
