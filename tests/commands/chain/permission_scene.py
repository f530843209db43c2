"""A command that needs certain permissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kalypso_actions.commands.registry import Level
from kalypso_actions.commands.shared.result import CommandResult
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation

Credential = Mapping[str, str]
"""The inputs for the identity of a command: a token, or an App's id and key."""

Run = Callable[[Credential], CommandResult]

READ: Final[Mapping[str, Level]] = {"contents": "read"}
RECORDS: Final[Mapping[str, Level]] = {"contents": "read", "statuses": "write"}


@dataclass(frozen=True)
class Scene:
    """A command that needs exactly `needs`: the level of each permission, by repository.

    `prepare` sets up the scene and returns the command. `check` asserts its whole effect.
    With `verify_only`, the command gets this input.
    """

    command: str
    name: str
    prepare: Callable[[Organisation], Run]
    check: Callable[[Organisation], None]
    needs: Mapping[str, Mapping[str, Level]]
    verify_only: bool = False

    @property
    def id(self) -> str:
        return f"{self.command}, {self.name}"

    @property
    def is_job(self) -> bool:
        """Whether the job's own token suffices: the command uses no other repository."""
        return self.needs.keys() == {CONTROL_PLANE}


def runs(acme: Organisation, command: Any, model: Any, **given: Any) -> Run:
    """Return the command with these inputs, to be run with a credential."""
    return lambda credential: acme.run(command, model, **{**given, **credential})
