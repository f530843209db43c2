"""All commands, with their modules and summaries.

Each step of a job waits for its imports, so a command's module is imported only when it is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from kalypso_actions.cli.command_imports import import_command
from kalypso_actions.cli.help_ends import help_end
from kalypso_actions.cli.json_option import with_json_option
from kalypso_actions.commands.registry import CHAIN

HELP: Final = {"help_option_names": ["-h", "--help"]}
"""The settings of the app and of each command."""


class PlainCommand(TyperCommand):
    """A command that reports wrong values without pydantic's prefix."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as Typer does; remove the prefix that pydantic puts before its errors."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command that is not imported yet.

    `module` is a module of this package with a function of the command's name. `summary` is the
    first paragraph of the help. A `hidden` command is only for jobs.
    """

    module: str
    summary: str
    hidden: bool = False


OTHER_MODULES: Final = {"preview": "preview"}
"""The modules of the chain's commands that people also run."""

OF_JOBS: Final = frozenset({"preview-comment"})

COMMANDS: Final = {
    "init": LazyCommand(
        "init",
        "Set up two repositories, empty or not, as a control plane and its GitOps repository.",
    ),
    "doctor": LazyCommand(
        "doctor",
        "Check the set-up of a control plane and its GitOps repositories.",
    ),
    "render": LazyCommand(
        "render",
        "Compute the GitOps tree of one environment.",
    ),
    "diff": LazyCommand(
        "diff",
        "Compare two environments, or two commits of one environment.",
    ),
    "explain": LazyCommand(
        "explain",
        "Explain an environment: who selects a pair, who set a value, what made a file.",
    ),
    "validate": LazyCommand(
        "validate",
        "Check all documents of branches: schemas, references, templates, names.",
    ),
    "validate-workload": LazyCommand(
        "validate_workload",
        "Check the Workloads in the checkout of a job: the action of this name.",
        hidden=True,
    ),
    "template": LazyCommand("template", "Render one Template with given data, for its author."),
    "status": LazyCommand(
        "status",
        "Show the pipeline: what each environment has, its state, and what waits for whom.",
    ),
    "report": LazyCommand(
        "report",
        "Write one self-contained page about the whole fleet, and its data.",
    ),
    "check-pages": LazyCommand(
        "check_pages",
        "Stop a job before it publishes a report to people who may not see all of it.",
        hidden=True,
    ),
    "schemas": LazyCommand(
        "schemas",
        "Write JSON Schemas of all kinds, for editors to complete and check documents.",
    ),
    "app": LazyCommand(
        "app_commands",
        "The commands for an application team's repositories.",
    ),
    "sandbox": LazyCommand(
        "sandbox",
        "Serve GitHub and Azure Resource Graph on this machine, for trials and tests.",
    ),
    "demo": LazyCommand(
        "demo",
        "Run the whole promotion chain for a sample organisation, on this machine alone.",
    ),
    **{
        command.name: LazyCommand(
            OTHER_MODULES.get(command.name, "chain"), command.summary, command.name in OF_JOBS
        )
        for command in CHAIN
    },
    "set-up": LazyCommand(
        "set_up",
        "Put kalypso on the PATH of a job's next steps, and run one command line.",
        hidden=True,
    ),
}
"""Commands by name, in the order of `--help`."""

APP_COMMANDS: Final = {
    "render": LazyCommand(
        "app_render",
        "Compute the GitOps tree of an application for one environment.",
    ),
}
"""The commands of `kalypso app`."""


def load(name: str, command: LazyCommand) -> Any:
    """Import a command or a group of commands, and return it in Typer's form."""
    module = import_command(f"kalypso_actions.cli.{command.module}")
    loaded = getattr(module, name.replace("-", "_"))
    if isinstance(loaded, TyperGroup):
        return loaded
    app = typer.Typer(add_completion=False, context_settings=HELP)
    words = f"app {name}" if command is APP_COMMANDS.get(name) else name
    app.command(name, cls=PlainCommand, epilog=help_end(words))(with_json_option(loaded))
    return typer.main.get_command(app)
