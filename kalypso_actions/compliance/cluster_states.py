"""The reports of clusters → the state of each cluster: compliant, failed, stale and others.

A report counts as far as its paths belong to the environment's tree. The commit that a
configuration has synced is that of its source. Each of its own Kustomizations stays ready with its
earlier revision until its own reconcile begins, and a new revision waits until a running health
check ends (fluxcd/kustomize-controller#1518). Azure's statuses also list the objects that these
Kustomizations apply; those have an `appliedBy`, and never name a commit of the GitOps branch.
`stale-after` counts from the last report of a cluster.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, Literal, get_args

from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    Condition,
    ExpectedCluster,
    FollowedTree,
    ObjectReference,
    ReportedObject,
    ReportedPath,
    cluster_name,
    cluster_type_of,
)
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.object_ids import is_commit_id

ClusterState = Literal[
    "compliant", "ahead", "progressing", "unreachable", "stale", "suspended", "failed"
]
STATES: Final[tuple[ClusterState, ...]] = get_args(ClusterState)
"""From the best to the worst."""

NOT_BEGUN: Final = "it has not begun to apply the commit; the one before fails"
IN_PROGRESS: Final = frozenset({"progressing", "dependencynotready"})
"""Flux's reasons of objects that are not ready while it syncs."""

LATEST_APPLY: Final = timedelta(minutes=20)
"""The longest time from the sync to the apply: two of Azure's timeouts, for a running health check
and for a dependency. A Kustomization becomes ready again with every later reconcile
(fluxcd/kustomize-controller#236).
"""

BEING_SET_UP: Final = frozenset({"creating", "updating"})
"""While Azure writes the configuration to the cluster, no failure is final."""

BROKEN: Final = frozenset({"failed", "canceled"})
"""States in which Azure has given up to write the configuration to the cluster."""

APPLIED: Final = re.compile(r"applied revision:\s*(\S+)", re.IGNORECASE)
"""Flux's message of a Kustomization that is ready."""


ForeignPaths = tuple[str, tuple[str, ...]]
"""The id of a cluster, and the paths outside of the environment's tree that it follows."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements on the clusters, named as the inputs of check-promote.

    `min_compliant` is in percent, overall and in each cluster type. `ignore_clusters` are globs of
    cluster ids. They must be met within `timeout`.
    """

    timeout: timedelta = timedelta(minutes=60)
    min_compliant: int = 100
    grace: timedelta = timedelta(minutes=2)
    settle: timedelta = timedelta(minutes=1)
    stale_after: timedelta | None = None
    missing: Literal["fail", "warn"] = "fail"
    unreachable: Literal["fail", "ignore"] = "fail"
    require_targets: bool = True
    ignore_clusters: tuple[str, ...] = ()

    def ignores(self, cluster: str) -> bool:
        """Return whether the requirements ignore the cluster of this id."""
        return any(
            fnmatch.fnmatchcase(cluster.lower(), pattern.lower())
            for pattern in self.ignore_clusters
        )

    def counts(self, cluster: Cluster) -> bool:
        """Return whether the state of a cluster counts."""
        return self.unreachable == "fail" or cluster.state != "unreachable"


