"""The JSON output of placement, by OCM's names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kalypso_actions.report.documents import Document, ProblemEntry


class FilterResultEntry(Document):
    """The clusters that the filters up to this one left."""

    name: str
    filtered_clusters: tuple[str, ...]


class PrioritizeResultEntry(Document):
    """The scores of one prioritizer; a cluster without an entry counts 0."""

    name: str
    weight: int
    scores: dict[str, int]


class AggregatedScoreEntry(Document):
    """The weighted total of a cluster."""

    cluster_name: str
    score: int


class DecisionGroupEntry(Document):
    """A decision group, and the PlacementDecisions that hold it."""

    decision_group_index: int
    decision_group_name: str
    decisions: tuple[str, ...]
    cluster_count: int
    clusters: tuple[str, ...]


class PlacementDecisionEntry(Document):
    """A PlacementDecision that OCM would write."""

    name: str
    labels: dict[str, str]
    clusters: tuple[str, ...]


class ScheduleStatusEntry(Document):
    """The outcome of scheduling."""

    code: Literal["Success", "Warning", "Error", "Misconfigured"]
    plugin: str
    message: str


class ConditionEntry(Document):
    """A condition of the Placement."""

    status: Literal["True", "False"]
    reason: str
    message: str


class PlacementStatusEntry(Document):
    """The status that OCM would write."""

    number_of_selected_clusters: int
    conditions: dict[str, ConditionEntry]


class PlacementDocument(Document):
    """The decisions of OCM; a field is null if OCM stops before it.

    `decodeError`, `panic` and `skipped` say that OCM decides nothing: it cannot read the
    documents, its code panics, or it skips the Placement.
    """

    schema_name: Literal["kalypso.placement/v1"] = Field("kalypso.placement/v1", alias="schema")
    placement: str = ""
    namespace: str = ""
    now: str = ""
    bound_cluster_sets: tuple[str, ...] | None = None
    eligible_cluster_sets: tuple[str, ...] | None = None
    available_clusters: tuple[str, ...] | None = None
    filtered_pipeline_results: tuple[FilterResultEntry, ...] | None = None
    prioritize_results: tuple[PrioritizeResultEntry, ...] | None = None
    aggregated_scores: tuple[AggregatedScoreEntry, ...] | None = None
    decisions: tuple[str, ...] | None = None
    number_of_unscheduled: int | None = None
    decision_groups: tuple[DecisionGroupEntry, ...] | None = None
    decision_groups_status: ScheduleStatusEntry | None = None
    placement_decisions: tuple[PlacementDecisionEntry, ...] | None = None
    schedule_status: ScheduleStatusEntry | None = None
    requeue_time: str | None = None
    status: PlacementStatusEntry | None = None
    sync_error: str | None = None
    decode_error: str | None = None
    panic: str | None = None
    skipped: bool | None = None
    problems: tuple[ProblemEntry, ...] = ()
