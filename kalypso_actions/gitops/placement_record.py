"""`.github/tracking/placements.json`: the decisions of Placements in a merged tree."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kalypso_actions.model.placements import PlacedDecision
from kalypso_actions.model.tree import BaseTree

SCHEMA: Final = "kalypso.placements/v1"


def placements_file(decisions: Iterable[PlacedDecision]) -> bytes:
    """Return the record, sorted."""
    entries = [
        {
            "clusterTypes": list(item.cluster_types),
            "placement": item.placement,
            "policy": item.policy,
            "target": item.target,
            "time": item.time,
        }
        for item in sorted(decisions, key=lambda d: (d.policy, d.placement, d.target))
    ]
    body = {"placements": entries, "schema": SCHEMA}
    return (json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def read_placements(content: bytes | None) -> tuple[PlacedDecision, ...] | None:
    """Return the decisions of a record; None if there is no readable record."""
    try:
        body = json.loads(content or b"")
        if body["schema"] != SCHEMA:
            return None
        return tuple(
            PlacedDecision(
                str(item["policy"]),
                str(item["placement"]),
                str(item["target"]),
                tuple(map(str, item["clusterTypes"])),
                str(item["time"]),
            )
            for item in body["placements"]
        )
    except (ValueError, KeyError, TypeError):
        return None


def recorded_placements(trees: Sequence[BaseTree]) -> tuple[PlacedDecision, ...] | None:
    """Return the decisions of the first tree that has a record."""
    records = (read_placements(tree.placements) for tree in trees)
    return next((record for record in records if record is not None), None)


def assigned_cluster_types(trees: Sequence[BaseTree]) -> Mapping[str, tuple[str, ...]]:
    """Return, by target, the cluster types that hold it in the first tree."""
    holders: dict[str, set[str]] = {}
    for tree in trees[:1]:
        prefix = f"{tree.path}/" if tree.path else ""
        for path in tree.entries:
            cluster_type, slash, rest = path.removeprefix(prefix).partition("/")
            target, below, _ = rest.partition("/")
            if path.startswith(prefix) and slash and below and not cluster_type.startswith("."):
                holders.setdefault(target, set()).add(cluster_type)
    return {target: tuple(sorted(names)) for target, names in holders.items()}
