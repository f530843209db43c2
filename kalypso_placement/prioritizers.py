"""The prioritizers, their weights and their scores.

Scores are whole numbers from -100 to 100. They are computed in floating point, in OCM's order of
operations, and truncated toward zero: Balance scores 2 of 5 as 18, not as 20.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model.kubernetes_names import LABEL_LIMIT
from kalypso_placement.filters import SUCCESS, Status
from kalypso_placement.hub import Hub
from kalypso_placement.objects import Cluster, Placement, Prioritizer

HIGHEST: Final = 100
RESOURCES: Final[Mapping[str, str]] = {
    "ResourceAllocatableCPU": "cpu",
    "ResourceAllocatableMemory": "memory",
}
DEFAULTS: Final = (
    Prioritizer("BuiltIn", "Balance", None, 1),
    Prioritizer("BuiltIn", "Steady", None, 1),
)

Scores = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PrioritizerResult:
    """The scores of one prioritizer; a cluster without an entry has the score 0."""

    name: str
    weight: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """The input of a prioritizer: a placement, the clusters that pass the filters, and the time."""

    placement: Placement
    clusters: Sequence[Cluster]
    hub: Hub
    incumbents: set[str]
    now: int


def effective_prioritizers(placement: Placement) -> tuple[list[Prioritizer], Status]:
    """Return the prioritizers that run, by name, or why the policy is misconfigured.

    A built-in prioritizer that is listed twice counts once, with the last weight. Each one with an
    `addOn` counts separately, as in OCM, where the address of the `addOn` is part of the key.
    """
    if placement.mode not in {"Exact", "Additive", ""}:
        return [], _misconfigured(f"incorrect prioritizer policy mode: {placement.mode}")
    chosen: dict[object, Prioritizer] = {}
    if placement.mode != "Exact":
        chosen = {(item.type, item.built_in): item for item in DEFAULTS}
    for index, item in enumerate(placement.prioritizers):
        if item is None:
            return [], _misconfigured("scoreCoordinate field is required")
        chosen[(item.type, item.built_in) if item.add_on is None else index] = item
    running = sorted(
        (item for item in chosen.values() if item.weight), key=lambda p: (p.name, p.weight)
    )
    for item in running:
        if item.type == "BuiltIn" and item.built_in not in _BUILT_IN:
            return [], _misconfigured(f"incorrect builtin prioritizer: {item.built_in}")
        if item.type != "BuiltIn" and item.add_on is None:
            return [], _misconfigured("addOn should not be empty")
    return running, SUCCESS


def _misconfigured(message: str) -> Status:
    return Status("Misconfigured", "", message)


def score_of(prioritizer: Prioritizer, question: ScoreInput) -> tuple[Scores, Status]:
    """Return the scores of the clusters, and a warning if scores have expired."""
    if prioritizer.type == "BuiltIn":
        return _BUILT_IN[prioritizer.built_in](question)
    assert prioritizer.add_on is not None  # noqa: S101 - effective_prioritizers refuses it
    return _add_on(*prioritizer.add_on, prioritizer.name, question)


def _balance(question: ScoreInput) -> tuple[Scores, Status]:
    """Score clusters higher the fewer of the hub's other placements select them."""
    counts, largest = question.hub.counts_of_others(question.placement)
    by_count = {n: 2 * int(HIGHEST * (0.5 - n / largest)) for n in set(counts.values())}
    scores = {
        cluster.name: by_count[counts[cluster.name]] if cluster.name in counts else HIGHEST
        for cluster in question.clusters
    }
    return scores, SUCCESS


def _steady(question: ScoreInput) -> tuple[Scores, Status]:
    """Score the clusters that the placement has selected so far."""
    if len(question.placement.name) > LABEL_LIMIT:
        message = f"the name of the placement has more than {LABEL_LIMIT} characters"
        return {}, Status("Error", "Steady", message)
    incumbents = question.incumbents
    names = (cluster.name for cluster in question.clusters)
    return {name: HIGHEST if name in incumbents else 0 for name in names}, SUCCESS


def _allocatable(resource: str) -> Callable[[ScoreInput], tuple[Scores, Status]]:
    def scores(question: ScoreInput) -> tuple[Scores, Status]:
        amounts = {
            cluster.name: cluster.allocatable[resource].approximate
            for cluster in question.clusters
            if resource in cluster.allocatable and resource in cluster.capacity
        }
        least, most = min(amounts.values(), default=0.0), max(amounts.values(), default=0.0)
        if most - least == 0:
            return dict.fromkeys(amounts, HIGHEST), SUCCESS
        return {
            name: int(((amount - least) / (most - least) - 0.5) * 2.0 * 100.0)
            for name, amount in amounts.items()
        }, SUCCESS

    return scores


def _add_on(resource: str, name: str, owner: str, question: ScoreInput) -> tuple[Scores, Status]:
    """Return the scores that an add-on publishes; a missing or expired score is 0."""
    scores = dict.fromkeys((cluster.name for cluster in question.clusters), 0)
    expired: list[str] = []
    for cluster in scores:
        published = question.hub.scores.get((cluster, resource))
        if published is None:
            continue
        if published.valid_until is not None and question.now > published.valid_until:
            expired.append(f"{cluster}/{resource}")
        else:
            scores[cluster] = dict(published.scores).get(name, 0)
    if expired:
        message = f"AddOnPlacementScores {' '.join(expired)} expired"
        return scores, Status("Warning", owner, message)
    return scores, SUCCESS


_BUILT_IN: Final[Mapping[str, Callable[[ScoreInput], tuple[Scores, Status]]]] = {
    "Balance": _balance,
    "Steady": _steady,
    **{name: _allocatable(resource) for name, resource in RESOURCES.items()},
}
