"""JSON that commands print: `"schema": "kalypso.<command>/v1"`, one model per command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Revision

_NO_TEXT = re.compile("[\udc80-\udcff]")


class Document(BaseModel):
    """Camel-case names outside; every field is always present."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # a command starts quicker without building what others print
    )

    def to_json(self) -> str:
        r"""The document as it is printed; a byte of a path that is not UTF-8 is written as \xff."""
        body = self.model_dump(by_alias=True, mode="json")
        text = json.dumps(body, indent=2, ensure_ascii=False)
        return _NO_TEXT.sub(lambda found: f"\\\\x{ord(found[0]) - 0xDC00:02x}", text)


class Where(Document):
    """A place; `line` is 0 for the place as a whole."""

    repository: str
    path: str
    line: int

    @classmethod
    def of(cls, location: Location | None) -> Self | None:
        """None stays None."""
        if location is None:
            return None
        return cls(repository=location.repository, path=location.path, line=location.line)

    def location(self) -> Location:
        """The place as the stages have it."""
        return Location(self.repository, self.path, self.line)


class ProblemEntry(Document):
    """A problem, a warning or a note."""

    message: str
    where: Where | None
    advice: str

    @classmethod
    def all_of(cls, problems: Iterable[Problem]) -> tuple[Self, ...]:
        """In the order given."""
        return tuple(
            cls(message=problem.message, where=Where.of(problem.where), advice=problem.advice)
            for problem in problems
        )

    def problem(self) -> Problem:
        """The problem as the stages have it."""
        return Problem(self.message, self.where.location() if self.where else None, self.advice)


class SourceEntry(Document):
    """A repository that was read; `commit` is null for a plain folder."""

    part: str
    repository: str
    branch: str
    path: str
    commit: str | None

    @classmethod
    def all_of(cls, sources: Iterable[tuple[str, Revision]]) -> tuple[Self, ...]:
        """Parts and what was read for them."""
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


class AssignmentEntry(Document):
    """One target on one cluster type; `files` are paths in the tree."""

    workload: str
    deployment_target: str
    cluster_type: str
    policies: tuple[str, ...]
    namespace: str
    files: tuple[str, ...]


class ChangesEntry(Document):
    """Paths; `sources.json`, which alone is no change, is left out."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


class RenderDocument(Document):
    """What `kalypso render --output json` prints."""

    schema_name: str = Field("kalypso.render/v1", alias="schema")
    environment: str
    sources: tuple[SourceEntry, ...] = ()
    assignments: tuple[AssignmentEntry, ...] = ()
    changes: ChangesEntry = Field(default_factory=ChangesEntry)
    degraded: bool = False
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class ValidateDocument(Document):
    """What `kalypso validate --output json` prints."""

    schema_name: str = Field("kalypso.validate/v1", alias="schema")
    sources: tuple[SourceEntry, ...] = ()
    documents: int = 0
    notes: tuple[ProblemEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class TemplateProblemEntry(ProblemEntry):
    """A problem of a template; `excerpt` shows the place in its text, and is "" without one."""

    excerpt: str = ""


class TemplateDocument(Document):
    """What `kalypso template --output json` prints.

    `output` is all `manifests` as one text, as they would be written; with problems, both are
    empty. A byte that is no UTF-8 appears as U+FFFD.
    """

    schema_name: str = Field("kalypso.template/v1", alias="schema")
    template: str
    manifests: tuple[str, ...] = ()
    output: str = ""
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[TemplateProblemEntry, ...] = ()


class AppEntry(Document):
    """A GitHub App of the sandbox; `privateKey` is the file of its key."""

    id: int
    owner: str
    private_key: str


class SandboxDocument(Document):
    """What `kalypso sandbox --output json` prints once it serves.

    `environment` holds the variables to use, the token among them.
    """

    schema_name: str = Field("kalypso.sandbox/v1", alias="schema")
    dir: str
    url: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    app: AppEntry | None = None
    repositories: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class DemoStepEntry(Document):
    """Something that happened in the play of `kalypso demo`.

    `who` is a command of Kalypso, `people`, or `status` (what the statuses of a commit say).
    `ending` says in a word how a command has ended; `folder` has what it has left.
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
    """What `kalypso demo --output json` prints; `url` is where the sandbox was served."""

    schema_name: str = Field("kalypso.demo/v1", alias="schema")
    dir: str
    url: str = ""
    repositories: tuple[DemoRepositoryEntry, ...] = ()
    steps: tuple[DemoStepEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class InitFileEntry(Document):
    """A file that init would write.

    `action` is add, replace (upstream's workflow), update (a workflow that people have changed) or
    delete (what is left of upstream's); the last two are `written` only with consent. `diff` is a
    unified diff.
    """

    path: str
    action: str
    reason: str
    diff: str
    written: bool


class InitBranchEntry(Document):
    """A branch; `commit` is its new one, or that of the pull request."""

    repository: str
    branch: str
    is_new: bool
    files: tuple[InitFileEntry, ...]
    commit: str = ""
    pull_request_url: str = ""


class InitTaskEntry(Document):
    """Something that people have to do: pages by what they are for, and what to type."""

    title: str
    text: str
    links: dict[str, str]
    lines: tuple[str, ...]


class InitDocument(Document):
    """What `kalypso init --output json` prints; `written`: something was pushed, or is proposed."""

    schema_name: str = Field("kalypso.init/v1", alias="schema")
    control_plane: str
    gitops: str
    environments: tuple[str, ...] = ()
    written: bool = False
    branches: tuple[InitBranchEntry, ...] = ()
    remaining: tuple[InitTaskEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class CheckEntry(Document):
    """One thing that was checked; `advice` says what to do, "" where all is well.

    `link` is the page where to do it, "" where there is none.
    """

    place: str
    state: Literal["ok", "warning", "problem"]
    text: str
    advice: str = ""
    link: str = ""


class DoctorDocument(Document):
    """What `kalypso doctor --output json` prints; `problems` are what ended the run early."""

    schema_name: str = Field("kalypso.doctor/v1", alias="schema")
    control_plane: str = ""
    checks: tuple[CheckEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether something of the chain would."""
        return bool(self.problems) or any(one.state == "problem" for one in self.checks)
