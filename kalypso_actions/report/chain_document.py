"""The common part of the JSON outputs of the promotion chain's commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic.alias_generators import to_camel

from kalypso_actions.model.writes import Write, parts
from kalypso_actions.report.documents import AcknowledgedEntry, Document, Entries, ProblemEntry
from kalypso_actions.report.escaping import json_text


class WriteEntry(Document):
    """A write to GitHub or to a remote, such as a push; `what` describes it for people."""

    kind: str
    repository: str
    what: str

    @classmethod
    def all_of(cls, writes: Iterable[Write]) -> tuple[WriteEntry, ...]:
        """Return an entry for each write, and for what follows it."""
        return tuple(cls.model_validate(part) for write in writes for part in parts(write))

    @property
    def line(self) -> str:
        """The write as a line of plain text."""
        return f"{self.repository}: {self.kind}: {self.what}"


class ChainDocument(Document):
    """The fields common to the commands of the chain.

    `OUTPUTS` describes the fields that are also outputs of the action. `writes` are those that a
    dry run would make.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {}

    notes: Entries[ProblemEntry] = ()
    acknowledged: Entries[AcknowledgedEntry] = ()
    warnings: Entries[ProblemEntry] = ()
    problems: Entries[ProblemEntry] = ()
    writes: Entries[WriteEntry] = ()

    def outputs(self) -> Mapping[str, str]:
        """Return the action's outputs: strings unchanged, None as "", other values as JSON."""
        body = self.model_dump(by_alias=True, mode="json")
        return {name: _output(body[to_camel(name.replace("-", "_"))]) for name in self.OUTPUTS}


def _output(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
    return json_text(value)
