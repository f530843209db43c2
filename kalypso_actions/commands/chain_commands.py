"""The commands of the promotion chain: on the command line, and behind actions.

An action has the name of its command; start-schedule is run by the action of the root.
"""

from __future__ import annotations

from typing import Any, Final

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.chain_run import ChainCommand
from kalypso_actions.commands.check_promote import check_promote
from kalypso_actions.commands.ci import ci
from kalypso_actions.commands.notify import notify
from kalypso_actions.commands.poll import poll
from kalypso_actions.commands.schedule import schedule
from kalypso_actions.commands.start_schedule import start_schedule
from kalypso_actions.inputs.chain import (
    CdInputs,
    CheckPromoteInputs,
    CiInputs,
    NotifyInputs,
    PollInputs,
    ScheduleInputs,
    StartScheduleInputs,
)
from kalypso_actions.report.chain_documents import (
    CdDocument,
    CheckPromoteDocument,
    CiDocument,
    NotifyDocument,
    PollDocument,
    ScheduleDocument,
    StartScheduleDocument,
)

CHAIN: Final[tuple[ChainCommand[Any], ...]] = (
    ChainCommand("ci", CiInputs, ci, CiDocument),
    ChainCommand("cd", CdInputs, cd, CdDocument),
    ChainCommand("schedule", ScheduleInputs, schedule, ScheduleDocument),
    ChainCommand("notify", NotifyInputs, notify, NotifyDocument),
    ChainCommand("check-promote", CheckPromoteInputs, check_promote, CheckPromoteDocument),
    ChainCommand("poll", PollInputs, poll, PollDocument),
    ChainCommand("start-schedule", StartScheduleInputs, start_schedule, StartScheduleDocument),
)
