"""The output of `kalypso check-promote`: its document, and its step summary.

The summary has the verdict, its reasons, advice, and tables of clusters, the worst first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from pydantic import Field

from kalypso_actions.model.cluster_reports import VerdictName, cluster_name
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import EVENT_OUTPUTS, EventDocument
from kalypso_actions.report.documents import OutputDocument
from kalypso_actions.report.escaping import shortened
from kalypso_actions.report.markdown import (
    MAIN,
    Mark,
    PipelineNode,
    code,
    details,
    pipeline_diagram,
    table,
    text,
)

HEADINGS: Final[Mapping[str, str]] = {
    "compliant": "deployed to {environment}",
    "nothing-scheduled": "nothing to deploy in {environment}",
    "waiting": "{environment} is waiting for another GitOps repository",
    "superseded": "another commit came to {environment}",
    "failed": "failed in {environment}",
    "none-targeted": "no cluster follows {environment}",
    "timed-out": "{environment} did not comply in time",
    "": "still waiting for {environment}",
}

ADVICE: Final[Mapping[str, str]] = {
    "waiting": "Merge the pull request there: its run continues the promotion.",
    "superseded": "There is nothing to do: the run of that commit decides.",
    "failed": "Correct the failure in main or on the environment's branch: the merge of the "
    "correction continues the promotion. If the cause was outside of git, run this job again.",
    "none-targeted": "{no_reports_advice}. If no cluster should follow this branch, set "
    "require-targets to false. Then run this job again.",
    "timed-out": "Look at the clusters below. Repair them, give them more time (timeout), or leave "
    "them out (ignore-clusters, min-compliant, unreachable); then run this job again. The merge of "
    "a correction continues the promotion.",
    "": "There is nothing to do: a new run continues to wait.",
}

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


class ClusterEntry(OutputDocument):
    """A cluster and its state; `changed` means that the previous observation had another state."""

    id: str
    cluster_type: str
    state: str
    reason: str
    revision: str
    changed: bool = False


class ForeignPathsEntry(OutputDocument):
    """A cluster that follows paths outside of the environment's tree."""

    id: str
    paths: tuple[str, ...]


class CheckPromoteDocument(EventDocument):
    """The output of `kalypso check-promote --output json`; `clusters` has the number per state.

    With `verify_only`, check-promote only compared the inputs with the repositories, and there is
    no verdict.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "verdict": "compliant, nothing-scheduled, waiting, superseded, failed, none-targeted or "
        "timed-out.",
        "clusters": "The number of clusters in each state (JSON).",
        "promoted-to": "The environments where CD was started (JSON).",
        **EVENT_OUTPUTS,
    }

    schema_name: str = Field("kalypso.check-promote/v1", alias="schema")
    environment: str = ""
    promoted_commit: str = ""
    gitops_commit: str = ""
    verify_only: bool = False
    verdict: VerdictName | Literal[""] = ""
    reason: str = ""
    clusters: Mapping[str, int] = Field(default_factory=dict)
    rows: tuple[ClusterEntry, ...] = ()
    missing: tuple[str, ...] = ()
    not_ours: tuple[ForeignPathsEntry, ...] = ()
    promoted_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckPromoteFacts:
    """Facts that the document lacks.

    The URLs are those of the repositories. `no_reports_advice` comes from the source of cluster
    reports. `hook` is the output of the post-deployment command as Markdown, `started` the URLs of
    the started runs, by environment. `arrows` lead from main ("") and each environment to the next
    ones.
    """

    control_plane_url: str
    gitops_url: str
    no_reports_advice: str = ""
    hook: str = ""
    started: Mapping[str, str] = field(default_factory=dict)
    arrows: Sequence[tuple[str, str]] = ()


def check_promote_summary(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Return the step summary."""
    heading = HEADINGS[document.verdict]
    if document.verify_only:
        heading = "the inputs for {environment} are right"
    return markdown.render(
        "summaries.md.j2",
        "check_promote",
        document=document,
        facts=facts,
        heading=heading.format(environment=code(document.environment)),
        advice=verdict_advice(document.verdict, facts.no_reports_advice),
        diagram=_diagram(document, facts),
        warnings=[entry.finding("warning") for entry in document.warnings],
        clusters=cluster_tables(document.rows, document.missing),
        foreign=foreign_paths_line(document.not_ours),
    )


def verdict_advice(verdict: str, no_reports_advice: str) -> str:
    """Return advice for people after a verdict."""
    advice = no_reports_advice[:1].upper() + no_reports_advice[1:]
    return ADVICE.get(verdict, "").format(no_reports_advice=advice)


def _diagram(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Draw the path of the promoted commit; "" for a configuration change."""
    if not document.promoted_commit:
        return ""
    own: Mark = "active"
    if document.verdict in {"compliant", "nothing-scheduled"}:
        own = "done"
    elif document.verdict in {"failed", "none-targeted", "timed-out"}:
        own = "failed"
    nodes = [PipelineNode(MAIN, document.promoted_commit[:7])]
    for name in dict.fromkeys(name for arrow in facts.arrows for name in arrow if name):
        if name == document.environment:
            nodes.append(PipelineNode(name, document.verdict or "waiting", own))
        elif name in facts.started:
            nodes.append(PipelineNode(name, "cd is started", "active"))
        else:
            nodes.append(PipelineNode(name))
    return pipeline_diagram(nodes, facts.arrows)


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
        f"{code(cluster_name(each.id))} ({abbreviated([*map(code, each.paths)])})"
        for each in entries
    ]
    return (
        f"Not counted, as they follow other paths of the branch: {abbreviated(names, MOST_NAMES)}."
    )


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
    return (
        code(cluster_name(cluster.id)),
        code(cluster.cluster_type) if cluster.cluster_type else "",
        text(cluster.state),
        code(cluster.revision[:7]) if cluster.revision else "",
        text(shortened(cluster.reason, MOST_CHARACTERS)),
    )
