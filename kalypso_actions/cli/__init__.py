"""The command line: builds what a command needs, runs it, and is the only place that catches.

Exit codes: 0 done; 1 problems found; 2 wrong usage or inputs.

init          init
local         render, validate, template
chain         the commands of the promotion chain
sandbox       sandbox
demo          demo
set_up        set-up
speaking      what all commands share
interruption  what Ctrl-C and a cancelled job leave behind
"""

from __future__ import annotations

import os
import sys
import traceback
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from kalypso_actions import ISSUES_URL, __version__
from kalypso_actions.cli import local
from kalypso_actions.cli.chain import add_chain_command
from kalypso_actions.cli.demo import demo
from kalypso_actions.cli.doctor import add_doctor
from kalypso_actions.cli.init import init
from kalypso_actions.cli.interruption import interruptible
from kalypso_actions.cli.sandbox import sandbox
from kalypso_actions.cli.set_up import set_up
from kalypso_actions.cli.speaking import stderr
from kalypso_actions.commands.chain_commands import CHAIN
from kalypso_actions.errors import KalypsoError
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.findings import print_findings
from kalypso_actions.runner import Runner
from kalypso_actions.runner.commands import harmless

app = typer.Typer(
    help="Kalypso: schedule, render and promote workloads for many clusters with GitOps.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(init)
add_doctor(app)
for command in (local.render, local.validate, local.template, sandbox, demo):
    app.command()(command)
for chain_command in CHAIN:
    add_chain_command(app, chain_command)
app.command(hidden=True)(set_up)  # for a job alone


def main() -> NoReturn:
    """Run the command that the arguments name, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal has every character
    try:
        with interruptible():
            # Ends by itself: with a command's code, or with 2 for arguments that it cannot read.
            app(prog_name="kalypso")
    except KalypsoError as error:
        print_findings(stderr(), (), ProblemEntry.all_of(error.problems))
        Runner(os.environ, sys.stderr).annotate("error", error.problems, "kalypso")
        sys.exit(error.exit_code)
    except Exception:  # noqa: BLE001 - the only catch: anything that comes this far is our bug
        sys.stderr.write(harmless(traceback.format_exc()) + "\n")
        request = f"This is a bug in kalypso {__version__}. Please report it: {ISSUES_URL}"
        stderr().print(f"\n{request}", soft_wrap=True)
        sys.exit(1)
    sys.exit(0)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
