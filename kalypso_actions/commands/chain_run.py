"""A command of the promotion chain, run as in a job: its inputs, its secrets, what it comes to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kalypso_actions.commands.chain_session import ChainSession, Surroundings, chain_session
from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.reading import collect_inputs, secrets_of
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_documents import ChainDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.runner import read_context

Model = TypeVar("Model", bound=ChainInputs)


@dataclass(frozen=True, slots=True)
class ChainCommand(Generic[Model]):
    """A command by the name of its action: what it is given, what it prints, what it does.

    `load` imports it: the commands have much in common, but only some of them render.
    """

    name: str
    model: type[Model]
    document: type[ChainDocument]
    load: Callable[[], Callable[[Model, ChainSession], Outcome]]


def run_command(
    chain: ChainCommand[Model], options: Mapping[str, Any], around: Surroundings
) -> tuple[Outcome, int]:
    """Run a command, and tell the runner what it came to; the outcome and the exit code.

    Inputs are `options`, and those of the environment. An error ends the command, and is told as
    any other outcome.
    """
    given: dict[str, Any] = {}
    try:
        given = collect_inputs(chain.model, options, around.environment)
        inputs = checked_inputs(chain.model, given)
        for secret in secrets_of(inputs):
            around.runner.mask(secret)
        command = chain.load()
        context = read_context(around.environment)
        with chain_session(inputs, dataclasses.replace(around, context=context)) as session:
            try:
                outcome = command(inputs, session)
            finally:
                for line in session.github.quota.lines():
                    around.say(line)
        exit_code = 1 if outcome.failed else 0
    except KalypsoError as error:
        outcome = _ended(chain, given, error.problems)
        exit_code = error.exit_code
    _tell(chain.name, outcome, around)
    return outcome, exit_code


def _ended(
    chain: ChainCommand[Model], given: Mapping[str, Any], problems: Sequence[Problem]
) -> Outcome:
    """What is told of a run that an error has ended."""
    known = {"environment": given.get("environment") or ""}
    fields = {key: value for key, value in known.items() if key in chain.document.model_fields}
    entries = ProblemEntry.all_of(problems)
    summary = f"## kalypso {chain.name}\n\n{markdown.findings((), entries)}"
    return Outcome(chain.document(problems=entries, **fields), summary, failed=True)


def _tell(name: str, outcome: Outcome, around: Surroundings) -> None:
    document = outcome.document
    title = f"kalypso {name}"
    around.runner.annotate("error", map(ProblemEntry.problem, document.problems), title)
    around.runner.annotate("warning", map(ProblemEntry.problem, document.warnings), title)
    around.runner.outputs(document.outputs())
    around.runner.summary(outcome.summary)
