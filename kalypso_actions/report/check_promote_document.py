"""The output of `kalypso check-promote --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kalypso_actions.model.verdicts import Verdict
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import Document


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
    """The output of `kalypso check-promote --output json`; `clusters` has the number per state.

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