@dataclass(frozen=True, slots=True)
class EnvironmentTree:
    """An environment's tree in its GitOps branch.

    folder         the folder that holds the tree; "" for the root
    cluster_types  those of the fleet, and those whose folders still exist
    assigned       those with assignments
    not_reporting  those whose clusters do not report
    listed         the clusters that cluster types list, by cluster type
    """

    folder: str
    cluster_types: frozenset[str]
    assigned: frozenset[str] = frozenset()
    not_reporting: frozenset[str] = frozenset()
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def expected(self) -> tuple[ExpectedCluster, ...]:
        """The clusters that the reporting cluster types with assignments list."""
        return self._listed_of(self.reporting)

    def _listed_of(self, cluster_types: Collection[str]) -> tuple[ExpectedCluster, ...]:
        return tuple(
            ExpectedCluster(name, cluster_type, posixpath.join(self.folder, cluster_type))
            for cluster_type in sorted(cluster_types)
            for name in self.listed.get(cluster_type, ())
        )

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The reporting cluster types with assignments that list no cluster."""
        return tuple(sorted(name for name in self.reporting if not self.listed.get(name)))

    def followed(self, repository_url: str, branch: str, commits: Sequence[str]) -> FollowedTree:
        """Return the tree as sources of reports see it; `commits` are newest first."""
        return FollowedTree(
            repository_url,
            branch,
            tuple(commits),
            self.expected,
            self.unlisted,
            self._listed_of(self.listed.keys() - self.reporting),
            self.folder,
            tuple(sorted(self.cluster_types - self.not_reporting)),
        )

    @property
    def reporting(self) -> frozenset[str]:
        """The cluster types with assignments whose clusters report."""
        return self.assigned - self.not_reporting

    def cluster_type_of(self, path: str) -> str | None:
        """Return the cluster type that a path belongs to; None for a path outside the tree.

        "" is the tree's folder, or a folder above it: such a path holds the whole tree.
        """
        return cluster_type_of(path, self.folder, self.cluster_types)


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The state that the clusters should reach.

    `commits` are those that count as synced, from the merged commit to the branch's head; `later`
    ones come after them.
    """

    commits: frozenset[str]
    tree: EnvironmentTree
    later: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster's state for one cluster type ("" if it follows the whole tree), and the reason."""

    id: str
    cluster_type: str
    state: ClusterState
    reason: str
    revision: str

    @property
    def name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.id)


def clusters_of_branch(
    reports: Iterable[ClusterReport],
    desired: DesiredState,
    requirements: Requirements,
    *,
    started: datetime,
    now: datetime,
) -> tuple[tuple[Cluster, ...], tuple[ForeignPaths, ...]]:
    """Return the clusters that follow a branch, and the paths outside of the environment's tree.

    A cluster with several configurations for a cluster type has the state of the worst one. A
    configuration without any path of the environment's tree does not count.
    """
    reports = list(of_same_clusters(reports, desired.tree))
    ignored = {each.cluster for each in reports if requirements.ignores(each.cluster)}
    reports = [report for report in reports if report.cluster not in ignored]
    clusters = (
        cluster
        for report in reports
        for cluster in clusters_of(report, desired, requirements, started=started, now=now)
    )
    foreign: dict[str, set[str]] = {}
    for report in reports:
        if paths := paths_outside(report, desired.tree):
            foreign.setdefault(report.cluster, set()).update(paths)
    not_ours = tuple((name, tuple(sorted(foreign[name]))) for name in sorted(foreign))
    found = _worst_of_each(clusters)
    # A list may have the name of a cluster alone, where the globs are of ids.
    ignored_names = {name.lower() for each in ignored for name in (each, cluster_name(each))}
    silent = tuple(
        cluster
        for cluster in _silent(found, desired.tree)
        if not requirements.ignores(cluster.id) and cluster.id.lower() not in ignored_names
    )
    return tuple(sorted((*found, *silent), key=_place)), not_ours


def of_same_clusters(
    reports: Iterable[ClusterReport], tree: EnvironmentTree
) -> Iterator[ClusterReport]:
    """Yield the reports in their order, so that a cluster has one id, whatever sources report it.

    Some sources know a cluster by its bare name. It is that of the only long id that ends so, or
    is spelt as in the list of a cluster type.
    """
    reports = list(reports)
    long_ids: dict[str, set[str]] = {}
    for report in reports:
        if "/" in report.cluster:
            long_ids.setdefault(cluster_name(report.cluster).lower(), set()).add(report.cluster)
    ids = {cluster_name(each.name).lower(): each.name for each in tree.expected}
    ids |= {
        name: min(longer)
        for name, longer in long_ids.items()
        if len(set(map(str.lower, longer))) == 1
    }
    for report in reports:
        if "/" in report.cluster:
            yield report
        else:
            yield replace(report, cluster=ids.get(report.cluster.lower(), report.cluster))


def _silent(clusters: Collection[Cluster], tree: EnvironmentTree) -> Iterator[Cluster]:
    """Yield the listed clusters without a report: the run waits for them."""
    reported = {
        (cluster.cluster_type, name.lower())
        for cluster in clusters
        for name in (cluster.id, cluster.name)
    }
    whole = {name for cluster_type, name in reported if not cluster_type}
    for expected in tree.expected:
        name = expected.name.lower()
        is_reported = (expected.cluster_type, name) in reported or name in whole
        if not is_reported:
            reason = f"{expected.cluster_type} lists it, and it has not reported"
            yield Cluster(expected.name, expected.cluster_type, "progressing", reason, "")


