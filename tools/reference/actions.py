"""Every action.yml, from the models of its command's inputs and outputs.

An input is declared once, in `kalypso_actions/inputs`; an output once, in its document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import yaml
from pydantic.fields import FieldInfo

from kalypso_actions.commands.registry import ACTIONS as CHAIN_ACTIONS
from kalypso_actions.commands.set_up import OUTPUTS as SET_UP_OUTPUTS
from kalypso_actions.inputs.chain import SetUpInputs, ValidateWorkloadInputs
from kalypso_actions.inputs.values import Inputs, default_text, described, inputs_of, option_of
from kalypso_actions.report.validate_document import OUTPUTS as VALIDATE_OUTPUTS

COLOR: Final = "blue"

DEFAULTS_OF_JOBS: Final = {"token": "${{ github.token }}", "job-token": "${{ github.token }}"}
"""Defaults of actions that the command line does not have."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input as action.yml declares it."""

    name: str
    description: str
    required: bool
    default: str


@dataclass(frozen=True, slots=True)
class Action:
    """An action: its command, the path of its file, its inputs and its outputs.

    `source` is the path of the module that declares its own inputs.
    """

    command: str
    path: str
    source: str
    title: str
    description: str
    icon: str
    inputs: tuple[Input, ...]
    outputs: Mapping[str, str]

    @property
    def launcher(self) -> str:
        """The path from the action's folder to the script that starts it."""
        return "../launch.sh" if "/" in self.path else "actions/launch.sh"


def _actions() -> Iterator[Action]:
    yield Action(
        command="set-up",
        path="action.yml",
        source=_source(SetUpInputs),
        title="Kalypso",
        description="Put kalypso on the PATH of the job's next steps, and run one command of it.",
        icon="compass",
        inputs=tuple(declared_inputs(SetUpInputs)),
        outputs=SET_UP_OUTPUTS,
    )
    yield Action(
        command="validate-workload",
        path="actions/validate-workload/action.yml",
        source=_source(ValidateWorkloadInputs),
        title="Kalypso: validate-workload",
        description="Check the Workloads of an application's repository, without a control plane.",
        icon="check-square",
        inputs=tuple(declared_inputs(ValidateWorkloadInputs)),
        outputs=VALIDATE_OUTPUTS,
    )
    for chain in CHAIN_ACTIONS.values():
        if chain.icon:
            yield Action(
                command=chain.name,
                path=f"actions/{chain.name}/action.yml",
                source=_source(chain.model),
                title=f"Kalypso: {chain.name}",
                description=chain.summary,
                icon=chain.icon,
                inputs=tuple(declared_inputs(chain.model)),
                outputs=chain.document.OUTPUTS,
            )


def _source(model: type[Inputs]) -> str:
    return f"{model.__module__.replace('.', '/')}.py"


def declared_inputs(model: type[Inputs]) -> Iterator[Input]:
    """Yield the inputs of a command: its own first, then those that it shares with others."""
    for name, field in inputs_of(model).items():
        if name not in Inputs.model_fields:
            alias = field.alias or name
            default = DEFAULTS_OF_JOBS.get(alias) or default_text(field)
            yield Input(alias, _description(field), field.is_required(), default)


def _description(field: FieldInfo) -> str:
    text = option_of(field).text.removesuffix(".")
    if field.annotation is bool:
        return f"{text}: true or false."
    if field.annotation == timedelta:
        return f"{text}: such as 90s, 5m or 2h."
    return described(field, "commas or lines")


def action_file(action: Action) -> str:
    """Return the text of action.yml."""
    inputs = "".join(_input_lines(option) for option in action.inputs)
    outputs = "".join(
        f"  {name}:\n"
        f"    description: {_scalar(description)}\n"
        f"    value: ${{{{ steps.run.outputs.{name} }}}}\n"
        for name, description in action.outputs.items()
    )
    return f"""\
# Written by `make docs` from the inputs in {action.source}.
name: {_scalar(action.title)}
description: {_scalar(action.description)}
branding: {{ icon: {action.icon}, color: {COLOR} }}

inputs:
{inputs}
outputs:
{outputs}
runs:
  using: composite
  steps:
    - id: run
      run: exec "$GITHUB_ACTION_PATH/{action.launcher}" {action.command}
      shell: bash
      env:
        KALYPSO_INPUTS: ${{{{ toJSON(inputs) }}}}
"""


def _input_lines(input_: Input) -> str:
    lines = f"  {input_.name}:\n    description: {_scalar(input_.description)}\n"
    if input_.required:
        lines += "    required: true\n"
    if input_.default:
        lines += f"    default: {_scalar(input_.default)}\n"
    return lines


def _scalar(text: str) -> str:
    """Return the text as a YAML scalar, in quotes if YAML would read it differently."""
    try:
        plain = yaml.safe_load(f"key: {text}") == {"key": text}
    except yaml.YAMLError:
        plain = False
    return text if plain else json.dumps(text, ensure_ascii=False)


ACTIONS: Final = tuple(_actions())
