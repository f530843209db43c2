"""Runs of kalypso cd for dev, and their writes."""

from __future__ import annotations

from typing import Any

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from tests.commands.chain.organisation import Dispatch, Organisation

DEV = "dev environment"


SCHEDULE = Dispatch("schedule.yaml", {"environment": "dev"})


DISPATCH = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"


def run(acme: Organisation, commit: str, **inputs: Any) -> CommandResult:
    return acme.run(cd, CdInputs, **{"environment": "dev", "commit": commit, **inputs})


def bring(
    acme: Organisation, commit: str, environment: str = "dev", *, deployed: bool = True
) -> None:
    """Promote a commit as a person, a minute later; then its clusters comply, if `deployed`."""
    acme.clock.sleep(60)
    run(acme, commit, environment=environment, allow_rollback="true")
    if deployed:
        acme.status(commit, f"{environment} environment", "Deployed", "success")


def promote(acme: Organisation, text: str, *, deployed: bool = True) -> str:
    """Promote a new commit of main to dev; return it."""
    commit = change_main(acme, text)
    bring(acme, commit, deployed=deployed)
    return commit


def document(result: CommandResult) -> CdDocument:
    assert isinstance(result.document, CdDocument)
    return result.document


def change_main(acme: Organisation, text: str = "a change") -> str:
    return acme.commit({"notes.txt": text})


def has(acme: Organisation, branch: str = "dev", path: str = "base-repo.yaml") -> str:
    """Return the commit that the environment's file names."""
    (line,) = [line for line in acme.files(branch)[path].splitlines() if "commit:" in line]
    return line.split()[1]
