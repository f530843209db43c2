"""Inputs of `kalypso set-up`, the action at the root of the repository."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.reading import action_inputs

OWN: Final = frozenset({"run", "plugins"})


class SetUpInputs(ChainInputs):
    """Inputs of `kalypso set-up`: its own two, and those of the command that it runs."""

    run: Annotated[
        str,
        Field(
            description="A command to run, without the word kalypso. Quotes work as in a shell; "
            "other syntax of a shell does not."
        ),
    ] = ""
    plugins: Annotated[
        str,
        Field(
            description="A requirements file of the repository, with a hash for each package: "
            "wheels of schedulers and other plugins, also for the next actions of the job."
        ),
    ] = ""


def inputs_of_command(environment: Mapping[str, str]) -> str:
    """Return the inputs for the command that set-up runs: all but its own two, as JSON.

    Raises UsageError for a KALYPSO_INPUTS that is not a JSON object of strings.
    """
    given = action_inputs(environment)
    return json.dumps({name: value for name, value in given.items() if name not in OWN})
