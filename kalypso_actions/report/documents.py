"""The JSON output of commands: `"schema": "kalypso.<command>/v1"`, one model per command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field
from pydantic.alias_generators import to_camel

from kalypso_actions.errors import Finding, Level, Location, of_level
from kalypso_actions.model.counts import counted
from kalypso_actions.model.differences import Change
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.report.escaping import json_text

LEVELS: Final[dict[str, Level]] = {
    "problems": "error",
    "warnings": "warning",
    "acknowledged": "warning",
    "notes": "note",
}
"""The lists of findings in a document, with the level of each."""

STRICT_END: Final = "; warnings fail (strict)"

CHANGES: Final = ("added", "modified", "deleted")

Item = TypeVar("Item")

Entries = Annotated[tuple[Item, ...], FailFast()]
"""Entries of a document that a stranger may have written: hostile JSON with millions of wrong ones
would make as many errors, of a kilobyte each."""


class OutputDocument(BaseModel):
    """A document with camel-case names in JSON; every field is always present."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        from_attributes=True,
        defer_build=True,  # a command starts faster without building the models of others
    )

    @classmethod
    def all_of(cls, values: Iterable[Any]) -> tuple[Self, ...]:
        """Convert values of the stages, which have the attributes of this model, in order."""
        return tuple(map(cls.model_validate, values))

    def to_json(self) -> str:
        r"""Format the document; a byte of a path that is not UTF-8 becomes \xff."""
        return json_text(self.model_dump(by_alias=True, mode="json"), indent=2)

    @property
    def failed(self) -> bool:
        """Whether the exit code is 1: for problems, and with `strict` for warnings."""
        return bool(getattr(self, "problems", ()) or getattr(self, "warnings_fail", False))

    def strictly(self, *, strict: bool) -> Self:
        """Return the document; with `strict`, its warnings fail."""
        fail = strict and bool(getattr(self, "warnings", ()))
        return self.model_copy(update={"warnings_fail": fail})

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The problems and the warnings."""
        return self._listed("problems", "warnings")

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """All findings, with those that a command shows only if it is asked to."""
        return self._listed(*LEVELS)

    def _listed(self, *names: str) -> tuple[Finding, ...]:
        return tuple(
            entry.finding(LEVELS[name]) for name in names for entry in getattr(self, name, ())
        )


class Where(OutputDocument):
    """A location; `line` is 0 for a whole file or repository, `column` for a whole line.

    `commit` is "" for a file of a folder.
    """

    repository: str
    path: str
    line: int
    column: int = 0
    branch: str = ""
    commit: str = ""

    @classmethod
    def of(cls, location: Location | None) -> Self | None:
        """Convert a location; None stays None."""
        return None if location is None else cls.model_validate(location)

    def location(self) -> Location:
        """Convert to the type of the stages."""
        return Location(**self.model_dump())


class ProblemEntry(OutputDocument):
    """A problem, a warning or a note; `code` is its kind, "" for failures of other systems."""

    message: str
    where: Where | None
    advice: str
    code: str = ""

    def finding(self, level: Level = "error") -> Finding:
        """Convert to the type of the stages."""
        where = self.where.location() if self.where else None
        reason = getattr(self, "reason", "")
        return Finding(self.message, where, self.advice, self.code, reason=reason, level=level)


class AcknowledgedEntry(ProblemEntry):
    """A warning that people acknowledge at its object, with their reason."""

    reason: str


def finding_fields(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the fields of a document that list findings: by level, and acknowledged warnings."""
    listed = tuple(findings)
    fields = {name: ProblemEntry.all_of(of_level(listed, level)) for name, level in LEVELS.items()}
    acknowledged = AcknowledgedEntry.all_of(item for item in listed if item.reason)
    return {**fields, "acknowledged": acknowledged}


class SourceEntry(OutputDocument):
    """A repository that was read; `commit` is null for a plain folder."""

    part: str
    repository: str
    branch: str
    path: str
    commit: str | None

    @classmethod
    def all_of(cls, sources: Iterable[tuple[str, Revision]]) -> tuple[Self, ...]:
        """Convert pairs of a part and its revision."""
        return tuple(cls(part=part, **asdict(revision)) for part, revision in sources)


