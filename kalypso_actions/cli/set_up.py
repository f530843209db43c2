"""The command set-up, of the action at the repository's root."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from kalypso_actions.commands.set_up import set_up as run_set_up
from kalypso_actions.inputs.reading import ACTION_INPUTS, checked_inputs, collect_inputs, secrets_of
from kalypso_actions.inputs.set_up import SetUpInputs, inputs_of_command
from kalypso_actions.runner import Runner


def set_up(context: typer.Context) -> None:
    """Put kalypso on the PATH of a job's next steps, and run one command line."""
    environment = dict(os.environ)
    given = os.environ.pop(ACTION_INPUTS, None)
    inputs = checked_inputs(SetUpInputs, collect_inputs(SetUpInputs, {}, environment))
    runner = Runner(environment, sys.stdout)
    for secret in secrets_of(inputs):
        runner.mask(secret)
    words = run_set_up(inputs, runner, Path(sys.executable), Path(sys.prefix))
    if words:
        if given:  # the command reads and removes its inputs
            os.environ[ACTION_INPUTS] = inputs_of_command(environment)
        context.find_root().command.main(words, prog_name="kalypso")
