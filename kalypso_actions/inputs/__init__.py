"""The inputs of each command: a model that is checked before the command reads anything.

values    types of inputs: durations, percentages, lists, commits
paths     paths, URLs and branches
local     render, validate, template
chain     the commands of the promotion chain
sandbox   sandbox
set_up    set-up
validate_workload  validate-workload
demo      demo
init      init
reading   sources of the chain's inputs: options, the action, the environment
checking  values → the model of a command
"""

from kalypso_actions.inputs.local import (
    RenderInputs,
    TemplateInputs,
    TemplateValues,
    ValidateInputs,
)
from kalypso_actions.inputs.paths import PathAtBranch, Source, split_branch
from kalypso_actions.inputs.values import (
    ConfigFile,
    Inputs,
    MissingValues,
    NamespaceScheme,
    OnFailure,
    OnSourceFailure,
    RegistrationText,
)

__all__ = [
    "ConfigFile",
    "Inputs",
    "MissingValues",
    "NamespaceScheme",
    "OnFailure",
    "OnSourceFailure",
    "PathAtBranch",
    "RegistrationText",
    "RenderInputs",
    "Source",
    "TemplateInputs",
    "TemplateValues",
    "ValidateInputs",
    "split_branch",
]
