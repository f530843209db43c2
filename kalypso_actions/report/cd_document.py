"""The output of `kalypso cd --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument


class CdDocument(ChainDocument):
    """The output of `kalypso cd --output json`.

    With `verify_only`, cd only compared the inputs with the repositories. If a rollback
    superseded the commit, `reason` names the rollback.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the branch or the pull request changed.",
        "environment-commit": "The head of the environment's branch; empty with a pull request.",
        "pull-request-number": "The number of the pull request, with mode pull-request.",
        "pull-request-url": "The page of the pull request.",
    }

    schema_name: str = Field("kalypso.cd/v1", alias="schema")
    environment: str = ""
    commit: str = ""
    verify_only: bool = False
    action: Literal["written", "proposed", "unchanged", "superseded", "rejected", ""] = ""
    reason: str = ""
    changed: bool = False
    environment_commit: str = ""
    pull_request_number: int | None = None
    pull_request_url: str = ""
