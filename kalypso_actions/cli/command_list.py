"""Every command in a line: where it is, and what it is for.

A run takes as long as its imports before it does anything, and there is one at each step of a job:
nothing is imported for a command before that command is called.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import typer
import typer.main

from kalypso_actions.commands.registry import CHAIN


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command that is not imported.

    `module` of this package has a function of the command's name, of which Typer makes the command.
    `summary` is the first paragraph of its help. One that is `hidden` is for a job alone.
    """

    module: str
    summary: str
    hidden: bool = False


COMMANDS: Final = {
    "init": LazyCommand(
        "init",
        "Make a control plane and a GitOps repository of two repositories, empty or not.",
    ),
    "doctor": LazyCommand(
        "doctor",
        "Look at a control plane and its GitOps repositories, and say what is missing.",
    ),
    "render": LazyCommand(
        "render",
        "Compute what belongs into the GitOps repository of one environment.",
    ),
    "validate": LazyCommand(
        "validate",
        "Check every document of the given branches: schema, references, templates, names.",
    ),
    "template": LazyCommand("template", "Render one Template with given data, for its author."),
    "sandbox": LazyCommand(
        "sandbox",
        "Serve a GitHub and an Azure Resource Graph on this machine, for trials and tests.",
    ),
    "demo": LazyCommand(
        "demo",
        "Play the whole promotion chain with a sample organisation, on this machine alone.",
    ),
    **{command.name: LazyCommand("chain", command.summary) for command in CHAIN},
    "set-up": LazyCommand(
        "set_up",
        "Put kalypso on the PATH of a job's next steps, and run one command line.",
        hidden=True,
    ),
}
"""By name, in the order of `--help`."""


def load(name: str) -> Any:
    """Import a command of the list; the command as Typer makes it."""
    module = _import(f"kalypso_actions.cli.{COMMANDS[name].module}")
    alone = typer.Typer(add_completion=False)
    alone.command(name)(getattr(module, name.replace("-", "_")))
    return typer.main.get_command(alone)


def _import(module: str) -> ModuleType:
    """Import a module without looking for garbage: that takes a fifth of a start, and finds none.

    What was imported stays to the end, so later looks leave it out.
    """
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()
