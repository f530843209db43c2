"""All commands, with their modules and summaries.

Each step of a job waits for its imports, so a command's module is imported only when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import typer
import typer.main
from typer.core import TyperCommand

from kalypso_actions.cli.process import import_command
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

    `module` is a module of this package with a class of the command's name. `summary` is the
    first paragraph of the help. A `hidden` command is only for jobs.
    """

    module: str
    summary: str
    hidden: bool = False


OTHER_MODULES: Final = {"preview": "preview"}
"""The modules of the chain's commands that people also run."""

OF_JOBS_ALONE: Final = frozenset({"set-up", "validate-workload"})
"""Commands of actions without options: functions, not classes."""

OF_JOBS: Final = frozenset({"preview-comment"})

COMMANDS: Final = {
    "init": LazyCommand(
        "init",
        "Set up two repositories, empty or not, as a control plane and its GitOps repository.",
    ),
    "doctor": LazyCommand(
        "checks",
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
        "validate",
        "Check the Workloads in the checkout of a job: the action of this name.",
        hidden=True,
    ),
    "template": LazyCommand("template", "Render one Template with given data, for its author."),
    "status": LazyCommand(
        "checks",
        "Show the pipeline: what each environment has, its state, and what waits for whom.",
    ),
    "report": LazyCommand(
        "report",
        "Write one self-contained page about the whole fleet, and its data.",
    ),
    "check-pages": LazyCommand(
        "checks",
        "Stop a job before it publishes a report to people who may not see all of it.",
        hidden=True,
    ),
    "schemas": LazyCommand(
        "template",
        "Write JSON Schemas of all kinds, for editors to complete and check documents.",
    ),
    "app": LazyCommand(
        "app",
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
            OTHER_MODULES.get(command.name, "job"), command.summary, command.name in OF_JOBS
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
    if name == "app":
        return module.application_group()
    words = f"app {name}" if command is APP_COMMANDS.get(name) else name
    if name in OF_JOBS_ALONE:
        return in_typer_form(words, getattr(module, name.replace("-", "_")))
    if command.module == "job":
        return in_typer_form(words, module.function_of_chain(name))
    kind = getattr(module, name.title().replace("-", ""))
    # The parsers of options need imports that the list of commands does not.
    from kalypso_actions.cli.command import function_of  # noqa: PLC0415

    function = function_of(kind.model, kind())
    function.__doc__ = kind.__doc__
    return in_typer_form(words, function)


def in_typer_form(words: str, function: Callable[..., None], end: str = "") -> Any:
    """Return a command in Typer's form; `end` is the end of its help, by default `help_end`."""
    app = typer.Typer(add_completion=False, context_settings=HELP)
    name = words.rpartition(" ")[2]
    app.command(name, cls=PlainCommand, epilog=end or help_end(words))(function)
    return typer.main.get_command(app)


_APP_RENDER: Final = "kalypso app render --environment dev --source . --configs ../shop-configs"
_PLANE: Final = "--control-plane acme/control-plane"

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": (
        f"kalypso init {_PLANE} --gitops acme/gitops --dry-run",
        "kalypso init --control-plane-dir ../control-plane --gitops-dir ../gitops",
    ),
    "app render": (
        f"{_APP_RENDER} --version local --image-tag local --out tree",
        f"{_APP_RENDER} --gitops ../shop-gitops@dev --out tree",
    ),
    "doctor": (f"kalypso doctor {_PLANE}",),
    "render": (
        "kalypso render dev",
        "kalypso render dev --gitops ../gitops@dev --out tree",
        "kalypso render dev --base-commit main --diff",
    ),
    "diff": (
        "kalypso diff dev stage",
        "kalypso diff dev stage --deployed --stat",
        "kalypso diff dev --deployed",
        "kalypso diff stage --to main --exit-code",
    ),
    "explain": (
        "kalypso explain dev --target hello-world --cluster-type edge",
        "kalypso explain stage --key DATABASE_URL",
        "kalypso explain dev --file large/hello-world/reconciler.yaml",
    ),
    "validate": (
        "kalypso validate",
        f"kalypso validate {_PLANE}",
        "kalypso validate --source https://github.com/acme/shop=../shop",
        "kalypso validate --workload .",
    ),
    "status": (
        "kalypso status",
        "kalypso status --control-plane acme/control-plane --watch",
        "kalypso status --environment stage --clusters --json",
    ),
    "report": (
        "kalypso report --out fleet-report",
        "kalypso report --control-plane https://github.com/acme/control-plane --out report",
    ),
    "schemas": ("kalypso schemas --out .schemas",),
    "template": ("kalypso template templates/flux.yaml --values values.yaml",),
    "sandbox": ("kalypso sandbox --dir trial --repository acme/control-plane",),
    "demo": ("kalypso demo",),
    **{command.name: command.examples for command in CHAIN if command.examples},
}

FAILURE: Final[Mapping[str, str]] = {
    "init": "a problem, or no consent",
    "render": "problems, or with --exit-code a difference",
    "diff": "new problems, or with --exit-code a difference",
    "check-promote": "problems, or clusters that do not comply",
}
"""The meaning of exit code 1, for each command for which it is not `problems`."""


def help_end(command: str) -> str:
    """Return the lines below a command's options."""
    examples = EXAMPLES.get(command, ())
    heading = ["Example:" if len(examples) == 1 else "Examples:"] if examples else []
    failure = FAILURE.get(command, "problems")
    return "\n".join(
        [*heading, *examples, f"Exit codes: 0 done, 1 {failure}, 2 wrong options or inputs."]
    )
