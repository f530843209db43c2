"""Clusters for people: how many are how, of each cluster type, and each one with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kalypso_actions.model.counts import abbreviated
from kalypso_actions.report.chain_documents import ClusterEntry, ForeignPathsEntry
from kalypso_actions.report.markdown import code, details, table, text

WORST_FIRST: Final = ("failed", "suspended", "stale", "progressing", "ahead", "compliant")
MOST_ROWS: Final = 300
"""A page shows no more clusters; the JSON output has all of them."""

FEW: Final = 20
"""So many clusters are shown without a click."""

MOST_NAMES: Final = 5
"""A line names no more clusters."""

COMPLYING: Final = frozenset({"compliant", "ahead"})
COLUMNS: Final = ("Cluster", "Cluster type", "State", "Commit", "Why")
"""What is told of a cluster; its reason comes last."""

MOST_WORDS: Final = 300
"""Characters of a reason: a page has room for some hundred of them."""


def cluster_tables(clusters: Sequence[ClusterEntry], missing: Sequence[str]) -> str:
    """A table of the cluster types and one of the clusters, the worst first; "" for none.

    Of many clusters those that do not comply are seen at once, the others on a click.
    """
    if not clusters and not missing:
        return ""
    every = sorted(
        clusters, key=lambda one: (WORST_FIRST.index(one.state), one.cluster_type, one.id)
    )
    parts = ["### Clusters", _cluster_types(clusters, missing)]
    if len(every) > FEW:
        troubled = [one for one in every if one.state not in COMPLYING]
        parts += [_table(troubled, FEW), details(f"All {len(every)} clusters", _table(every))]
    else:
        parts.append(_table(every))
    return "\n\n".join(part for part in parts if part)


def foreign_paths_line(entries: Sequence[ForeignPathsEntry]) -> str:
    """Return one line that names some clusters with paths outside of the tree; "" for none."""
    if not entries:
        return ""
    named = [f"{code(_name(one.id))} ({abbreviated([*map(code, one.paths)])})" for one in entries]
    told = abbreviated(named, MOST_NAMES)
    return f"Not ours, and not counted: {told}. They follow other paths of the branch."


def _name(resource_id: str) -> str:
    return resource_id.rstrip("/").rpartition("/")[2]


def _table(clusters: Sequence[ClusterEntry], limit: int = MOST_ROWS) -> str:
    """The first ones, and how many more there are; the last column where any has a reason."""
    if not clusters:
        return ""
    displayed = clusters[:limit]
    columns = len(COLUMNS) if any(one.reason for one in displayed) else len(COLUMNS) - 1
    rows = table(COLUMNS[:columns], (_row(one)[:columns] for one in displayed))
    left = len(clusters) - len(displayed)
    return f"{rows}\n\n… and {left} more" if left else rows


def _cluster_types(clusters: Sequence[ClusterEntry], missing: Sequence[str]) -> str:
    """One row for each cluster type, one column for each state that occurs."""
    counted = Counter((one.cluster_type, one.state) for one in clusters)
    occurring = {one.state for one in clusters}
    states = [state for state in reversed(WORST_FIRST) if state in occurring]
    rows = []
    for name in sorted({one.cluster_type for one in clusters} | set(missing)):
        counts = [counted[name, state] for state in states]
        told = [code(name) if name else "the whole tree", str(sum(counts))]
        rows.append([*told, *(str(count or "") for count in counts)])
    return table(("Cluster type", "Clusters", *(state.capitalize() for state in states)), rows)


def _row(one: ClusterEntry) -> tuple[str, ...]:
    return (
        code(_name(one.id)),
        code(one.cluster_type) if one.cluster_type else "",
        text(one.state),
        code(one.revision[:7]) if one.revision else "",
        text(one.reason[:MOST_WORDS] + ("…" if len(one.reason) > MOST_WORDS else "")),
    )
