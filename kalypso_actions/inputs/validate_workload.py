"""Inputs of `kalypso validate-workload`, an action for repositories of applications."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.paths import Place
from kalypso_actions.inputs.values import Inputs, Wheelhouse
from kalypso_actions.model.delivery import RegistrationText


class ValidateWorkloadInputs(Inputs):
    """Inputs of the action; it needs no token, because it reads the job's checkout."""

    path: Annotated[
        Place,
        Field(description="The folder that has the Workloads, or a folder above it."),
    ] = "."
    registration_text: Annotated[
        RegistrationText,
        Field(
            description="Texts that Templates should not print (line breaks, template text): "
            "strict, or any (a warning on each), as in the jobs of the platform team."
        ),
    ] = "strict"
    wheelhouse: Wheelhouse = ""
