"""The sources of inputs, in the order of precedence, and the check of their values.

options            from the command line
KALYPSO_INPUTS     the action's inputs, as JSON
other variables    secrets, for a command outside of an action
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import SECRETS_OF_SOURCES, GitHubInputs
from kalypso_actions.inputs.values import Option

Model = TypeVar("Model", bound=GitHubInputs)
Checked = TypeVar("Checked", bound=BaseModel)

ACTION_INPUTS: Final = "KALYPSO_INPUTS"

SECRETS: Final[Mapping[str, tuple[str, ...]]] = {
    "token": ("KALYPSO_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
    "app-id": ("KALYPSO_APP_ID",),
    "app-private-key": ("KALYPSO_APP_PRIVATE_KEY",),
    "git-credentials": ("KALYPSO_GIT_CREDENTIALS",),
    "chart-credentials": ("KALYPSO_CHART_CREDENTIALS",),
    **SECRETS_OF_SOURCES,
    "database-password": ("KALYPSO_DATABASE_PASSWORD",),
    "api-token": ("KALYPSO_API_TOKEN",),
    "azure-client-id": ("AZURE_CLIENT_ID",),
    "azure-tenant-id": ("AZURE_TENANT_ID",),
    "azure-scopes": ("AZURE_SCOPES",),
}
"""The environment variables of each secret input; the first that is set counts."""

SECRET_VARIABLES: Final = (
    ACTION_INPUTS,
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    *SECRETS["token"],
    *SECRETS["app-private-key"],
    *SECRETS["git-credentials"],
    *SECRETS["chart-credentials"],
    *chain.from_iterable(SECRETS_OF_SOURCES.values()),
    *SECRETS["database-password"],
    *SECRETS["api-token"],
)
"""Variables that hold secrets."""


def collect_inputs(
    model: type[Model], options: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values for a model, by the inputs' names.

    An empty input counts as not given, because GitHub sends "" for a missing one. Raises UsageError
    for a KALYPSO_INPUTS that is not a JSON object of strings.
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
    """Return the value of an input of `SECRETS` from the environment; "" if there is none."""
    variables = (variable for variable in SECRETS[name] if environment.get(variable))
    return next((environment[variable] for variable in variables), "")


def action_inputs(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs of KALYPSO_INPUTS, without empty ones. Raises UsageError."""
    text = environment.get(ACTION_INPUTS, "")
    if not text:
        return {}
    try:
        given = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{ACTION_INPUTS} is not JSON") from error
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise UsageError(f"{ACTION_INPUTS} is not a JSON object of strings")
    return {name: value for name, value in given.items() if value}


TIMES: Final = {
    "timezone_aware": "it has no offset; append Z for UTC, or such as +01:00",
    **dict.fromkeys(
        ("datetime_from_date_parsing", "datetime_parsing", "datetime_type"),
        "it is no time; write it such as 2026-12-01T12:00:00Z",
    ),
}
"""Faults of times by pydantic's types, in words for people."""


def _named(model: type[BaseModel], name: str) -> str:
    """Return an input as people write it: an option, or the name of an argument."""
    for key, field in model.model_fields.items():
        if name in {key, field.alias}:
            for option in field.metadata:
                if isinstance(option, Option) and option.argument and not option.also_option:
                    return option.metavar or name.upper()
    return "--" + name.replace("_", "-")


def checked_inputs(model: type[Checked], given: Mapping[str, Any]) -> Checked:
    """Build the model of a command. Raises UsageError with every fault and its option."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        faults = []
        for details in error.errors(include_url=False):
            option = _named(model, str(details["loc"][0])) if details["loc"] else ""
            if details["type"] == "missing":
                faults.append(f"{option} is needed")
            else:
                fault = TIMES.get(details["type"], details["msg"]).removeprefix("Value error, ")
                faults.append(f"{option}: {fault}" if option else fault)
        raise UsageError("; ".join(faults)) from error


def secrets_of(inputs: GitHubInputs) -> Iterator[str]:
    """Yield the secrets among the inputs, and the secret parts of compound ones.

    The runner masks only whole texts, so the token of `host=user:token` or `URL=token` and the
    secret of a JSON object need masks of their own.
    """
    for name in type(inputs).model_fields:
        value = getattr(inputs, name)
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()
    for name in ("git_credentials", "chart_credentials", "argocd_tokens"):
        for line in getattr(inputs, name, SecretStr("")).get_secret_value().splitlines():
            login = line.partition("=")[2]
            yield (login if name == "argocd_tokens" else login.partition(":")[2]).strip()
    credentials = getattr(inputs, "azure_credentials", None)
    if isinstance(credentials, SecretStr):
        yield from _values(credentials.get_secret_value(), "clientSecret")


def _values(text: str, key: str) -> Iterator[str]:
    """Yield the string of a key; the code that uses the JSON reports invalid JSON."""
    try:
        value = json.loads(text).get(key) if text else None
    except (ValueError, AttributeError):
        value = None
    if isinstance(value, str):
        yield value
