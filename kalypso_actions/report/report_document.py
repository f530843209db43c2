"""The data of the report: report.json, and the page."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from kalypso_actions.report.documents import (
    Document,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    Where,
)


class ConfiguredValueEntry(Document):
    """A value of the merged configuration, without secrets, and the places that set it in order."""

    key: str
    value: str
    origins: tuple[Where, ...]


class ReportedAssignmentEntry(Document):
    """A target on a cluster type in an environment.

    `configuration` is the index of its values in `configurations`. `files` are the indexes of the
    texts by name; without any, `failure` says why, or the report has no files.
    """

    environment: str
    target: str
    workload: str
    workspace: str
    cluster_type: str
    namespace: str
    policies: tuple[str, ...]
    configuration: int
    files: dict[str, int]
    failure: str = ""


class ReportedEnvironmentEntry(Document):
    """An environment: the commit of main that it has, the sources, and the findings."""

    environment: str
    main: PositionEntry | None
    sources: tuple[SourceEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class ReportDocument(Document):
    """report.json of `kalypso report`, and what it prints with `--output json` without `texts`.

    `texts` and `configurations` have equal contents once. `with_files` is false for a fleet that is
    too large for the texts of its files.
    """

    schema_name: str = Field("kalypso.report/v1", alias="schema")
    title: str = ""
    at: datetime | None = None
    environments: tuple[ReportedEnvironmentEntry, ...] = ()
    with_files: bool = True
    assignments: tuple[ReportedAssignmentEntry, ...] = ()
    configurations: tuple[tuple[ConfiguredValueEntry, ...], ...] = ()
    texts: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
