"""The JSON outputs of the promotion chain's commands, and the step summaries of the short ones.

`schedule`, `check-promote` and `preview` have modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from kalypso_actions.model.change_titles import ChangeKind, ChangeMeaning
from kalypso_actions.model.counts import counted
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.model.writes import Write, parts
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    ChangesEntry,
    Entries,
    OutputDocument,
    ProblemEntry,
    strict_end,
)
from kalypso_actions.report.escaping import json_text
from kalypso_actions.report.markdown import MAIN, Mark, PipelineNode, code, pipeline_diagram

SUMMARIES: Final = "summaries.md.j2"

DRY_RUN: Final = "nothing was written (dry run)"
"""The headline of a dry run."""


class WriteEntry(OutputDocument):
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


class ChainDocument(OutputDocument):
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


class EventEntry(OutputDocument):
    """What happened since the look before, to a cluster, a commit or a branch.

    `kind` is one of began-failing, off, gone, edited-by-hand, behind, waiting, recovered, returned
    and deployed. `version` and `commit` are those that the target should run; `link` is a page on
    GitHub ("" for none).
    """

    kind: str
    environment: str
    at: datetime
    cluster_type: str
    cluster: str
    cluster_name: str
    configuration: str
    target: str
    workload: str
    version: str
    commit: str
    reason: str
    link: str


EVENT_OUTPUTS: Final[Mapping[str, str]] = {
    "events": "What happened since the look before, as a JSON array: at most 200, worst first.",
    "more-events": "The numbers of the other events by kind, as a JSON object.",
}


class EventDocument(ChainDocument):
    """A document of a run that records what it saw."""

    events: Entries[EventEntry] = ()
    more_events: Mapping[str, int] = Field(default_factory=dict)


def _output(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
    return json_text(value)


def dry_run_summary(command: str, document: ChainDocument) -> str:
    """Return the step summary of a command that only lists its writes."""
    return markdown.render(SUMMARIES, "dry_run", **locals(), headline=DRY_RUN)


MOST_PATHS: Final = 100
"""The most paths to list for each environment."""


class CheckedEntry(OutputDocument):
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

    @property
    def paths(self) -> list[tuple[str, str]]:
        """The changed files, each after its change."""
        changes = self.changes or ChangesEntry()
        order = ("deleted", "modified", "added")
        return [(change, path) for change in order for path in getattr(changes, change)]


class CiDocument(ChainDocument):
    """The output of `kalypso ci --output json`; `environments` are those where CD was started.

    `warnings_fail`: with `strict`, CD was not started because of warnings.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where CD was started (JSON).",
        "problems": "The number of problems.",
        "warnings": "The number of warnings.",
    }

    schema_name: str = Field("kalypso.ci/v1", alias="schema")
    commit: str = ""
    environments: tuple[str, ...] = ()
    checked: tuple[CheckedEntry, ...] = ()
    warnings_fail: bool = False

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs, with the numbers of problems and warnings."""
        counts = {"problems": len(self.problems), "warnings": len(self.warnings)}
        return {**super().outputs(), **{name: str(count) for name, count in counts.items()}}

    @property
    def headline(self) -> str:
        """The result as a line of plain text, also the description of the status."""
        warnings = f", {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        warnings += strict_end(self)
        if self.problems:
            return counted(len(self.problems), "problem") + warnings
        numbers = [entry.assignments for entry in self.checked if entry.assignments is not None]
        total = counted(sum(numbers), "assignment")
        return f"{total} in {counted(len(numbers), 'environment')}{warnings}"


def changes_entry(changes: TreeChanges) -> ChangesEntry:
    """Leave out the file that tracks the commit, which changes with every commit."""
    entry = ChangesEntry.model_validate(changes)
    return ChangesEntry(**{name: entry.manifests(name) for name in ChangesEntry.model_fields})


def ci_summary(
    document: CiDocument,
    repository_url: str,
    started: Mapping[str, str],
    arrows: Sequence[tuple[str, str]],
) -> str:
    """Return the step summary.

    `repository_url` is that of the control plane; `started` are the URLs of cd's runs, by
    environment; `arrows` lead from main ("") and each environment to the next ones.
    """
    nodes = [PipelineNode(MAIN, document.commit[:7])]
    for entry in document.checked:
        mark: Mark = "failed" if entry.problems else ""
        node = PipelineNode(entry.environment, f"has {entry.has[:7] or 'none'}", mark)
        if entry.environment in started:
            node = PipelineNode(entry.environment, "cd is started", "active")
        nodes.append(node)
    diagram = pipeline_diagram(nodes, arrows)
    return markdown.render(SUMMARIES, "ci", MOST_PATHS=MOST_PATHS, **locals())


HEADLINES: Final[Mapping[str, str]] = {
    "written": "{environment} has {commit} now",
    "proposed": "{commit} is proposed to {environment}",
    "unchanged": "{environment} has {commit} already",
    "superseded": "{commit} is superseded in {environment}",
    "rejected": "{commit} was rejected for {environment}",
    "waiting": "{commit} waits for {environment}",
    "": "{commit} was not promoted to {environment}",
}
"""Headlines by the document's action."""


