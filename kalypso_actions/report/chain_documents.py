"""The JSON output of the promotion chain's commands, and their actions' outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from kalypso_actions.model.verdicts import Verdict
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    ChangesEntry,
    Document,
    PositionEntry,
    ProblemEntry,
)
from kalypso_actions.report.json_text import json_text


class ChainDocument(Document):
    """The fields common to the commands of the chain.

    `OUTPUTS` describes the fields that are also outputs of the action.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {}

    notes: tuple[ProblemEntry, ...] = ()
    acknowledged: tuple[AcknowledgedEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()

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


class CheckedEntry(Document):
    """An environment rendered with the commit.

    `has` is the commit of main that it has now ("" for none). `assignments` is null if rendering
    failed, `changes` if there is no GitOps branch to compare with. `changes` leaves out the file
    that tracks the commit.
    """

    environment: str
    has: str
    assignments: int | None
    changes: ChangesEntry | None
    problems: int
    warnings: int


class CiDocument(ChainDocument):
    """The output of `kalypso ci --output json`; `environments` are those where CD was started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where CD was started (JSON).",
        "problems": "The number of problems.",
        "warnings": "The number of warnings.",
    }

    schema_name: str = Field("kalypso.ci/v1", alias="schema")
    commit: str = ""
    environments: tuple[str, ...] = ()
    checked: tuple[CheckedEntry, ...] = ()

    def outputs(self) -> Mapping[str, str]:
        """Return the outputs, with the numbers of problems and warnings."""
        counts = {"problems": len(self.problems), "warnings": len(self.warnings)}
        return {**super().outputs(), **{name: str(count) for name, count in counts.items()}}


class CdDocument(ChainDocument):
    """The output of `kalypso cd --output json`.

    With `verify_only`, cd only compared the inputs with the repositories. `reason` names the
    rollback if that superseded the commit.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the branch or the pull request changed.",
        "environment-commit": "The head of the environment's branch; empty with a pull request.",
        "pull-request-number": "The number of the pull request, with mode pull-request.",
        "pull-request-url": "The page of the pull request.",
    }

    schema_name: str = Field("kalypso.cd/v1", alias="schema")
    environment: str = ""
    commit: str = ""
    verify_only: bool = False
    action: Literal["written", "proposed", "unchanged", "superseded", "rejected", ""] = ""
    reason: str = ""
    changed: bool = False
    environment_commit: str = ""
    pull_request_number: int | None = None
    pull_request_url: str = ""


class PullRequestEntry(Document):
    """A pull request of ours, and the `action` of this run on it.

    `auto_merge` means that GitHub merges it as soon as its requirements are met.
    """

    repository: str
    number: int
    url: str
    action: Literal["created", "updated", "unchanged", "withdrawn", "merged"]
    auto_merge: bool = False


class ScheduleDocument(ChainDocument):
    """The output of `kalypso schedule --output json`; `digest` is that of the first GitOpsRepo."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the tree differs from that of the GitOps branch.",
        "promoted": "true if the promoted commit differs from that of the GitOps branch.",
        "degraded": "true if a registered repository could not be used.",
        "assignments": "The number of assignments.",
        "digest": "A hash of the tree for the first GitOpsRepo.",
        "requeue-time": "When Placements may decide otherwise without any change, or empty.",
        "pull-requests": "The repository, number, url and action of each pull request (JSON).",
        "pull-request-number": "The number of the first pull request.",
        "pull-request-url": "The page of the first pull request.",
    }

    schema_name: str = Field("kalypso.schedule/v1", alias="schema")
    environment: str = ""
    main: PositionEntry | None = None
    changed: bool = False
    promoted: bool = False
    degraded: bool = False
    assignments: int = 0
    requeue_time: str = ""
    digest: str = ""
    changes: ChangesEntry = Field(default_factory=ChangesEntry)
    pull_requests: tuple[PullRequestEntry, ...] = ()
    pull_request_number: int | None = None
    pull_request_url: str = ""


class NotifyDocument(ChainDocument):
    """The output of `kalypso notify --output json`."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "promoted": "true if the push is a promotion.",
        "promoted-commit": "The promoted commit of main.",
        "run-url": "The page of the started run, if GitHub names it.",
    }

    schema_name: str = Field("kalypso.notify/v1", alias="schema")
    environments: tuple[str, ...] = ()
    promoted: bool = False
    promoted_commit: str = ""
    run_url: str = ""


class ClusterEntry(Document):
    """A cluster and its state; `changed` means that the previous observation had another state."""

    id: str
    cluster_type: str
    state: str
    reason: str
    revision: str
    changed: bool = False


class ForeignPathsEntry(Document):
    """A cluster that follows paths outside of the environment's tree."""

    id: str
    paths: tuple[str, ...]


class CheckPromoteDocument(ChainDocument):
    """The output of `kalypso check-promote --output json`; `clusters` counts them by state.

    With `verify_only`, check-promote only compared the inputs with the repositories, and there is
    no verdict.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "verdict": "compliant, nothing-scheduled, waiting, superseded, failed, none-targeted or "
        "timed-out.",
        "clusters": "The number of clusters in each state (JSON).",
        "promoted-to": "The environments where CD was started (JSON).",
    }

    schema_name: str = Field("kalypso.check-promote/v1", alias="schema")
    environment: str = ""
    promoted_commit: str = ""
    gitops_commit: str = ""
    verify_only: bool = False
    verdict: Verdict | Literal[""] = ""
    reason: str = ""
    clusters: Mapping[str, int] = Field(default_factory=dict)
    rows: tuple[ClusterEntry, ...] = ()
    missing: tuple[str, ...] = ()
    not_ours: tuple[ForeignPathsEntry, ...] = ()
    promoted_to: tuple[str, ...] = ()


class StartEntry(Document):
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


class PollDocument(ChainDocument):
    """The output of `kalypso poll --output json`.

    `environments` are those where schedule was started, `started` all starts.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON)."
    }

    schema_name: str = Field("kalypso.poll/v1", alias="schema")
    environments: tuple[str, ...] = ()
    started: tuple[StartEntry, ...] = ()


class StartScheduleDocument(ChainDocument):
    """The output of `kalypso start-schedule --output json`; `environments` are those started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON)."
    }

    schema_name: str = Field("kalypso.start-schedule/v1", alias="schema")
    branch: str = ""
    environments: tuple[str, ...] = ()
