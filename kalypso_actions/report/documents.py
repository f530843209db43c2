"""The JSON output of commands: `"schema": "kalypso.<command>/v1"`, one model per command."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WrapValidator
from pydantic.alias_generators import to_camel

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import counted
from kalypso_actions.model.differences import Change
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.tree import LeftOutApplication
from kalypso_actions.report.json_text import json_text
from kalypso_actions.report.rows_on_demand import LONG, RowsOnDemand


class Document(BaseModel):
    """A document with camel-case names in JSON; every field is always present."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # a command starts faster without building the models of others
    )

    def to_json(self) -> str:
        r"""Format the document; a byte of a path that is not UTF-8 becomes \xff."""
        return "".join(self.json_parts())

    def json_parts(self) -> Iterator[str]:
        """Yield the text of `to_json` in parts; each item of a long list is a part."""
        values = {name: value for name, value in self if _is_long(value)}
        body = self.model_dump(by_alias=True, mode="json", exclude=set(values))
        separator = "{"
        for name, field in type(self).model_fields.items():
            alias = field.alias or name
            yield f"{separator}\n  {json_text(alias)}: "
            separator = ","
            if name in values:
                yield from _items(values[name])
            else:
                yield _indented(json_text(body[alias], indent=2), "  ")
        yield "\n}"


def _is_long(value: object) -> bool:
    if not (isinstance(value, tuple | RowsOnDemand) and len(value) > LONG):
        return False
    return isinstance(next(iter(value)), Document)


def _read(value: object, read: Callable[[object], Any]) -> Any:
    """Leave rows on demand as they are."""
    return value if isinstance(value, RowsOnDemand) else read(value)


def _items(documents: Iterable[Document]) -> Iterator[str]:
    separator = "["
    for document in documents:
        text = json_text(document.model_dump(by_alias=True, mode="json"), indent=2)
        yield f"{separator}\n    {_indented(text, '    ')}"
        separator = ","
    yield "\n  ]"


def _indented(text: str, indent: str) -> str:
    """Indent all lines but the first; the strings of JSON have no line breaks."""
    return text.replace("\n", f"\n{indent}")


class Where(Document):
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
        if location is None:
            return None
        return cls(**dataclasses.asdict(location))

    def location(self) -> Location:
        """Convert to the type of the stages."""
        return Location(**self.model_dump())


class ProblemEntry(Document):
    """A problem, a warning or a note; `code` is its kind, "" for failures of other systems."""

    message: str
    where: Where | None
    advice: str
    code: str = ""

    @classmethod
    def all_of(cls, problems: Iterable[Problem]) -> tuple[Self, ...]:
        """Convert problems, in order."""
        names = cls.model_fields.keys() & {"message", "advice", "code", "reason"}
        return tuple(
            cls.model_validate(
                {"where": Where.of(problem.where), **{n: getattr(problem, n) for n in names}}
            )
            for problem in problems
        )

    def problem(self) -> Problem:
        """Convert to the type of the stages."""
        where = self.where.location() if self.where else None
        return Problem(self.message, where, self.advice, self.code)


class AcknowledgedEntry(ProblemEntry):
    """A warning that people acknowledge at its object, with their reason."""

    reason: str


class SourceEntry(Document):
    """A repository that was read; `commit` is null for a plain folder."""

    part: str
    repository: str
    branch: str
    path: str
    commit: str | None

    @classmethod
    def all_of(cls, sources: Iterable[tuple[str, Revision]]) -> tuple[Self, ...]:
        """Convert pairs of a part and its revision."""
        return tuple(
            cls(
                part=part,
                repository=revision.repository,
                branch=revision.branch,
                path=revision.path,
                commit=revision.commit,
            )
            for part, revision in sources
        )


class PositionEntry(Document):
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
        return cls(
            environment=environment,
            branch=position.branch,
            commit=position.commit,
            subject=position.subject,
            ahead=position.ahead,
            fault=position.fault,
        )


