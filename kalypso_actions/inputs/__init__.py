"""What each command is given: one small model per command, checked before anything is read.

values    what inputs of several commands are made of: durations, percentages, lists, commits
places    how repositories, folders and branches are named
local     render, validate, template
chain     the commands of the promotion chain
sandbox   sandbox
set_up    set-up
demo      demo
init      init
reading   where the inputs of the chain come from: options, the action, the environment
checking  what was given, as the model of a command wants it
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
    NamespaceScheme,
    OnFailure,
    OnSourceFailure,
)

__all__ = [
    "ConfigFile",
    "Inputs",
    "NamespaceScheme",
    "OnFailure",
    "OnSourceFailure",
    "PathAtBranch",
    "RenderInputs",
    "Source",
    "TemplateInputs",
    "TemplateValues",
    "ValidateInputs",
    "split_branch",
]
