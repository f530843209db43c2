"""How the commands of the promotion chain are run.

Their inputs come from an action, from options or from the environment. What they come to goes to
the runner (outputs, annotations, the step's summary) and to the terminal.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import typer

from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.speaking import print_json, show_calls, stderr
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.chain_commands import CHAIN
from kalypso_actions.commands.chain_run import ChainCommand, run_command
from kalypso_actions.commands.chain_session import Surroundings
from kalypso_actions.inputs.reading import SECRET_VARIABLES
from kalypso_actions.report.findings import print_findings
from kalypso_actions.report.printable import shown
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.runner import Runner


def _function(chain: ChainCommand[Any]) -> Callable[..., None]:
    """What Typer makes the command of; its function's first paragraph is the help."""
    text = (chain.command.__doc__ or "").partition("\n\n")[0]

    def run(given: dict[str, Any]) -> None:
        as_json = given.pop("output") == "json"
        show_calls(verbose=given.pop("verbose"))
        environment = dict(os.environ)
        for name in SECRET_VARIABLES:  # Azure's library starts programs with all that is there
            os.environ.pop(name, None)
        with ProgressDisplay(stderr(), "rendering") as progress:
            around = Surroundings(
                environment=environment,
                programs=Programs(environment),
                runner=Runner(environment, sys.stderr if as_json else sys.stdout),
                progress=progress.update,
                say=_say,
                now=lambda: datetime.now(UTC),
                sleep=time.sleep,
            )
            outcome, exit_code = run_command(chain, given, around)
        document = outcome.document
        print_findings(stderr(), document.warnings, document.problems)
        if as_json:
            print_json(document)
        raise typer.Exit(exit_code)

    return with_options(chain.model, chain.name, text, run)


def _say(line: str) -> None:
    """A line of what goes on, for people; what clusters and people wrote is no command in it."""
    stderr().print(shown(line), soft_wrap=True, markup=False)


_FUNCTIONS: Final = {chain.name: _function(chain) for chain in CHAIN}

ci = _FUNCTIONS["ci"]
cd = _FUNCTIONS["cd"]
schedule = _FUNCTIONS["schedule"]
notify = _FUNCTIONS["notify"]
check_promote = _FUNCTIONS["check-promote"]
poll = _FUNCTIONS["poll"]
start_schedule = _FUNCTIONS["start-schedule"]
