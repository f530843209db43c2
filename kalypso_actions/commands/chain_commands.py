"""The commands of the promotion chain: on the command line, and behind actions.

An action has the name of its command; start-schedule is run by the action of the root.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, Final

from kalypso_actions.commands.chain_run import ChainCommand
from kalypso_actions.inputs.chain import (
    CdInputs,
    ChainInputs,
    CheckPromoteInputs,
    CiInputs,
    NotifyInputs,
    PollInputs,
    ScheduleInputs,
    StartScheduleInputs,
)
from kalypso_actions.report.chain_documents import (
    CdDocument,
    ChainDocument,
    CheckPromoteDocument,
    CiDocument,
    NotifyDocument,
    PollDocument,
    ScheduleDocument,
    StartScheduleDocument,
)


def _command(
    name: str, model: type[ChainInputs], document: type[ChainDocument]
) -> ChainCommand[Any]:
    """The function of the command's name, in the module of this name."""
    function = name.replace("-", "_")
    place = f"kalypso_actions.commands.{function}:{function}"
    return ChainCommand(name, model, document, lambda: resolve_name(place))


CHAIN: Final = (
    _command("ci", CiInputs, CiDocument),
    _command("cd", CdInputs, CdDocument),
    _command("schedule", ScheduleInputs, ScheduleDocument),
    _command("notify", NotifyInputs, NotifyDocument),
    _command("check-promote", CheckPromoteInputs, CheckPromoteDocument),
    _command("poll", PollInputs, PollDocument),
    _command("start-schedule", StartScheduleInputs, StartScheduleDocument),
)
