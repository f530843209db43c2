"""The commands of the promotion chain: on the command line, and behind actions of their names."""

from __future__ import annotations

from typing import Any, Final

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.chain_run import ChainCommand
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_documents import CdDocument

CHAIN: Final[tuple[ChainCommand[Any], ...]] = (ChainCommand("cd", CdInputs, cd, CdDocument),)
