"""Divide the selected clusters into decision groups, and these into objects."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_placement.filters import selector_matcher
from kalypso_placement.objects import PLACEMENT_LABEL, Cluster, Placement
from kalypso_placement.statuses import SUCCESS, Status

MAX_DECISIONS: Final = 100
GROUP_NAME_LABEL: Final = "cluster.open-cluster-management.io/decision-group-name"
GROUP_INDEX_LABEL: Final = "cluster.open-cluster-management.io/decision-group-index"

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """An object that lists at most 100 of the selected clusters."""

    name: str
    labels: dict[str, str]
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The names of selected clusters, and the objects that list them."""

    index: int
    name: str
    clusters: tuple[str, ...]
    decisions: tuple[PlacementDecision, ...]


def divide(placement: Placement, selected: Sequence[Cluster]) -> tuple[list[Group], Status]:
    """Divide the selected clusters; after an error, return only the groups before it."""
    named_clusters, status = _named_groups(placement, selected)
    groups: list[Group] = []
    number = 1
    for index, (name, clusters) in enumerate(named_clusters):
        decisions = tuple(_decisions(placement.name, index, name, clusters, number))
        number += len(decisions)
        groups.append(Group(index, name, clusters, decisions))
    return groups, status


def _named_groups(
    placement: Placement, selected: Sequence[Cluster]
) -> tuple[list[tuple[str, tuple[str, ...]]], Status]:
    groups: list[tuple[str, tuple[str, ...]]] = []
    size = group_size(placement.clusters_per_group, len(selected))
    if size is None:
        message = f"{placement.clusters_per_group} is neither a number nor a percentage"
        return groups, Status("Misconfigured", "", message)
    remaining = list(selected)
    for group in placement.groups:
        matches = selector_matcher(group.selector)
        if isinstance(matches, Status):
            return groups, Status("Misconfigured", "", matches.message)
        matched = [cluster for cluster in remaining if matches(cluster)]
        remaining = [cluster for cluster in remaining if not matches(cluster)]
        groups += _split(group.name, matched, size)
    groups += _split("", remaining, size)
    return groups or [("", ())], SUCCESS


def group_size(size: int | str, total: int) -> int | None:
    """Return the maximum number of clusters of a group; None for text that is not a percentage.

    Round a percentage up in floating point, as OCM does: 7% of 100 is 8.
    """
    if isinstance(size, str):
        if not _NUMBER.match(size):
            return None
        size = math.ceil(float(size[:-1]) / 100 * total)
    return total if size <= 0 or size > total else size


def _split(
    name: str, clusters: Sequence[Cluster], size: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    names = sorted(cluster.name for cluster in clusters)
    for start in range(0, len(names), size or 1):
        yield name, tuple(names[start : start + size])


def _decisions(
    placement: str, index: int, group: str, clusters: tuple[str, ...], number: int
) -> Iterator[PlacementDecision]:
    labels = {PLACEMENT_LABEL: placement, GROUP_NAME_LABEL: group, GROUP_INDEX_LABEL: str(index)}
    for offset, start in enumerate(range(0, len(clusters) or 1, MAX_DECISIONS)):
        part = clusters[start : start + MAX_DECISIONS]
        yield PlacementDecision(f"{placement}-decision-{number + offset}", labels, part)
