"""The entry point."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

from kalypso_actions.cli.process import hide_process, import_command, interruptible


def main() -> NoReturn:
    """Run the command that the arguments name, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal has every character
    try:
        with interruptible():
            sys.exit(_run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except ImportError as error:
        sys.exit(_report_missing(error))
    except Exception as error:  # noqa: BLE001 - the only catch
        # Few runs need a report, but every run would wait for its imports.
        from kalypso_actions.cli.streams import report_error  # noqa: PLC0415

        sys.exit(report_error(error))
    finally:
        gc.disable()  # otherwise Python collects once more, although the process ends


def _report_missing(error: ImportError) -> int:
    """Report a module that the installation lacks, and return the exit code."""
    module = (error.name or "").partition(".")[0]
    if not module or module.startswith("kalypso"):
        from kalypso_actions.cli.streams import report_error  # noqa: PLC0415

        return report_error(error)
    sys.stderr.write(
        f"problem: the module {module!r}, which kalypso requires, is missing or too old in "
        f"{sys.prefix}\n    → install kalypso again, with all that it requires\n"
    )
    return 1


def _run(arguments: Sequence[str]) -> int:
    """Run a command, and return its exit code.

    The imports are here because they take time, in which Ctrl-C must work, too.
    """
    from kalypso_actions.clients.process import is_inherited  # noqa: PLC0415
    from kalypso_actions.commands.registry import ACTIONS  # noqa: PLC0415

    if os.environ.get("GITHUB_ACTIONS") == "true":
        # Erase before a command removes variables from `os.environ`; later it is too late.
        hide_process(is_inherited)
        if len(arguments) == 1 and arguments[0] in ACTIONS and os.environ.get("KALYPSO_INPUTS"):
            # An action has no options, so it needs no parser of them.
            exit_code: int = import_command("kalypso_actions.cli.runtime").run_action(arguments[0])
            return exit_code
    # This call exits: with a command's code, or with 2 for wrong arguments.
    import_command("kalypso_actions.cli.app").app(prog_name="kalypso")
    return 0
