"""The command validate-workload, of the action for repositories of applications."""

from __future__ import annotations

import os
import sys

import typer

from kalypso_actions.cli.validate import print_validation
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.reading import ACTION_INPUTS, action_inputs
from kalypso_actions.inputs.validate_workload import ValidateWorkloadInputs
from kalypso_actions.report.validate_document import validate_outputs
from kalypso_actions.runner import Runner


def validate_workload() -> None:
    """Check the Workloads in the checkout of a job: the action of this name."""
    inputs = checked_inputs(ValidateWorkloadInputs, action_inputs(os.environ))
    os.environ.pop(ACTION_INPUTS, None)
    options = {
        "places": [inputs.path],
        "workload": True,
        "registration_text": inputs.registration_text,
    }
    document = print_validation(options, "text")
    Runner(os.environ, sys.stdout).outputs(validate_outputs(document))
    raise typer.Exit(1 if document.problems else 0)
