"""The JSON output of init."""

from __future__ import annotations

from pydantic import Field

from kalypso_actions.report.documents import Document, ProblemEntry


class InitFileEntry(Document):
    """A change to a file.

    `action` is add, replace (upstream's workflow), update (a workflow that people have changed) or
    delete (a file that upstream left behind); update and delete need consent to be `written`.
    `diff` is a unified diff.
    """

    path: str
    action: str
    reason: str
    diff: str
    written: bool


class InitBranchEntry(Document):
    """A branch; `commit` is its new commit, or that of the pull request."""

    repository: str
    branch: str
    is_new: bool
    files: tuple[InitFileEntry, ...]
    commit: str = ""
    pull_request_url: str = ""


class InitTaskEntry(Document):
    """A task for people: pages by purpose, and lines to type."""

    title: str
    text: str
    links: dict[str, str]
    lines: tuple[str, ...]


class InitDocument(Document):
    """The output of `kalypso init --output json`.

    `written` means that init pushed or proposed at least one branch.
    """

    schema_name: str = Field("kalypso.init/v1", alias="schema")
    control_plane: str
    gitops: str
    environments: tuple[str, ...] = ()
    written: bool = False
    branches: tuple[InitBranchEntry, ...] = ()
    remaining: tuple[InitTaskEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
