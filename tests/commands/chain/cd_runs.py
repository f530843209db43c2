"""Runs of kalypso cd for dev, and their writes."""

from __future__ import annotations

from typing import Any

from kalypso_actions.commands.cd.command import cd
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from tests.commands.chain.organisation import Dispatch, Organisation

DEV = "dev environment"


SCHEDULE = Dispatch("schedule.yaml", {"environment": "dev"})


DISPATCH = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"


def run(acme: Organisation, commit: str, **inputs: Any) -> CommandResult:
    return acme.run(cd, CdInputs, **{"environment": "dev", "commit": commit, **inputs})


def document(result: CommandResult) -> CdDocument:
    assert isinstance(result.document, CdDocument)
    return result.document


def change_main(acme: Organisation, text: str = "a change") -> str:
    return acme.commit({"notes.txt": text})


def has(acme: Organisation, branch: str = "dev", path: str = "base-repo.yaml") -> str:
    """Return the commit that the environment's file names."""
    (line,) = [line for line in acme.files(branch)[path].splitlines() if "commit:" in line]
    return line.split()[1]
