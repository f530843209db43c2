"""Tables of clusters and their states, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.report.check_promote_document import ClusterEntry, ForeignPathsEntry
from kalypso_actions.report.markdown import code, details, table, text

WORST_FIRST: Final = (
    *("failed", "suspended", "stale", "unreachable", "progressing", "ahead", "compliant"),
)
MOST_ROWS: Final = 300
"""The most clusters in a table; the JSON output has all."""

FEW: Final = 20
"""The number of clusters that are visible without a click."""

MOST_NAMES: Final = 5
"""The most clusters that a line names."""

COMPLYING: Final = frozenset({"compliant", "ahead"})
COLUMNS: Final = ("Cluster", "Cluster type", "State", "Commit", "Why")

MOST_CHARACTERS: Final = 300
"""The most characters of a reason; a summary has room for some hundred reasons."""


def cluster_tables(clusters: Sequence[ClusterEntry], missing: Sequence[str]) -> str:
    """Format a table of cluster types and one of clusters, the worst first; "" for no clusters.

    The second table omits clusters that complied in the previous observation as well; a sentence
    gives their number.
    """
    if not clusters and not missing:
        return ""
    listed = sorted(
        (item for item in clusters if item.changed or item.state not in COMPLYING),
        key=lambda cluster: (WORST_FIRST.index(cluster.state), cluster.cluster_type, cluster.id),
    )
    parts = ["### Clusters", _cluster_types(clusters, missing)]
    if listed:
        parts += ["Changed since the last look, or not complying:", _table(listed, FEW)]
    if len(listed) > FEW:
        parts.append(details(f"These {len(listed)} clusters", _table(listed)))
    if unlisted := len(clusters) - len(listed):
        verb = "complies" if unlisted == 1 else "comply"
        parts.append(f"{counted(unlisted, 'other cluster')} {verb} as at the last look.")
    return "\n\n".join(part for part in parts if part)


def foreign_paths_line(entries: Sequence[ForeignPathsEntry]) -> str:
    """Name some clusters that follow paths outside of the tree; "" for none."""
    if not entries:
        return ""
    names = [
        f"{code(_name(entry.id))} ({abbreviated([*map(code, entry.paths)])})" for entry in entries
    ]
    return (
        f"Not counted, as they follow other paths of the branch: {abbreviated(names, MOST_NAMES)}."
    )


def _name(resource_id: str) -> str:
    return resource_id.rstrip("/").rpartition("/")[2]


def _table(clusters: Sequence[ClusterEntry], limit: int = MOST_ROWS) -> str:
    """Format the first clusters; omit the column of reasons if it is empty."""
    if not clusters:
        return ""
    displayed = clusters[:limit]
    columns = len(COLUMNS) if any(cluster.reason for cluster in displayed) else len(COLUMNS) - 1
    rows = table(COLUMNS[:columns], (_row(cluster)[:columns] for cluster in displayed))
    left = len(clusters) - len(displayed)
    return f"{rows}\n\n… and {left} more" if left else rows


def _cluster_types(clusters: Sequence[ClusterEntry], missing: Sequence[str]) -> str:
    """Format a row for each cluster type, with a column for each state that occurs."""
    counts_of = Counter((cluster.cluster_type, cluster.state) for cluster in clusters)
    occurring = {cluster.state for cluster in clusters}
    states = [state for state in reversed(WORST_FIRST) if state in occurring]
    rows = []
    for name in sorted({cluster.cluster_type for cluster in clusters} | set(missing)):
        counts = [counts_of[name, state] for state in states]
        label = code(name) if name else "the whole tree"
        rows.append([label, str(sum(counts)), *(str(count or "") for count in counts)])
    return table(("Cluster type", "Clusters", *(state.capitalize() for state in states)), rows)


def _row(cluster: ClusterEntry) -> tuple[str, ...]:
    reason = cluster.reason
    if len(reason) > MOST_CHARACTERS:
        reason = f"{reason[:MOST_CHARACTERS]}…"
    return (
        code(_name(cluster.id)),
        code(cluster.cluster_type) if cluster.cluster_type else "",
        text(cluster.state),
        code(cluster.revision[:7]) if cluster.revision else "",
        text(reason),
    )
