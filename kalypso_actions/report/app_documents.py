"""The JSON output of the commands of an application: `"schema": "kalypso.app-<name>/v1"`."""

from __future__ import annotations

from pydantic import Field

from kalypso_actions.report.documents import ChangesEntry, Document, ProblemEntry, SourceEntry


class AppTargetEntry(Document):
    """A target; `values` are the files of its values, from the first level down."""

    folder: str
    values: tuple[str, ...]
    files: tuple[str, ...]
    images: tuple[str, ...] = ()


class AppChangesEntry(ChangesEntry):
    """Changed paths.

    `kept` are files that no run wrote, `edited` are generated files that people changed.
    """

    kept: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


class AppRenderDocument(Document):
    """The output of `kalypso app render --output json`.

    If it is not `compared`, problems make the tree's content unknown, and `changes` are empty.
    `programs` are the generators with their versions. `commit` is the commit that `--commit-to`
    made, "" if it made none.
    """

    schema_name: str = Field("kalypso.app-render/v1", alias="schema")
    environment: str
    compatibility: str = "none"
    generator: str = ""
    programs: dict[str, str] = Field(default_factory=dict)
    sources: tuple[SourceEntry, ...] = ()
    variables: dict[str, str] = Field(default_factory=dict)
    targets: tuple[AppTargetEntry, ...] = ()
    compared: bool = True
    changes: AppChangesEntry = Field(default_factory=AppChangesEntry)
    commit: str = ""
    notes: tuple[ProblemEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
