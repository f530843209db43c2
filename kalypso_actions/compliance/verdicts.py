"""The clusters of each GitOps branch → its verdict; the verdicts of all branches → that of the run.

A promotion is a commit of main in an environment, which may have several GitOpsRepos. It is
complete when the branches of all of them name the commit and their clusters comply.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kalypso_actions.compliance.cluster_states import (
    STATES,
    Cluster,
    DesiredState,
    EnvironmentTree,
    ForeignPaths,
    Requirements,
    clusters_of_branch,
)
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.cluster_reports import (
    FAILURES,
    GOES_ON,
    ClusterReport,
    VerdictName,
    cluster_name,
)
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.github import Relation


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on the clusters of a GitOps branch, or of all branches of an environment.

    `is_open` as long as the run waits. `reason` explains the verdict in one line, or names what is
    still missing. `missing` are the cluster types with assignments and without a cluster. The paths
    that are `not_ours` and the `uncounted` clusters do not count.

    On a `branch`, it `is_own` if the run was started for this branch; `holds` says whether the
    branch names the promoted commit (for a configuration change: the same as before). A promotion
    is superseded `by` another commit ("": the branch names none), which may mean that it
    `goes_back`.
    """

    name: VerdictName
    reason: str = ""
    is_open: bool = False
    clusters: tuple[Cluster, ...] = ()
    missing: tuple[str, ...] = ()
    not_ours: tuple[ForeignPaths, ...] = ()
    uncounted: tuple[Cluster, ...] = ()
    warnings: tuple[Problem, ...] = ()
    branch: str = ""
    is_own: bool = True
    holds: bool = True
    by: str = ""
    goes_back: bool = False

    @property
    def is_failure(self) -> bool:
        """Whether the run fails."""
        return self.name in FAILURES and not self.is_open

    @property
    def goes_on(self) -> bool:
        """Whether the commit goes on to the next environments."""
        return self.name in GOES_ON and not self.is_open

    @property
    def complies(self) -> bool:
        """Whether the run need not wait for this branch."""
        return self.holds and self.goes_on

    def ended_by(self, other: Verdict) -> Verdict:
        """Return another verdict that ends the run, with the clusters of this one."""
        return replace(
            self,
            name=other.name,
            reason=other.reason,
            is_open=False,
            by=other.by,
            goes_back=other.goes_back,
        )

    def counts(self) -> dict[str, int]:
        """Return the number of clusters of each state that occurs, best first."""
        of_state = Counter(cluster.state for cluster in self.clusters)
        return {state: of_state[state] for state in STATES if of_state[state]}

    def progress(self) -> str:
        """Return one line for people: `compliant 7/10, progressing 2, failed 1`."""
        of_state = self.counts()
        parts = [f"compliant {of_state.pop('compliant', 0)}/{len(self.clusters)}"]
        parts += [f"{state} {number}" for state, number in of_state.items()]
        if self.missing:
            parts.append(f"missing {abbreviated(self.missing, MAX_LISTED)}")
        return ", ".join(parts)

    def ignored(self, tree: EnvironmentTree, where: Location, advice: str) -> list[Problem]:
        """Return a warning for clusters of unknown state that the verdict ignores.

        `advice` says what to check if no cluster reports.
        """
        problems = []
        not_reporting = sorted(tree.assigned & tree.not_reporting)
        if not_reporting:
            names = abbreviated(not_reporting, MAX_LISTED)
            message = f"the state of the clusters of {names} is not known: by "
            message += "an annotation of their ClusterTypes, they do not report"
            problems.append(Problem(message, where, "check them by other means"))
        ids: dict[str, set[str]] = {}
        for cluster in self.clusters:
            ids.setdefault(cluster.name.lower(), set()).add(cluster.id.lower())
        for name in dict.fromkeys(each.name for each in tree.expected):
            if len(ids.get(name.lower(), ())) > 1:
                message = f"several clusters have the listed name {name}: one may vanish unnoticed"
                ambiguous = "list their full ids in the annotation kalypso.io/clusters"
                problems.append(Problem(message, where, ambiguous, "cluster-name-ambiguous"))
        if self.name == "compliant" and self.missing:
            message = f"no cluster reports for {abbreviated(self.missing, MAX_LISTED)}"
            problems.append(Problem(message if self.clusters else self.reason, where, advice))
        if self.name == "compliant" and self.uncounted:
            names = abbreviated([cluster.name for cluster in self.uncounted])
            message = f"the state of unreachable clusters is not known: {names}"
            problems.append(Problem(message, where, "look at them once they are connected again"))
        return problems