def clusters_of(
    report: ClusterReport,
    desired: DesiredState,
    requirements: Requirements,
    *,
    started: datetime,
    now: datetime,
) -> Iterator[Cluster]:
    """Yield the cluster of a report, once for each cluster type that it follows.

    The waiting began at `started`. A report without paths counts for the whole tree.
    """
    types = {path: desired.tree.cluster_type_of(path.path) for path in report.paths}
    counted = {
        path: cluster_type
        for path, cluster_type in types.items()
        if cluster_type is not None and cluster_type not in desired.tree.not_reporting
    }
    if types and not counted:
        return
    judge, note = _judge(report, counted, desired, requirements, started, now)
    state, reason = judge.state()
    reason = "; ".join(filter(None, (reason, note)))
    commit = synced_commit(report.revision)
    for cluster_type in sorted(set(counted.values()) - {""}) or [""]:
        yield Cluster(report.cluster, cluster_type, state, reason, commit)


def _worst_of_each(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """Return one cluster for each cluster type and id, sorted by both."""
    worst_last = sorted(clusters, key=lambda each: (_place(each), STATES.index(each.state)))
    return tuple(list(group)[-1] for _, group in groupby(worst_last, _place))


def _place(cluster: Cluster) -> tuple[str, str]:
    return cluster.cluster_type, cluster.id.lower()


def paths_outside(report: ClusterReport, tree: EnvironmentTree) -> tuple[str, ...]:
    """Return the paths of a report outside of an environment's tree, which do not count."""
    paths = dict.fromkeys(path.path for path in report.paths)
    return tuple(path for path in paths if tree.cluster_type_of(path) is None)


def synced_commit(revision: str) -> str:
    """Return the commit of a Flux revision in lower case; "" if it names none.

    Flux before 0.35 writes `branch/sha`, later versions `branch@algorithm:sha`; a commit alone is
    `algorithm:sha` (Flux RFC-0005). A branch name may hold `/` and `@`: the last one counts.
    """
    checksum = revision.strip().rpartition("@")[2]
    return checksum.rpartition(":" if ":" in checksum else "/")[2].lower()


@dataclass(frozen=True, slots=True)
class _ReportJudge:
    """Judges a report with the state and the objects of the part that counts.

    `own` are the Kustomizations of the paths that count; None if a Kustomization has no status.
    `origins` has the own Kustomization from which each object comes, if one is known; an own
    Kustomization comes from itself.
    """

    report: ClusterReport
    own: tuple[ReportedObject | None, ...]
    origins: Mapping[ReportedObject, ReportedObject]
    desired: DesiredState
    requirements: Requirements
    started: datetime
    now: datetime

    def state(self) -> tuple[ClusterState, str]:
        """Return the first matching state, and the reason."""
        report, stale_after = self.report, self.requirements.stale_after
        commit = synced_commit(report.revision)
        if report.unreachable:
            return "unreachable", f"its connection is lost: {report.unreachable}"
        if report.suspended or _normal_state(report.state) == "suspended":
            return "suspended", "its reconciliation is suspended"
        if stale_after is not None:
            at = report.reported_at
            if at is None or self.now - at > stale_after:
                since = "it was set up" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
                return "stale", f"it has not reported since {since}"
        if commit in self.desired.commits:
            return self._health()
        if commit in self.desired.later:
            return "ahead", "it runs a later commit"
        synced = f"it is on {commit[:7]}" if commit else "it has synced nothing yet"
        return "progressing", f"{synced}: {report.message}" if report.message else synced

    def _health(self) -> tuple[ClusterState, str]:
        """Return the state of a cluster that has synced a desired commit, and the reason."""
        report = self.report
        state, provisioning = _normal_state(report.state), report.provisioning_state.lower()
        broken = provisioning in BROKEN
        if state == "compliant" and not broken:
            # The fields of a report may be from different moments.
            for kustomization in filter(None, self.own):
                if any(map(_is_unready, kustomization.conditions)):
                    return "progressing", f"its Kustomization {kustomization.name} is not ready"
            return self._applied()
        if state != "noncompliant" and not broken:
            return "progressing", f"its state is {report.state or 'not known'}"
        unready, leftover = self._unready_conditions()
        if leftover and not unready and not broken:
            return "progressing", NOT_BEGUN
        only_in_progress = unready and all(map(_is_in_progress, unready))
        in_grace = self.now - self._failing_since(unready) <= self.requirements.grace
        is_working = provisioning in BEING_SET_UP or (only_in_progress and not broken)
        if in_grace or is_working:
            after = f" (fails after {self.requirements.grace.total_seconds():.0f} s)"
            return "progressing", self._reason(unready) + ("" if is_working else after)
        return "failed", self._reason(unready)

    def _unready_conditions(self) -> tuple[list[Condition], list[Condition]]:
        """Return the conditions of unready objects: those that count, and those that do not.

        A failure from before the sync counts only after the Kustomization that made the object has
        begun to apply the commit.
        """
        unready: list[Condition] = []
        leftover: list[Condition] = []
        for reported in self.report.objects:
            origin = self.origins.get(reported)
            has_begun = not (origin and self._runs_earlier_revision(origin))
            for condition in filter(_is_unready, reported.conditions):
                counts = has_begun or not _is_of_earlier_revision(self.report, condition)
                (unready if counts else leftover).append(condition)
        return unready, leftover

    def _runs_earlier_revision(self, kustomization: ReportedObject) -> bool:
        """Return whether a Kustomization neither applied a commit nor failed to do so."""
        commit = _applied_commit(kustomization)
        if commit:
            return commit not in self.desired.commits | self.desired.later
        return any(
            condition.status.lower() == "unknown" or _is_of_earlier_revision(self.report, condition)
            for condition in kustomization.conditions
            if _is_ready_condition(condition)
        )

    def _applied(self) -> tuple[ClusterState, str]:
        """Return whether a compliant cluster has applied the synced commit, and the reason.

        Each Kustomization must name a desired commit. If a Kustomization names none, for example
        without statuses, the state must last longer than the Kustomizations take to begin with a
        new revision.
        """
        report, desired, settle = self.report, self.desired, self.requirements.settle
        names_none = not self.own
        for kustomization in self.own:
            commit = _applied_commit(kustomization) if kustomization else ""
            if kustomization and commit and commit not in desired.commits:
                if commit in desired.later:
                    return "ahead", "it runs a later commit"
                return "progressing", f"its Kustomization {kustomization.name} runs {commit[:7]}"
            names_none = names_none or not commit
        if not names_none:
            return "compliant", ""
        synced_at = report.source_updated_at
        if synced_at and (report.reported_at is None or report.reported_at < synced_at):
            return "progressing", "it has not reported since it synced the commit"
        if self.now - (synced_at or self.started) < settle:
            # Only the Kustomizations of Flux can name the commit that they have applied.
            has_names = any(path.kustomization for path in report.paths)
            names = "names no applied commit, and " if has_names else ""
            return "progressing", (
                f"it {names}has complied for less than {settle.total_seconds():.0f} s"
            )
        return "compliant", ""

    def _failing_since(self, unready: list[Condition]) -> datetime:
        """Return when the failure began, so that a second run does not grant the grace period anew.

        `Unknown` conditions do not count: Flux begins to work on an object whether or not it fails.
        """
        synced_at = self.report.source_updated_at
        moments = [
            condition.last_transition
            for condition in unready
            if condition.status.lower() == "false"
        ]
        known = [moment for moment in (synced_at, *moments) if moment is not None]
        since = max(known, default=self.started)
        if since != synced_at:
            return since
        return max(since, min(self._applied_at(since), since + LATEST_APPLY))

    def _applied_at(self, synced_at: datetime) -> datetime:
        """Return when the Kustomizations behind unready objects became ready, or `synced_at`.

        Without `wait`, a Kustomization is ready before the objects that its commit repairs.
        """
        origins = {
            self.origins[reported]
            for reported in self.report.objects
            if reported in self.origins and any(map(_is_unready, reported.conditions))
        }
        moments = [
            condition.last_transition
            for origin in origins
            for condition in origin.conditions
            if _is_ready_condition(condition) and condition.status.lower() == "true"
        ]
        return max((moment for moment in moments if moment is not None), default=synced_at)

    def _reason(self, unready: list[Condition]) -> str:
        """Return the message, preferably of a failed object, not of one that waits for it."""
        for condition in sorted(unready, key=_is_in_progress):
            message = condition.message
            return f"{condition.reason}: {message}" if message else condition.reason
        report = self.report
        return report.message or (
            f"its state is {report.state}, provisioning {report.provisioning_state}"
        )


PartState = Literal["success", "failure", "in_progress", "suspended", "unreachable"]


@dataclass(frozen=True, slots=True)
class ReportedPart:
    """What a cluster says of the folder of a cluster type, without grace, settle or a verdict.

    `commit` is what it runs: a failing Kustomization names no revision (fluxcd/flux2#5752), then it
    is the one of its source. `since` is when the state began, by the cluster.
    """

    cluster: str
    configuration: str
    cluster_type: str
    commit: str
    state: PartState
    reason: str
    since: datetime | None
    reported_at: datetime | None


def reported_parts(
    reports: Iterable[ClusterReport], tree: EnvironmentTree
) -> Iterator[ReportedPart]:
    """Yield a part for each path of the tree that a configuration applies.

    `cluster_type` is "" for the whole tree. A configuration of several paths of the tree is named
    with the Kustomization of each.
    """
    for report in reports:
        own = _own_kustomizations(report)
        paths = [
            (path, cluster_type)
            for path in report.paths or (ReportedPath(""),)
            if (cluster_type := tree.cluster_type_of(path.path)) is not None
        ]
        for path, cluster_type in paths:
            kustomization = own.get(path.kustomization.lower()) if path.kustomization else None
            name = report.configuration
            if len(paths) > 1:
                name = f"{name}/{path.kustomization or path.path}"
            yield _part(report, kustomization, name, cluster_type)


def _part(
    report: ClusterReport, kustomization: ReportedObject | None, name: str, cluster_type: str
) -> ReportedPart:
    ready = [
        each
        for each in (kustomization.conditions if kustomization else ())
        if _is_ready_condition(each)
    ]
    state = _part_state(report, kustomization, ready)
    applied = _applied_commit(kustomization) if kustomization and state == "success" else ""
    failing = [each for each in ready if _is_unready(each)]
    reason = report.unreachable or report.message
    for condition in failing:
        reason = f"{condition.reason}: {condition.message}".removesuffix(": ")
    if state == "in_progress" and any(_is_of_earlier_revision(report, each) for each in failing):
        reason = NOT_BEGUN
    moments = [each.last_transition for each in ready if each.last_transition]
    return ReportedPart(
        cluster=report.cluster,
        configuration=name,
        cluster_type=cluster_type,
        commit=applied or synced_commit(report.revision),
        state=state,
        reason="" if state == "success" else reason,
        since=max(moments, default=report.source_updated_at),
        reported_at=report.reported_at,
    )


def _part_state(
    report: ClusterReport, kustomization: ReportedObject | None, ready: Sequence[Condition]
) -> PartState:
    if report.unreachable:
        return "unreachable"
    if report.suspended:
        return "suspended"
    if report.provisioning_state.lower() in BROKEN:
        return "failure"
    state = _normal_state((object_state(kustomization) if kustomization else "") or report.state)
    if (
        state == "noncompliant"
        and ready
        and all(_is_in_progress(each) or _is_of_earlier_revision(report, each) for each in ready)
    ):
        return "in_progress"
    states: Mapping[str, PartState] = {
        "compliant": "success",
        "noncompliant": "failure",
        "suspended": "suspended",
    }
    return states.get(state, "in_progress")


def _judge(
    report: ClusterReport,
    counted_paths: Collection[ReportedPath],
    desired: DesiredState,
    requirements: Requirements,
    started: datetime,
    now: datetime,
) -> tuple[_ReportJudge, str]:
    """Return the judge of the part that counts, and which part this is ("" for all of it).

    Without a state of each Kustomization that counts, the paths cannot be told apart.
    """
    kustomizations = _own_kustomizations(report)
    counted = {path.kustomization.lower() for path in counted_paths}
    own = tuple(kustomizations.get(name) for name in sorted(counted))
    roots = _roots(report)
    origins = {
        reported: kustomizations[root]
        for reported, root in roots.items()
        if root is not None and root in kustomizations
    }
    note = ""
    others = [path.path for path in report.paths if path not in counted_paths]
    if passed_over := abbreviated(tuple(dict.fromkeys(others))):
        if all(kustomization and object_state(kustomization) for kustomization in own):
            objects = tuple(
                reported for reported, root in roots.items() if root is None or root in counted
            )
            report = replace(report, state=worst_state(objects), objects=objects)
            note = f"judged without {passed_over}"
        else:
            note = f"judged by the whole configuration with {passed_over}: statuses are missing"
    return _ReportJudge(report, own, origins, desired, requirements, started, now), note


def _own_kustomizations(report: ClusterReport) -> Mapping[str, ReportedObject]:
    """Return the Kustomizations that a configuration itself defines, by the names that it gives.

    On the cluster they are named `<configuration>-<name>`, and no other object applies them.
    """
    prefix = f"{report.configuration}-".lower()
    return {
        reported.name.lower().removeprefix(prefix): reported
        for reported in report.objects
        if reported.kind == "Kustomization"
        and reported.applied_by is None
        and reported.name.lower().startswith(prefix)
    }


def _roots(report: ClusterReport) -> Mapping[ReportedObject, str | None]:
    """Return each object with the declared Kustomization that it is, or that applied it."""
    declared = {
        f"{report.configuration}-{path.kustomization}".lower(): path.kustomization.lower()
        for path in report.paths
    }
    appliers = {
        _key(reported.reference): reported
        for reported in report.objects
        if reported.kind == "Kustomization"
    }
    return {
        reported: declared.get(_root(reported, appliers, declared)) for reported in report.objects
    }


def _root(
    reported: ReportedObject,
    appliers: Mapping[tuple[str, str], ReportedObject],
    declared: Collection[str],
) -> str:
    """Return the name of the declared Kustomization that an object comes from; "" for none."""
    seen: set[tuple[str, str]] = set()
    while reported.applied_by is not None:
        key = _key(reported.applied_by)
        if key[1] in declared:
            return key[1]
        if key in seen or key not in appliers:
            return ""
        seen.add(key)
        reported = appliers[key]
    name = reported.name.lower()
    return name if reported.kind == "Kustomization" and name in declared else ""


def _key(reference: ObjectReference) -> tuple[str, str]:
    return reference.namespace.lower(), reference.name.lower()


def worst_state(objects: Collection[ReportedObject]) -> str:
    """Return the worst state: suspended, then not compliant, then any other except compliant."""
    states = [state for reported in objects if (state := object_state(reported))]
    for worst in ("suspended", "noncompliant"):
        for state in states:
            if _normal_state(state) == worst:
                return state
    return next((state for state in states if _normal_state(state) != "compliant"), "Compliant")


def object_state(reported: ReportedObject) -> str:
    """Return an object's state: as reported, else by its condition Ready; "" without both."""
    if reported.state:
        return reported.state
    ready = [
        condition.status.lower()
        for condition in reported.conditions
        if _is_ready_condition(condition)
    ]
    if not ready:
        return ""
    return {"true": "Compliant", "false": "Non-Compliant"}.get(ready[-1], "Unknown")


def _normal_state(state: str) -> str:
    """Return a state as letters: Azure's portal says `Not Compliant`, its API `Non-Compliant`."""
    letters = re.sub(r"[^a-z]", "", state.lower())
    return "noncompliant" if letters == "notcompliant" else letters


def _applied_commit(kustomization: ReportedObject) -> str:
    """Return the commit that a Kustomization says it has applied; "" if it names none."""
    for condition in kustomization.conditions:
        revision = APPLIED.search(condition.message)
        if _is_ready_condition(condition) and revision:
            commit = synced_commit(revision[1])
            return commit if is_commit_id(commit) else ""
    return ""


def _is_ready_condition(condition: Condition) -> bool:
    """Return whether a condition says that an object is ready, or is not."""
    return condition.type.lower() == "ready"


def _is_unready(condition: Condition) -> bool:
    """Return whether an object is not ready; `Unknown` means that Flux works on it."""
    return _is_ready_condition(condition) and condition.status.lower() in {"false", "unknown"}


def _is_in_progress(condition: Condition) -> bool:
    return condition.reason.lower() in IN_PROGRESS


def _is_of_earlier_revision(report: ClusterReport, condition: Condition) -> bool:
    """Return whether a failure began before the source had the new revision."""
    since, synced_at = condition.last_transition, report.source_updated_at
    is_failure = condition.status.lower() == "false"
    return is_failure and since is not None and synced_at is not None and since < synced_at
