"""Where the inputs of a command of the chain come from.

options            what was typed on the command line; they come first
KALYPSO_INPUTS     the action's inputs, as JSON
the environment    secrets, for whoever runs a command outside of an action
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import SecretStr

from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import ChainInputs

Model = TypeVar("Model", bound=ChainInputs)

ACTION_INPUTS: Final = "KALYPSO_INPUTS"

SECRETS: Final[Mapping[str, tuple[str, ...]]] = {
    "token": ("KALYPSO_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
    "app-id": ("KALYPSO_APP_ID",),
    "app-private-key": ("KALYPSO_APP_PRIVATE_KEY",),
    "git-credentials": ("KALYPSO_GIT_CREDENTIALS",),
    "azure-credentials": ("AZURE_CREDENTIALS",),
    "azure-client-id": ("AZURE_CLIENT_ID",),
    "azure-tenant-id": ("AZURE_TENANT_ID",),
    "azure-scopes": ("AZURE_SCOPES",),
}
"""Input -> the variables that stand in for it, the first that is set."""

SECRET_VARIABLES: Final = (
    ACTION_INPUTS,
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    *SECRETS["token"],
    *SECRETS["app-private-key"],
    *SECRETS["git-credentials"],
    *SECRETS["azure-credentials"],
)
"""Variables that hold what nobody else shall see."""


def collect_inputs(
    model: type[Model], options: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, Any]:
    """What the model is to be made of, by the inputs' names.

    An empty input is one that was not given, as GitHub hands on what a workflow leaves out. Raises
    UsageError for a KALYPSO_INPUTS that is no JSON object of texts.
    """
    known = {field.alias or name for name, field in model.model_fields.items()}
    given: dict[str, Any] = {}
    for name in SECRETS:
        value = input_from_environment(name, environment)
        if name in known and value:
            given[name] = value
    given |= action_inputs(environment)
    given |= {name: value for name, value in options.items() if value not in (None, "", [], ())}
    return given


def input_from_environment(name: str, environment: Mapping[str, str]) -> str:
    """What the environment says in place of an input of `SECRETS`; "" where it says nothing."""
    return next((environment[one] for one in SECRETS[name] if environment.get(one)), "")


def action_inputs(environment: Mapping[str, str]) -> dict[str, str]:
    """The inputs of KALYPSO_INPUTS that are not empty. Raises UsageError as `collect_inputs`."""
    text = environment.get(ACTION_INPUTS, "")
    if not text:
        return {}
    try:
        given = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{ACTION_INPUTS} is no JSON") from error
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        raise UsageError(f"{ACTION_INPUTS} is no JSON object of texts")
    return {name: value for name, value in given.items() if value}


def secrets_of(inputs: ChainInputs) -> Iterator[str]:
    """Every text of the inputs that nobody may see, the parts of compound ones besides.

    A job hides a text only as a whole: of `host=user:token` and of a JSON object, what is secret
    must be hidden by itself.
    """
    for name in type(inputs).model_fields:
        value = getattr(inputs, name)
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()
    for line in inputs.git_credentials.get_secret_value().splitlines():
        yield line.partition("=")[2].partition(":")[2].strip()
    credentials = getattr(inputs, "azure_credentials", None)
    if isinstance(credentials, SecretStr):
        yield from _values(credentials.get_secret_value(), "clientSecret")


def _values(text: str, key: str) -> Iterator[str]:
    """The text under a key of a JSON object; what is none says so later, where it is used."""
    try:
        value = json.loads(text).get(key) if text else None
    except (ValueError, AttributeError):
        value = None
    if isinstance(value, str):
        yield value