def judge_clusters(
    reports: Iterable[ClusterReport] | None,
    desired: DesiredState,
    requirements: Requirements,
    *,
    started: datetime,
    now: datetime,
) -> Verdict:
    """Judge the clusters of a branch by their reports, which are None if the source was not asked.

    The waiting began at `started`.
    """
    tree = desired.tree
    if not tree.assigned:
        return Verdict("nothing-scheduled")
    if not tree.reporting:
        return Verdict("compliant", "its clusters do not report")
    if reports is None:
        return Verdict("waiting", "its clusters have not been asked for yet", is_open=True)
    clusters, not_ours = clusters_of_branch(
        reports, desired, requirements, started=started, now=now
    )
    counting = tuple(filter(requirements.counts, clusters))
    uncounted = tuple(itertools.filterfalse(requirements.counts, clusters))
    missing = _without(clusters, tree)
    name: VerdictName
    if counting:
        unreached = set(_without(counting, tree)).difference(missing)
        awaited = tuple(cluster for cluster in uncounted if cluster.cluster_type in unreached)
        name, reason = _of_clusters(counting, awaited, missing, requirements)
    elif uncounted:
        name = "waiting" if requirements.require_targets else "compliant"
        reason = _awaited(uncounted, ())
    elif now - started <= requirements.grace:
        name, reason = "waiting", "no cluster reports this repository and branch yet"
    else:
        name = "none-targeted" if requirements.require_targets else "compliant"
        reason = "no cluster follows this repository and branch"
        if not_ours:
            others = [f"{cluster_name(id_)} ({abbreviated(paths)})" for id_, paths in not_ours]
            reason = "no cluster follows this environment's tree; other paths: "
            reason += abbreviated(others)
    return Verdict(name, reason, name == "waiting", clusters, missing, not_ours, uncounted)


def judge(branches: Sequence[Verdict], *, timed_out: bool) -> Verdict:
    """Return the verdict of a run by those on all GitOps branches of the environment.

    A branch that fails decides for the environment, whether or not it is the run's own. The run
    waits for other branches that hold the commit and do not comply yet. If only they do not comply
    when the time is up, this run does not fail, but the run of their own merge does.
    """
    name, reason = _outcome(branches, timed_out=timed_out)
    return Verdict(
        name or "waiting",
        reason,
        is_open=not name,
        clusters=tuple(cluster for each in branches for cluster in each.clusters),
        missing=tuple(dict.fromkeys(name for each in branches for name in each.missing)),
        not_ours=tuple(dict.fromkeys(paths for each in branches for paths in each.not_ours)),
        warnings=tuple(dict.fromkeys(problem for each in branches for problem in each.warnings)),
    )


def _outcome(branches: Sequence[Verdict], *, timed_out: bool) -> tuple[VerdictName | None, str]:
    for failure in ("failed", "none-targeted"):
        for branch in branches:
            if branch.holds and branch.name == failure:
                return failure, _reasons([branch], branches)
    still_open = [branch for branch in branches if branch.is_own and not branch.complies]
    if still_open:
        return ("timed-out", _reasons(still_open, branches)) if timed_out else (None, "")
    without = [branch.branch for branch in branches if not branch.holds]
    if without:
        return "waiting", f"{', '.join(without)} does not hold the commit yet"
    still_open = [branch for branch in branches if not branch.complies]
    if still_open:
        return ("waiting", _reasons(still_open, branches)) if timed_out else (None, "")
    if all(branch.name == "nothing-scheduled" for branch in branches):
        return "nothing-scheduled", "no deployment target is assigned to a cluster type"
    return "compliant", _reasons(branches, branches)


