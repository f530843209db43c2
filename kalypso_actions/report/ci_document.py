"""The output of `kalypso ci --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import ChangesEntry, Document


class CheckedEntry(Document):
    """An environment rendered with the commit.

    `has` is the environment's commit of main ("" for none). `assignments` is null if rendering
    failed, `changes` if there is no GitOps branch to compare with. `changes` leaves out the file
    that tracks the commit.
    """

    environment: str
    has: str
    assignments: int | None
    changes: ChangesEntry | None
    problems: int
    warnings: int


class CiDocument(ChainDocument):
    """The output of `kalypso ci --output json`; `environments` are those where CD was started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where CD was started (JSON).",
        "problems": "The number of problems.",
        "warnings": "The number of warnings.",
    }

    schema_name: str = Field("kalypso.ci/v1", alias="schema")
    commit: str = ""
    environments: tuple[str, ...] = ()
    checked: tuple[CheckedEntry, ...] = ()

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs, with the numbers of problems and warnings."""
        counts = {"problems": len(self.problems), "warnings": len(self.warnings)}
        return {**super().outputs(), **{name: str(count) for name, count in counts.items()}}
