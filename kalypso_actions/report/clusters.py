"""Clusters for people: how many are how, of each cluster type, and each one with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kalypso_actions.report.chain_documents import ClusterEntry
from kalypso_actions.report.markdown import code, details, table, text

WORST_FIRST: Final = ("failed", "suspended", "stale", "progressing", "ahead", "compliant")
MOST_ROWS: Final = 300
"""A page shows no more clusters; the JSON output has all of them."""

FEW: Final = 20
"""So many clusters are shown without a click."""

MOST_WORDS: Final = 300
"""Characters of a reason: a page has room for some hundred of them."""


def clusters_section(clusters: Sequence[ClusterEntry], missing: Sequence[str]) -> str:
    """A table of the cluster types and one of the clusters, the worst first; "" for none."""
    if not clusters and not missing:
        return ""
    every = sorted(
        clusters, key=lambda one: (WORST_FIRST.index(one.state), one.cluster_type, one.id)
    )
    shown = table(
        ("cluster", "cluster type", "state", "commit", "why"), map(_row, every[:MOST_ROWS])
    )
    if len(every) > MOST_ROWS:
        shown += f"\n\n… and {len(every) - MOST_ROWS} more"
    if len(every) > FEW:
        shown = details(f"{len(every)} clusters", shown)
    parts = ["### Clusters", _cluster_types(clusters, missing)]
    return "\n\n".join([*parts, shown] if every else parts)


def _cluster_types(clusters: Sequence[ClusterEntry], missing: Sequence[str]) -> str:
    """One row for each cluster type, one column for each state that occurs."""
    counted = Counter((one.cluster_type, one.state) for one in clusters)
    occurring = {one.state for one in clusters}
    states = [state for state in reversed(WORST_FIRST) if state in occurring]
    rows = []
    for name in sorted({one.cluster_type for one in clusters} | set(missing)):
        counts = [counted[name, state] for state in states]
        told = [code(name) if name else "none of ours", str(sum(counts))]
        rows.append([*told, *(str(count or "") for count in counts)])
    return table(("cluster type", "clusters", *states), rows)


def _row(one: ClusterEntry) -> tuple[str, ...]:
    name = one.id.rstrip("/").rpartition("/")[2]
    return (
        code(name),
        code(one.cluster_type) if one.cluster_type else "",
        text(one.state),
        code(one.revision[:7]) if one.revision else "",
        text(one.reason[:MOST_WORDS] + ("…" if len(one.reason) > MOST_WORDS else "")),
    )
