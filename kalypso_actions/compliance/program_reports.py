"""The document that a program prints about clusters → cluster reports.

{"schema": "kalypso.cluster-reports/v1", "clusters": [
    {"cluster": "hamburg-1", "paths": ["depot"], "commit": "3e2c…", "state": "compliant"}]}
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from kalypso_actions.compliance.cluster_states import synced_commit
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.cluster_reports import ClusterReport, ReportedPath
from kalypso_actions.model.object_ids import is_commit_id

SCHEMA: Final = "kalypso.cluster-reports/v1"

Name = Annotated[str, Field(min_length=1)]
State = Literal["compliant", "progressing", "failed", "suspended", "unreachable"]

DATE: Final = re.compile(r"\d{4}-")


def _written_as_a_time(time: object) -> object:
    """Raise ValueError for a number, also in a text: pydantic takes it for seconds since 1970."""
    if not isinstance(time, str) or not DATE.match(time):
        raise ValueError("it is no time such as 2026-05-01T12:00:00Z")
    return time


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written_as_a_time)]

STATES: Final[dict[State, str]] = {
    "compliant": "Compliant",
    "progressing": "Progressing",
    "failed": "Non-Compliant",
    "suspended": "Suspended",
    "unreachable": "Unreachable",
}


class ProgramReport(BaseModel):
    """What a program says of a cluster; a path is relative to the root of the branch.

    `since` is when the state began, `reported_at` when the cluster last reported.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    cluster: Name
    paths: Annotated[tuple[str, ...], Field(min_length=1)]
    commit: str
    state: State
    since: Moment | None = None
    reported_at: Moment | None = None
    message: str = ""
    configuration: str = ""

    @field_validator("commit")
    @classmethod
    def _names_a_commit(cls, commit: str) -> str:
        if commit and not is_commit_id(synced_commit(commit)):
            raise ValueError("it is no commit of 40 digits, no revision of Flux, and not empty")
        return commit

    def report(self, now: datetime) -> ClusterReport:
        """Return the cluster report; without any time, the program has seen the cluster now."""
        return ClusterReport(
            cluster=self.cluster,
            configuration=self.configuration,
            paths=tuple(map(ReportedPath, self.paths)),
            revision=self.commit,
            state=STATES[self.state],
            message=self.message,
            source_updated_at=self.since,
            reported_at=self.reported_at or self.since or now,
            unreachable=self.message or "the program says so"
            if self.state == "unreachable"
            else "",
        )


class ProgramDocument(BaseModel):
    """The document of a program. A field that nobody knows is refused: it may be misspelt."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_: Annotated[Literal["kalypso.cluster-reports/v1"], Field(alias="schema")]
    clusters: tuple[ProgramReport, ...]


def reports_of_program(text: str, now: datetime) -> tuple[ClusterReport, ...]:
    """Return the reports in a document.

    Raise KalypsoError, naming the entry, if the document is not exactly of this form.
    """
    try:
        content = json.loads(text, object_pairs_hook=_without_repeated_keys)
        document = ProgramDocument.model_validate_json(text)
    except ValidationError as error:
        raise _fault(_first_of(error, content), f"{len(error.errors())} faults") from None
    except (ValueError, RecursionError) as error:
        raise _fault(str(error)) from None
    return tuple(entry.report(now) for entry in document.clusters)


def _fault(message: str, others: str = "") -> KalypsoError:
    also = f" (the first of {others})" if others and not others.startswith("1 ") else ""
    return KalypsoError(
        f"reports-command printed no {SCHEMA} document: {message}{also}",
        advice="print one JSON document on standard output, and nothing else",
    )


def _first_of(error: ValidationError, content: object) -> str:
    """Return the first fault, with the place of the entry and the name of its cluster."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    name = ""
    match first["loc"], content:
        case ("clusters", int() as index, *_), {"clusters": list() as entries}:
            entry = entries[index]
            name = f" ({entry.get('cluster')!r})" if isinstance(entry, dict) else ""
    return f"{place or 'document'}{name}: {first['msg']}"


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        entry = f" of the cluster {content['cluster']!r}" if "cluster" in content else ""
        raise ValueError(f"the key {repeated!r}{entry} stands twice")
    return content
