"""The commands of the promotion chain, on the command line and behind actions.

An action has the name of its command; the action at the root runs start-schedule. A command is
imported when it is called, because each step of a job waits for its imports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kalypso_actions.commands.runtime.context import CommandContext
    from kalypso_actions.commands.runtime.result import CommandResult
    from kalypso_actions.inputs.chain import ChainInputs
    from kalypso_actions.report.chain_documents import ChainDocument


@dataclass(frozen=True, slots=True)
class ChainCommand:
    """A command by its name, such as `check-promote`, with the first paragraph of its help.

    Its parts are named after it: `CheckPromoteInputs`, `CheckPromoteDocument`, and the function
    `check_promote` in the module or package `check_promote`.
    """

    name: str
    summary: str

    @property
    def model(self) -> type[ChainInputs]:
        """The model of its inputs."""
        model: type[ChainInputs] = self._resolve(f"inputs.chain:{self._class}Inputs")
        return model

    @property
    def document(self) -> type[ChainDocument]:
        """The model of its result."""
        document: type[ChainDocument] = self._resolve(
            f"report.chain_documents:{self._class}Document"
        )
        return document

    @property
    def function(self) -> Callable[[Any, CommandContext], CommandResult]:
        """The function that runs it with its inputs."""
        module = self.name.replace("-", "_")
        function: Callable[[Any, CommandContext], CommandResult]
        function = self._resolve(f"commands.{module}:{module}")
        return function

    @property
    def _class(self) -> str:
        return self.name.title().replace("-", "")

    def _resolve(self, place: str) -> Any:
        return resolve_name(f"kalypso_actions.{place}")


CHAIN: Final = (
    ChainCommand(
        "ci", "Check a commit of main in every environment, and start cd for the first ones."
    ),
    ChainCommand("cd", "Promote a commit of main to an environment, and start schedule for it."),
    ChainCommand(
        "schedule",
        "Render an environment and propose its tree: one pull request for each GitOpsRepo.",
    ),
    ChainCommand(
        "notify",
        "Tell the control plane of a push to a GitOps branch, and whether it is a promotion.",
    ),
    ChainCommand(
        "check-promote",
        "Wait until the clusters of an environment comply with a merge, then promote its commit.",
    ),
    ChainCommand(
        "poll",
        "Start schedule where the inputs of an environment have changed, and repeat lost starts.",
    ),
    ChainCommand(
        "start-schedule",
        "Start schedule for every environment that a branch of the control plane belongs to.",
    ),
)
