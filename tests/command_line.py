"""The `kalypso` command, in this process or as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import pytest

from kalypso_actions.cli.command_list import COMMANDS, load
from kalypso_actions.cli.main import main
from kalypso_actions.cli.plugin_commands import GROUP, load_plugin
from kalypso_actions.model.entry_points import own_points

PLUGINS = own_points(GROUP)
"""The commands that this distribution registers by entry points."""

PROGRAM = [sys.executable, "-m", "kalypso_actions"]
WIDE = {"COLUMNS": "200"}


def call_kalypso(*arguments: object, variables: Mapping[str, str] = WIDE) -> CompletedProcess[str]:
    """Run `kalypso` in this process, which saves the program's start.

    It cannot show the log of `--debug`, because pytest has the root logger.
    """
    command = ["kalypso", *map(str, arguments)]
    stdout, stderr = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        patch.dict(os.environ, variables),
        patch.object(sys, "argv", command),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as end,
    ):
        main()
    code = end.value.code
    assert isinstance(code, int)
    return CompletedProcess(command, code, _text(stdout), _text(stderr))


def start_kalypso(
    *arguments: object, variables: Mapping[str, str] = WIDE, folder: Path | None = None
) -> CompletedProcess[str]:
    """Run `kalypso` as a program, in the given folder or in this one."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, **variables},
        cwd=folder,
    )


def command_named(name: str) -> Any:
    """Return a command in Typer's form, ours or that of an entry point."""
    return load(name) if name in COMMANDS else load_plugin(name, PLUGINS[name])


def _text(stream: TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, BytesIO)
    return buffer.getvalue().decode()
