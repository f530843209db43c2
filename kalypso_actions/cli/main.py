"""The entry point."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

from kalypso_actions.cli.interruption import interruptible


def main() -> NoReturn:
    """Run the command that the arguments name, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal has every character
    try:
        with interruptible():
            # Imports take time, so Ctrl-C must work here, too.
            from kalypso_actions.cli.app import app  # noqa: PLC0415
            from kalypso_actions.cli.own_process import hide_process  # noqa: PLC0415
            from kalypso_actions.clients.process import is_inherited  # noqa: PLC0415

            if os.environ.get("GITHUB_ACTIONS") == "true":
                # Erase before a command removes variables from `os.environ`; later it is too late.
                hide_process(is_inherited)

            # This call exits: with a command's code, or with 2 for wrong arguments.
            app(prog_name="kalypso")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - the only catch
        # Few runs need a report, but every run would wait for its imports.
        from kalypso_actions.cli.error_report import report_error  # noqa: PLC0415

        sys.exit(report_error(error))
    sys.exit(0)
