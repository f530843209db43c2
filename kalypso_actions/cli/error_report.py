"""The report of an error that ends a run."""

from __future__ import annotations

import os
import sys
import traceback

from kalypso_actions import ISSUES_URL, __version__
from kalypso_actions.cli.streams import stderr
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from kalypso_actions.report.terminal import print_findings
from kalypso_actions.runner import Runner
from kalypso_actions.runner.workflow_commands import escape_workflow_commands


def report_error(error: Exception) -> int:
    """Report an error to people and to the runner, and return the exit code.

    Any error that is not a KalypsoError is a bug of ours.
    """
    if isinstance(error, KalypsoError):
        print_findings(stderr(), error.problems, FilesAtHand(Programs(os.environ)))
        Runner(os.environ, sys.stderr).annotate(error.problems, "kalypso")
        return error.exit_code
    sys.stderr.write(escape_workflow_commands("".join(traceback.format_exception(error))) + "\n")
    request = f"This is a bug in kalypso {__version__}. Please report it: {ISSUES_URL}"
    stderr().print(f"\n{request}", soft_wrap=True)
    return 1
