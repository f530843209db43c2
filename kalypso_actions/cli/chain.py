"""How the commands of the promotion chain are run.

Their inputs come from an action, from options or from the environment. What they come to goes to
the runner (outputs, annotations, the step's summary) and to the terminal.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import typer

from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.speaking import checked_inputs, print_json, show_calls, stderr
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.chain_session import ChainSession, Surroundings, chain_session
from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.reading import ACTION_INPUTS, collect_inputs, secrets_of
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_documents import ChainDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.findings import print_findings
from kalypso_actions.report.printable import printable
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.runner import Runner, read_context
from kalypso_actions.runner.commands import harmless

Model = TypeVar("Model", bound=ChainInputs)


def add_chain_command(
    app: typer.Typer,
    name: str,
    model: type[Model],
    command: Callable[[Model, ChainSession], Outcome],
    document: type[ChainDocument],
) -> None:
    """Make `command` one of the command line; its docstring's first paragraph is the help."""
    text = (command.__doc__ or "").partition("\n\n")[0]

    def run(given: dict[str, Any]) -> None:
        as_json = given.pop("output") == "json"
        show_calls(verbose=given.pop("verbose"))
        environment = dict(os.environ)
        os.environ.pop(ACTION_INPUTS, None)  # programs that are started have no business with it
        runner = Runner(environment, sys.stderr if as_json else sys.stdout)
        try:
            inputs = checked_inputs(model, collect_inputs(model, given, environment))
            outcome = _outcome(command, inputs, environment, runner)
            exit_code = 1 if outcome.failed else 0
        except KalypsoError as error:
            outcome = _ended(name, document, given, error.problems)
            exit_code = error.exit_code
        _tell(name, outcome, runner, as_json=as_json)
        raise typer.Exit(exit_code)

    app.command(name=name)(with_options(model, name, text, run))


def _outcome(
    command: Callable[[Model, ChainSession], Outcome],
    inputs: Model,
    environment: Mapping[str, str],
    runner: Runner,
) -> Outcome:
    for secret in secrets_of(inputs):
        runner.mask(secret)
    context = read_context(environment)
    with ProgressDisplay(stderr(), "rendering") as progress:
        around = Surroundings(
            environment=environment,
            programs=Programs(environment),
            runner=runner,
            context=context,
            progress=progress.update,
            say=_say,
            now=lambda: datetime.now(UTC),
            sleep=time.sleep,
        )
        with chain_session(inputs, around) as session:
            try:
                return command(inputs, session)
            finally:
                for line in session.github.quota.lines():
                    _say(line)


def _ended(
    name: str,
    document: type[ChainDocument],
    given: Mapping[str, Any],
    problems: Sequence[Problem],
) -> Outcome:
    """What is told of a run that an error has ended."""
    known = {"environment": given.get("environment") or ""}
    fields = {key: value for key, value in known.items() if key in document.model_fields}
    entries = ProblemEntry.all_of(problems)
    summary = f"## kalypso {name}\n\n{markdown.findings((), entries)}"
    return Outcome(document(problems=entries, **fields), summary, failed=True)


def _tell(name: str, outcome: Outcome, runner: Runner, *, as_json: bool) -> None:
    document = outcome.document
    runner.annotate("error", map(ProblemEntry.problem, document.problems), f"kalypso {name}")
    runner.annotate("warning", map(ProblemEntry.problem, document.warnings), f"kalypso {name}")
    runner.outputs(document.outputs())
    runner.summary(outcome.summary)
    print_findings(stderr(), document.warnings, document.problems)
    if as_json:
        print_json(document)


def _say(line: str) -> None:
    """A line of what goes on, for people; what clusters and people wrote is no command in it."""
    stderr().print(harmless(printable(line)), soft_wrap=True, markup=False)
