"""`kalypso clusters`: who is expected, who reports what on which commit, and by which source.

document = clusters(ClustersInputs(), context)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing

from kalypso_actions.commands.shared.cluster_reports import (
    AddedReports,
    SourceChecks,
    observe,
    open_cluster_reports,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.status.read import (
    ObservedBranch,
    observed_branches,
    read_pipeline,
)
from kalypso_actions.compliance import Cluster, Requirements, judge_clusters
from kalypso_actions.compliance.cluster_states import (
    of_same_clusters,
    synced_commit,
)
from kalypso_actions.doctor_rules.check import Check
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import ClustersInputs
from kalypso_actions.model.cluster_reports import ClusterReport, cluster_name
from kalypso_actions.promotion.environments import in_order
from kalypso_actions.report.clusters_document import (
    ClustersDocument,
    ObservedBranchEntry,
    ObservedClusterEntry,
    SourceReportEntry,
)
from kalypso_actions.report.documents import ProblemEntry

OfSource = tuple[str, ClusterReport]
"""A report, and the title of its source."""


def clusters(
    inputs: ClustersInputs, context: CommandContext, reports: AddedReports | None = None
) -> ClustersDocument:
    """Read what each source reports of each GitOps branch; write nothing.

    A source that cannot be read is a problem, and the others are shown all the same. `reports`
    replaces the sources that the inputs name. Raises KalypsoError if the control plane cannot be
    read, UsageError for an unknown environment.
    """
    environments = context.environments()
    wanted = [context.environment(name, environments).name for name in inputs.environment]
    names = [name for name in in_order(environments) if not wanted or name in wanted]
    pipeline = read_pipeline(context, [environments[name] for name in names])
    entries: list[ObservedBranchEntry] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    with closing(reports or open_cluster_reports(inputs, context)) as added:
        for item in pipeline.environments:
            problems += item.problems
            for branch in observed_branches(context, pipeline, item):
                of_sources: list[OfSource] = []
                is_complete = True
                for source in added.sources:
                    try:
                        of_source, told = observe(source, branch.followed)
                        warnings += told
                        of_sources += [(source.title, report) for report in of_source]
                        if isinstance(source, SourceChecks):
                            warnings += _faults(source.checks(branch.followed))
                    except KalypsoError as error:
                        problems += error.problems
                        is_complete = False
                entries.append(
                    _entry(item.environment.name, branch, of_sources, context, is_complete)
                )
    return ClustersDocument(
        control_plane=context.control_plane,
        at=context.runtime.now(),
        sources=tuple(source.title for source in added.sources),
        branches=tuple(entries),
        warnings=ProblemEntry.all_of(each for each in _once(warnings) if each not in problems),
        problems=ProblemEntry.all_of(_once(problems)),
    )


def _once(problems: Iterable[Problem]) -> Iterator[Problem]:
    return iter(dict.fromkeys(problems))


def _faults(checks: Iterable[Check]) -> tuple[Problem, ...]:
    """Return what `kalypso doctor` finds in how clusters report."""
    return tuple(Problem(check.text, advice=check.advice) for check in checks if check.advice)


def _entry(
    environment: str,
    branch: ObservedBranch,
    reports: list[OfSource],
    context: CommandContext,
    is_complete: bool,
) -> ObservedBranchEntry:
    """Return the clusters of a branch, with the reports behind the state of each.

    `is_complete`: all sources were read, so that a cluster without a report is silent.
    """
    tree, now = branch.tree, context.runtime.now()
    same = tuple(of_same_clusters([report for _, report in reports], tree))
    verdict = judge_clusters(same, branch.desired, Requirements(), started=branch.since, now=now)
    of_cluster: dict[tuple[str, str], list[SourceReportEntry]] = {}
    for (title, _), report in zip(reports, same, strict=True):
        entry = SourceReportEntry(
            source=title,
            configuration=report.configuration,
            paths=tuple(path.path for path in report.paths),
            commit=synced_commit(report.revision),
            state=report.state,
            message=report.message or report.unreachable,
            since=report.source_updated_at,
            reported_at=report.reported_at,
        )
        # "" is the whole tree, unless the report also names a cluster type.
        types = {tree.cluster_type_of(path.path) for path in report.paths} - {None, ""}
        for cluster_type in types or {""}:
            place = report.cluster.lower(), cluster_type or ""
            of_cluster.setdefault(place, []).append(entry)
    expected = {(each.name.lower(), each.cluster_type) for each in tree.expected}

    def with_reports(cluster: Cluster) -> ObservedClusterEntry:
        told = of_cluster.get((cluster.id.lower(), cluster.cluster_type), [])
        is_known = bool(told) or is_complete
        names = {(name.lower(), cluster.cluster_type) for name in (cluster.id, cluster.name)}
        return ObservedClusterEntry(
            id=cluster.id,
            name=cluster.name,
            cluster_type=cluster.cluster_type,
            expected=bool(names & expected),
            state=cluster.state if is_known else "not known",
            reason=cluster.reason if is_known else "a source could not be read",
            reports=tuple(told),
        )

    return ObservedBranchEntry(
        environment=environment,
        repository=branch.place.repository,
        branch=branch.place.branch,
        commit=branch.head,
        clusters=tuple(map(with_reports, verdict.clusters)),
        missing=verdict.missing,
        unlisted=tree.unlisted,
        not_ours=tuple(cluster_name(name) for name, _ in verdict.not_ours),
    )