def holds(
    expected: str | None, promoted_commit: str | None, *, is_own: bool, contradicted: bool
) -> bool:
    """Return whether a branch that names `promoted_commit` holds the `expected` commit of main.

    `contradicted`: its `sources.json` names another commit. On the run's own branch, where
    the request was verified, a person may change the tracking file without `sources.json`.
    """
    return promoted_commit == expected and (is_own or not contradicted)


def superseded(
    expected: str | None, promoted_commit: str | None, relation: Relation | None, *, is_own: bool
) -> Verdict | None:
    """Return the verdict that ends a promotion because a branch names `promoted_commit` now.

    `relation` is the relation of this commit to the expected one on main: None if main does not
    have it. The branch of another GitOpsRepo may still name an older commit, which decides nothing;
    only a descendant of the expected commit decides.
    """
    if promoted_commit == expected or (not is_own and relation != "ahead"):
        return None
    goes_back = promoted_commit is None or relation == "behind"
    return superseded_by(promoted_commit or "", goes_back=goes_back)


def superseded_by(commit: str, *, goes_back: bool, source: str = "the branch") -> Verdict:
    """Return the verdict after another commit ("": none) came to the branch or file `source`."""
    names = commit[:7] or "none"
    reason = f"{source} names {names} by now"
    if goes_back:
        reason = f"{source} went back: it names {names}"
    return Verdict("superseded", reason, by=commit, goes_back=goes_back)


def _without(clusters: Iterable[Cluster], tree: EnvironmentTree) -> tuple[str, ...]:
    """Return the cluster types whose clusters should report, but none does."""
    return tuple(sorted(tree.reporting - {cluster.cluster_type for cluster in clusters}))


def _of_clusters(
    clusters: Sequence[Cluster],
    unreached: Sequence[Cluster],
    missing: Sequence[str],
    requirements: Requirements,
) -> tuple[VerdictName, str]:
    """Return the verdict on clusters that count, and the reason.

    The `unreached` clusters do not count; their cluster types have no clusters that count.
    """
    by_type = itertools.groupby(clusters, lambda cluster: cluster.cluster_type)
    groups = [clusters, *(tuple(group) for _, group in by_type)]
    # The percentage is rounded up.
    needed = [-(-len(group) * requirements.min_compliant // 100) for group in groups]
    failed = [cluster for cluster in clusters if cluster.state == "failed"]
    if any(
        _number("failed", group) > len(group) - need
        for group, need in zip(groups, needed, strict=True)
    ):
        others = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return "failed", f"{failed[0].name}{others}: {failed[0].reason}"
    if requirements.missing == "warn":
        unreached, missing = (), ()
    complies = all(
        _number("compliant", group) >= need for group, need in zip(groups, needed, strict=True)
    )
    if unreached or missing or not complies:
        return "waiting", _awaited((*clusters, *unreached), missing)
    complying = _number("compliant", clusters)
    return "compliant", counted(complying, "cluster complies", "clusters comply")


def _number(state: str, group: Sequence[Cluster]) -> int:
    return sum(cluster.state == state for cluster in group)


def _awaited(clusters: Sequence[Cluster], missing: Sequence[str]) -> str:
    """Name the clusters that do not comply, by state, and the cluster types without a cluster."""
    parts = []
    for state in STATES:
        names = [cluster.name for cluster in clusters if cluster.state == state != "compliant"]
        if names:
            parts.append(f"{state}: {abbreviated(names)}")
    if missing:
        parts.append(f"missing: {abbreviated(missing, MAX_LISTED)}")
    return "; ".join(parts)


def _reasons(some: Sequence[Verdict], branches: Sequence[Verdict]) -> str:
    """Return the reasons of some branches, each with the branch's name if there are several."""
    if len(branches) == 1:
        return some[0].reason
    return "; ".join(f"{branch.branch}: {branch.reason}" for branch in some)
