"""Where a run begins and ends."""

from __future__ import annotations

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
            # Libraries take their time: who interrupts meanwhile is heard, too.
            from kalypso_actions.cli.app import app  # noqa: PLC0415

            # Ends by itself: with a command's code, or with 2 for arguments that it cannot read.
            app(prog_name="kalypso")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - the only catch
        # What tells people is imported where there is something to tell.
        from kalypso_actions.cli.error_report import report_error  # noqa: PLC0415

        sys.exit(report_error(error))
    sys.exit(0)
