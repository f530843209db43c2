"""The command set-up, of the action at the repository's root."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from kalypso_actions.cli import app
from kalypso_actions.commands.set_up import set_up as run_set_up
from kalypso_actions.inputs.chain import SetUpInputs
from kalypso_actions.inputs.reading import (
    ACTION_INPUTS,
    action_inputs,
    checked_inputs,
    collect_inputs,
    secrets_of,
)
from kalypso_actions.runner import Runner


def set_up() -> None:
    """Put kalypso on the PATH of a job's next steps, and run one command line."""
    environment = dict(os.environ)
    given = os.environ.pop(ACTION_INPUTS, None)
    inputs = checked_inputs(SetUpInputs, collect_inputs(SetUpInputs, {}, environment))
    runner = Runner(environment, sys.stdout)
    for secret in secrets_of(inputs):
        runner.mask(secret)
    words = run_set_up(inputs, runner, Path(sys.executable), Path(sys.prefix))
    if not words:
        return
    if given:  # the command reads and removes its inputs: all but those of set-up
        others = {
            name: value
            for name, value in action_inputs(environment).items()
            if name not in {"run", "plugins"}
        }
        os.environ[ACTION_INPUTS] = json.dumps(others)
    app.app(words, prog_name="kalypso")
