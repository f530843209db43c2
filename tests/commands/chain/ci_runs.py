"""Runs of ci, and their findings."""

from __future__ import annotations

from typing import Any

from kalypso_actions.commands.ci import ci
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import CiInputs
from kalypso_actions.report.chain_document import CiDocument
from tests.commands.chain.organisation import (
    Dispatch,
    Job,
    Organisation,
)

PUSH = Job("push")


def run(acme: Organisation, *, job: Job = PUSH, **inputs: Any) -> CommandResult:
    return acme.run(ci, CiInputs, job=job, **inputs)


def document(result: CommandResult) -> CiDocument:
    assert isinstance(result.document, CiDocument)
    return result.document


def problems(result: CommandResult) -> list[str]:
    return [problem.message for problem in result.document.problems]


def warnings(result: CommandResult) -> list[str]:
    return [warning.message for warning in result.document.warnings]


def cd(commit: str, environment: str = "dev") -> Dispatch:
    inputs = {"promoted_commit_id": commit, "environment": environment, "promoted_from": "ci"}
    return Dispatch("cd.yaml", inputs)