class PositionEntry(OutputDocument):
    """The commit of main that an environment has.

    `ahead` is the number of commits that main has after it; null if it is not on main, or unknown
    because of `fault`.
    """

    environment: str
    branch: str
    commit: str
    subject: str
    ahead: int | None
    fault: str = ""

    @classmethod
    def of(cls, environment: str, position: BranchPosition) -> Self:
        """Convert the position of a commit on main."""
        return cls(environment=environment, **asdict(position))

    @property
    def text(self) -> str:
        """Which commit the environment has, and how far the branch is ahead."""
        subject = f' "{self.subject}"' if self.subject else ""
        commit = f"{self.branch} at {self.commit[:7]}{subject}"
        return f"{self.environment} has {commit}: {self.distance}"

    @property
    def distance(self) -> str:
        """How far the branch is ahead of the commit."""
        if self.fault:
            return f"how far {self.branch} is ahead is unknown, {self.fault}"
        if self.ahead is None:
            return f"the commit is not on {self.branch}"
        if not self.ahead:
            return f"this is the newest commit of {self.branch}"
        return f"{self.branch} is {counted(self.ahead, 'commit')} ahead"


class ChangesEntry(OutputDocument):
    """Changed paths, without `sources.json`, which alone does not count as a change."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    def manifests(self, change: str) -> tuple[str, ...]:
        """Return the paths of one list without the files that track the promotion."""
        mark = f"/{TRACKING_FOLDER}/"
        paths: tuple[str, ...] = getattr(self, change)
        return tuple([path for path in paths if mark[1:] not in path or mark not in f"/{path}"])

    def counts(self, *changes: str) -> str:
        """Return `1 added, 2 modified, 0 deleted, 9 unchanged`, or the given parts of it."""
        words = changes or (*CHANGES, "unchanged")
        return ", ".join(f"{len(self.manifests(word))} {word}" for word in words)


class FileDiffEntry(OutputDocument):
    """A file that differs: its unified diff, and the numbers of its changed lines."""

    path: str
    change: Change
    insertions: int
    deletions: int
    diff: str

    @classmethod
    def of(cls, path: str, change: Change, diff: str) -> Self:
        """Count the lines of a diff, which begins with the names of both sides."""
        lines = diff.split("\n")[2:]
        return cls(
            path=path,
            change=change,
            insertions=sum(line.startswith("+") for line in lines),
            deletions=sum(line.startswith("-") for line in lines),
            diff=diff,
        )


class LeftOutEntry(OutputDocument):
    """A WorkloadRegistration whose head is not rendered.

    It is frozen (its folders stay as they are, or come from its last good `commit`) or missing from
    the tree. `assignments` is the number of its assignments, null if that is not known.
    """

    registration: str
    state: Literal["frozen", "missing"]
    assignments: int | None = None
    commit: str = ""

    @property
    def text(self) -> str:
        """What happens to the application, without its name."""
        if self.assignments is None:
            number = "its assignments"
        else:
            number = f"its {counted(self.assignments, 'assignment')}"
        if self.state == "missing":
            return f"is missing: {number} cannot be rendered"
        if self.commit:
            return f"is frozen at its last good commit {self.commit[:7]}, with {number}"
        return f"is frozen: the folders of {number} stay as they are"


class SchemasDocument(OutputDocument):
    """The output of `kalypso schemas --output json`: the names of the files in `dir`."""

    schema_name: str = Field("kalypso.schemas/v1", alias="schema")
    dir: str
    files: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def finding_counts(findings: Iterable[Finding]) -> str:
    """Return `1 problem, 2 warnings`, without acknowledged warnings."""
    counts = Counter(finding.level for finding in findings if not finding.reason)
    return f"{counted(counts['error'], 'problem')}, {counted(counts['warning'], 'warning')}"


def finding_verdict(document: OutputDocument) -> str:
    """Return the numbers of findings, and whether warnings make the run fail."""
    return finding_counts(document.findings) + strict_end(document)


def strict_end(document: OutputDocument) -> str:
    """Return the end of a headline if warnings make the run fail."""
    return STRICT_END if getattr(document, "warnings_fail", False) else ""


def hidden_counts(findings: Iterable[Finding]) -> str:
    """Return `3 notes, 1 warning acknowledged`; "" without such findings."""
    counts = Counter("acknowledged" if finding.reason else finding.level for finding in findings)
    notes = counted(counts["note"], "note") if counts["note"] else ""
    acknowledged = counts["acknowledged"]
    words = f"{counted(acknowledged, 'warning')} acknowledged" if acknowledged else ""
    return ", ".join(filter(None, (notes, words)))
