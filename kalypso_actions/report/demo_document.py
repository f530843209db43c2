"""The JSON output of `kalypso demo`."""

from __future__ import annotations

from pydantic import Field

from kalypso_actions.report.documents import Document, ProblemEntry


class DemoStepEntry(Document):
    """A step of `kalypso demo`.

    `who` is a command of Kalypso, `people`, or `status` (the statuses of a commit). `ending` is the
    result of a command in a word; `folder` has its files.
    """

    act: str
    at: str
    who: str
    environment: str = ""
    text: str
    ending: str = ""
    as_expected: bool = True
    details: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    folder: str = ""


class DemoRepositoryEntry(Document):
    """A repository of the sample organisation; git clones it from its path."""

    name: str
    path: str


class DemoDocument(Document):
    """The output of `kalypso demo --output json`.

    `url` is that of the sandbox, `report` the path of the page about the fleet ("" after a
    problem).
    """

    schema_name: str = Field("kalypso.demo/v1", alias="schema")
    dir: str
    url: str = ""
    report: str = ""
    repositories: tuple[DemoRepositoryEntry, ...] = ()
    steps: tuple[DemoStepEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
