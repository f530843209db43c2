"""Check the inputs of a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kalypso_actions.errors import UsageError

Model = TypeVar("Model", bound=BaseModel)


def checked_inputs(model: type[Model], given: Mapping[str, Any]) -> Model:
    """Build the model of a command. Raises UsageError with every fault and its option."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        faults = []
        for details in error.errors(include_url=False):
            option = "--" + str(details["loc"][0]).replace("_", "-") if details["loc"] else ""
            if details["type"] == "missing":
                faults.append(f"{option} is needed")
            else:
                fault = details["msg"].removeprefix("Value error, ")
                faults.append(f"{option}: {fault}" if option else fault)
        raise UsageError("; ".join(faults)) from error