class AssignmentEntry(Document):
    """One target on one cluster type; `files` are paths in the tree."""

    workload: str
    deployment_target: str
    cluster_type: str
    policies: tuple[str, ...]
    namespace: str
    files: tuple[str, ...]


class ChangesEntry(Document):
    """Changed paths, without `sources.json`, which alone does not count as a change."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


class FileDiffEntry(Document):
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


class LeftOutEntry(Document):
    """A WorkloadRegistration whose head is not rendered.

    It is frozen (its folders stay as they are, or come from its last good `commit`) or missing from
    the tree. `assignments` is the number of its assignments, null if that is not known.
    """

    registration: str
    state: Literal["frozen", "missing"]
    assignments: int | None = None
    commit: str = ""

    @classmethod
    def all_of(cls, items: Iterable[LeftOutApplication]) -> tuple[LeftOutEntry, ...]:
        """Return an entry for each application."""
        return tuple(
            cls(
                registration=item.registration,
                state="missing" if item.is_missing else "frozen",
                assignments=item.assignments,
                commit=item.commit,
            )
            for item in items
        )

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


class RenderDocument(Document):
    """The output of `kalypso render --output json`.

    If it is not `compared`, problems make the tree's content unknown, and `changes` are empty.
    `diffs` are those of `--diff` and `--stat`, with secrets masked. `commit` is the commit that
    `--commit-to` made, "" if it made none. `left_out` are the applications that are frozen or
    missing.
    """

    schema_name: str = Field("kalypso.render/v1", alias="schema")
    environment: str
    main: PositionEntry | None = None
    sources: tuple[SourceEntry, ...] = ()
    assignments: Annotated[Sequence[AssignmentEntry], WrapValidator(_read)] = ()
    compared: bool = True
    changes: ChangesEntry = Field(default_factory=ChangesEntry)
    diffs: tuple[FileDiffEntry, ...] = ()
    commit: str = ""
    degraded: bool = False
    left_out: tuple[LeftOutEntry, ...] = ()
    notes: tuple[ProblemEntry, ...] = ()
    acknowledged: tuple[AcknowledgedEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class ValidateDocument(Document):
    """The output of `kalypso validate --output json`."""

    schema_name: str = Field("kalypso.validate/v1", alias="schema")
    sources: tuple[SourceEntry, ...] = ()
    main: tuple[PositionEntry, ...] = ()
    documents: int = 0
    notes: tuple[ProblemEntry, ...] = ()
    acknowledged: tuple[AcknowledgedEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class SchemasDocument(Document):
    """The output of `kalypso schemas --output json`: the names of the files in `dir`."""

    schema_name: str = Field("kalypso.schemas/v1", alias="schema")
    dir: str
    files: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class TemplateProblemEntry(ProblemEntry):
    """A problem of a template; `excerpt` shows its place in the text ("" for none)."""

    excerpt: str = ""


class TemplateDocument(Document):
    """The output of `kalypso template --output json`.

    `output` is the text of all `manifests`; with problems, both are empty. A byte that is not
    UTF-8 becomes U+FFFD.
    """

    schema_name: str = Field("kalypso.template/v1", alias="schema")
    template: str
    manifests: tuple[str, ...] = ()
    output: str = ""
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[TemplateProblemEntry, ...] = ()


class AppEntry(Document):
    """A GitHub App of the sandbox; `privateKey` is the path of its key."""

    id: int
    owner: str
    private_key: str


class SandboxDocument(Document):
    """The output of `kalypso sandbox --output json` once the sandbox serves.

    `page` is the URL of a page that shows the sandbox's contents. `environment` has the variables
    for programs that use the sandbox, including the token.
    """

    schema_name: str = Field("kalypso.sandbox/v1", alias="schema")
    dir: str
    url: str = ""
    page: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    app: AppEntry | None = None
    repositories: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
