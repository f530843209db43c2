"""The output of `kalypso schedule --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import ChangesEntry, Document, LeftOutEntry, PositionEntry


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
    """The output of `kalypso schedule --output json`.

    `digest` is that of the first GitOpsRepo. `left_out` are the applications that are frozen or
    missing.
    """

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
    left_out: tuple[LeftOutEntry, ...] = ()
    assignments: int = 0
    requeue_time: str = ""
    digest: str = ""
    changes: ChangesEntry = Field(default_factory=ChangesEntry)
    pull_requests: tuple[PullRequestEntry, ...] = ()
    pull_request_number: int | None = None
    pull_request_url: str = ""