class CdDocument(ChainDocument):
    """The output of `kalypso cd --output json`.

    With `verify_only`, cd only compared the inputs with the repositories. If a rollback
    superseded the commit, `reason` names the rollback. `waiting_for` says why the environment's
    policy keeps the commit out, and `overridden` what a person has passed over.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the branch or the pull request changed.",
        "environment-commit": "The head of the environment's branch; empty with a pull request.",
        "pull-request-number": "The number of the pull request, with mode pull-request.",
        "pull-request-url": "The page of the pull request.",
        "waiting-for": "Why the environment's policy keeps the commit out; empty if it does not.",
    }

    schema_name: str = Field("kalypso.cd/v1", alias="schema")
    environment: str = ""
    commit: str = ""
    verify_only: bool = False
    action: Literal["written", "proposed", "unchanged", "superseded", "rejected", "waiting", ""] = (
        ""
    )
    reason: str = ""
    waiting_for: str = ""
    overridden: str = ""
    changed: bool = False
    environment_commit: str = ""
    pull_request_number: int | None = None
    pull_request_url: str = ""

    @property
    def headline(self) -> str:
        """The result as a line of plain text."""
        words = {"commit": self.commit[:7], "environment": self.environment}
        if self.verify_only and not self.waiting_for:
            return "{commit} may come to {environment}".format(**words)
        headline = HEADLINES[self.action].format(**words)
        reason = self.reason or self.waiting_for
        return f"{headline}: {reason}" if reason else headline


def cd_summary(
    document: CdDocument,
    *,
    repository_url: str,
    branch: str,
    before: str | None = None,
    hook: str = "",
    started: str = "",
    reasons: Sequence[str] = (),
    override: str = "",
) -> str:
    """Return the step summary.

    `repository_url` is that of the control plane, `branch` the environment's. `before` is the
    commit that the environment had or was about to have, `hook` the output of the pre-deployment
    command as Markdown, `started` the URL of schedule's run. `reasons` are those of the policy, and
    `override` is that of the person who has passed over them.
    """
    return markdown.render(SUMMARIES, "cd", **locals())


def proposal_body(
    meaning: ChangeMeaning,
    repository_url: str,
    before: str | None,
    person: str = "",
    passes_over: str = "",
) -> str:
    """Return the body of the pull request that brings a commit of main to an environment.

    `person` passes over the environment's policy, which would keep the commit out (`passes_over`).
    """
    environment, commit = meaning.environment, meaning.commit
    mark = markdown.marker("promotion", environment)
    return markdown.render(SUMMARIES, "cd_pull_request", **locals())


class NotifyDocument(ChainDocument):
    """The output of `kalypso notify --output json`."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "promoted": "true if the push is a promotion; empty with a notifier, which does not know.",
        "promoted-commit": "The promoted commit of main; empty with a notifier.",
        "run-url": "The page of the started run, if GitHub names it.",
    }

    schema_name: str = Field("kalypso.notify/v1", alias="schema")
    environments: tuple[str, ...] = ()
    promoted: bool | None = False
    promoted_commit: str = ""
    run_url: str = ""


@dataclass(frozen=True, slots=True)
class StartedCheck:
    """A started run of check-promote; `kind` is the meaning of the push for its environment.

    A notifier does not know the meaning. `commit` is the promoted commit of main ("": none).
    """

    environment: str
    kind: ChangeKind
    commit: str
    url: str

    @property
    def words(self) -> str:
        """The meaning of the push."""
        return ChangeMeaning(self.kind, self.environment, self.commit).words


def notify_summary(
    document: NotifyDocument, started: Sequence[StartedCheck], control_plane_url: str, reason: str
) -> str:
    """Return the step summary; `reason` says why nothing was started."""
    names = ", ".join(code(check.environment) for check in started)
    heading = f"started check-promote for {names}" if started else "nothing to start"
    if document.problems:
        heading = "some environments cannot be read"
    return markdown.render(SUMMARIES, "notify", **locals())


class StartEntry(OutputDocument):
    """A workflow that poll has started, with its inputs and the reason.

    `commit` is the promoted commit ("" for schedule); `attempt` counts the starts from 1; `url` is
    the page of the run.
    """

    workflow: str
    environment: str
    commit: str = ""
    attempt: int = 1
    reason: str
    url: str


class PollDocument(EventDocument):
    """The output of `kalypso poll --output json`.

    `environments` are those where schedule was started, `started` all starts.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON).",
        **EVENT_OUTPUTS,
    }

    schema_name: str = Field("kalypso.poll/v1", alias="schema")
    environments: tuple[str, ...] = ()
    started: tuple[StartEntry, ...] = ()


def poll_summary(document: PollDocument, command: str = "poll", proposes: str = "schedule") -> str:
    """Return the step summary of a `command` that repairs starts of the one that `proposes`."""
    started = ", ".join(map(code, document.environments))
    heading = "nothing to start"
    if started:
        heading = f"started {proposes} for {started}"
    elif document.started:
        heading = "repeated lost starts"
    if document.problems:
        heading += "; there are problems"
    return markdown.render(SUMMARIES, "poll", **locals())


class StartScheduleDocument(ChainDocument):
    """The output of `kalypso start-schedule --output json`; `environments` are those started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON).",
    }

    schema_name: str = Field("kalypso.start-schedule/v1", alias="schema")
    branch: str = ""
    environments: tuple[str, ...] = ()


def start_schedule_summary(
    document: StartScheduleDocument, started: Mapping[str, str], *, is_own: bool
) -> str:
    """Return the step summary.

    `started` are the URLs of schedule's runs, by environment. `is_own` means that the branch is
    Kalypso's.
    """
    headline = start_schedule_headline(document, is_own=is_own, name=code)
    return markdown.render(SUMMARIES, "start_schedule", **locals())


def start_schedule_headline(
    document: StartScheduleDocument, *, is_own: bool, name: Callable[[str], str] = str
) -> str:
    """Return the result as a line; `name` formats the names in it."""
    branch = name(document.branch)
    if is_own:
        return f"nothing to start, {branch} is one of Kalypso's own branches"
    if document.environments:
        environments = ", ".join(map(name, document.environments))
        more = "; there are problems" if document.problems else ""
        return f"started schedule for {environments}{more}"
    if document.problems:
        return f"schedule could not be started after a push to {branch}"
    return f"nothing to start, no environment lies on the branch {branch}"
