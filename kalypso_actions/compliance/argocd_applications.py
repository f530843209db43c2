"""The Applications of Argo CD → cluster reports.

    reports, problems = reports_of_applications([server], followed)

An Application follows the branch by one of its sources. Its state is the worst of its own and of
those of the Applications that it makes (the "app of apps").
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from kalypso_actions.compliance.cluster_states import synced_commit
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.cluster_reports import (
    BranchFollower,
    ClusterReport,
    FollowedTree,
    ReportedPath,
)
from kalypso_actions.model.urls import repository_key

CLUSTER_LABEL: Final = "kalypso.io/cluster"
IN_CLUSTER: Final = "in-cluster"
IN_CLUSTER_SERVER: Final = "https://kubernetes.default.svc"
"""The name and the server by which each Argo CD knows its own cluster."""

HEAD: Final = "HEAD"
"""The target revision of a source that follows the default branch."""

ENDED: Final = ("Succeeded", "Failed", "Error")
"""The phases of a sync that does not run."""

WORST_LAST: Final = ("Compliant", "Progressing", "Suspended", "Non-Compliant")

Application = Mapping[str, Any]
"""An Application as the API returns it."""


@dataclass(frozen=True, slots=True)
class ArgoServer:
    """The answers of an Argo CD.

    `cluster_names` has the name of each cluster by its server's URL; None if the token cannot list
    the clusters.
    """

    url: str
    applications: Sequence[Application]
    cluster_names: Mapping[str, str] | None


class _State(NamedTuple):
    """The state of an Application, when it began, and the reason."""

    state: str
    since: datetime | None
    message: str


def reports_of_applications(
    servers: Sequence[ArgoServer],
    followed: FollowedTree,
    is_default_branch: Callable[[], bool] = lambda: False,
) -> tuple[tuple[ClusterReport, ...], tuple[Problem, ...]]:
    """Return the reports of all Applications that follow the branch, and warnings.

    `is_default_branch` is asked if an Application follows the default branch of the repository.
    Raise KalypsoError if it is not known on which cluster an Application of the tree runs.
    """
    reports: list[ClusterReport] = []
    unnamed: dict[str, str] = {}
    for server in servers:
        known = {_key(application["metadata"]): application for application in server.applications}
        for application in server.applications:
            if not (sources := list(_sources(application, followed, is_default_branch))):
                continue
            cluster, is_named = _cluster(application, server, is_alone=len(servers) == 1)
            if any(followed.counts(path) for path, _ in sources):
                if not cluster:
                    raise _unknown_cluster(application, server)
                if not is_named:
                    unnamed.setdefault(cluster, application["metadata"]["name"])
            for path, revision in sources if cluster else ():
                report = _report(application, cluster, path, revision)
                report = _with_children(report, application, known)
                if (
                    report.state == "Suspended"
                    and synced_commit(report.revision) not in followed.commits
                ):
                    # What is suspended is not the commit.
                    report = replace(report, state="Progressing")
                reports.append(report)
    return tuple(reports), tuple(
        Problem(
            f"the list of clusters does not name the server {cluster!r} of the Application "
            f"{name!r}: the URL of the server stands for the cluster",
            advice=f"label the Application {CLUSTER_LABEL}: <name of its cluster>, or allow the "
            "token to list clusters (clusters, get, *)",
            code="argocd-cluster-unnamed",
        )
        for cluster, name in unnamed.items()
    )


def followers_of_applications(
    servers: Sequence[ArgoServer], branch: str, commits: Collection[str]
) -> Iterator[BranchFollower]:
    """Yield the sources that follow a branch of this name, or a default branch, of any repository.

    A source of a whole repository counts only on one of the `commits`: a shared Argo CD has one
    for each team.
    """
    for server in servers:
        for application in server.applications:
            cluster, _ = _cluster(application, server, is_alone=len(servers) == 1)
            name = cluster or application["metadata"]["name"]
            for source, revision in _all_sources(application):
                is_whole = posixpath.normpath("/" + source["path"]).strip("/") == ""
                if _branch(source) in {branch, HEAD} and (not is_whole or revision in commits):
                    paths = (ReportedPath(source["path"]),)
                    yield BranchFollower(name, source.get("repoURL") or "", paths)


def _sources(
    application: Application, followed: FollowedTree, is_default_branch: Callable[[], bool]
) -> Iterator[tuple[str, str]]:
    """Yield the path of each source that follows the branch, and the revision that is compared."""
    key = repository_key(followed.repository_url)
    for source, revision in _all_sources(application):
        branch = _branch(source)
        if repository_key(source.get("repoURL") or "") == key and (
            branch == followed.branch or (branch == HEAD and is_default_branch())
        ):
            yield source["path"], revision


def _all_sources(application: Application) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each source with a path, and its revision: others only give values to these."""
    spec, sync = application.get("spec") or {}, _at(application, "status", "sync")
    sources, revisions = spec.get("sources"), sync.get("revisions")
    if not sources:
        sources, revisions = [spec.get("source") or {}], None
    revisions = revisions or [sync.get("revision") or ""]
    for source, revision in zip(sources, chain(revisions, repeat("")), strict=False):
        if source.get("path"):
            yield source, revision


def _branch(source: Mapping[str, Any]) -> str:
    return (source.get("targetRevision") or HEAD).removeprefix("refs/heads/")


def _cluster(application: Application, server: ArgoServer, *, is_alone: bool) -> tuple[str, bool]:
    """Return the cluster on which an Application runs ("": not known), and whether it is a name.

    Each of several servers has a cluster of its own named in-cluster.
    """
    label = (application["metadata"].get("labels") or {}).get(CLUSTER_LABEL)
    if label:
        return label, True
    destination = _at(application, "spec", "destination")
    name, url = destination.get("name") or "", (destination.get("server") or "").rstrip("/")
    if (name == IN_CLUSTER or url == IN_CLUSTER_SERVER) and not is_alone:
        return "", False
    name = name or (server.cluster_names or {}).get(url, "")
    return (name, True) if name else (url, False)


def _unknown_cluster(application: Application, server: ArgoServer) -> KalypsoError:
    is_own = bool(_at(application, "spec", "destination"))
    why = "each of the argocd-servers has a cluster in-cluster" if is_own else "no destination"
    return KalypsoError(
        f"the Application {application['metadata']['name']!r} of {server.url} does not say on "
        f"which cluster it runs: {why}",
        Location(server.url),
        f"label the Application {CLUSTER_LABEL}: <name of its cluster>",
        "argocd-cluster-unknown",
    )


def _report(application: Application, cluster: str, path: str, revision: str) -> ClusterReport:
    """Return the report of one source of an Application, without those that it makes."""
    status = application.get("status") or {}
    is_synced = _at(status, "sync").get("status") == "Synced"
    # A revision that is only compared is not applied.
    applied = revision if is_synced or _failure(status) else ""
    state = _state_of(application)
    reconciled = _time(status.get("reconciledAt"))
    return ClusterReport(
        cluster=cluster,
        configuration="/".join(filter(None, _key(application["metadata"]))),
        paths=(ReportedPath(path),),
        revision=applied,
        state=state.state,
        message=state.message,
        source_updated_at=state.since,
        reported_at=_latest(reconciled, state.since),
    )


def _with_children(
    report: ClusterReport,
    application: Application,
    known: Mapping[tuple[str, str], Application],
) -> ClusterReport:
    """Return the report with the worst state of the Applications that an Application makes."""
    states = [_State(report.state, report.source_updated_at, report.message)]
    own = _key(application["metadata"])
    seen = {own}
    parents = [application]
    while parents:
        parent = parents.pop()
        for key in _children(parent):
            if key in seen:
                continue
            seen.add(key)
            child = known.get(key)
            name = "/".join(filter(None, key))
            if child is None:
                states.append(_State("Progressing", None, f"the token does not see {name}"))
                continue
            state = _state_of(child)
            states.append(state._replace(message=f"{name}: {state.message or state.state}"))
            parents.append(child)
    worst = max(states, key=lambda state: WORST_LAST.index(state.state))
    moments = [state.since for state in states if state.state == worst.state]
    # All comply since the last began to; the first failure began the failure.
    since = (
        _latest(*moments)
        if worst.state == "Compliant"
        else min(filter(None, moments), default=None)
    )
    is_own = worst is states[0]
    return replace(
        report,
        state=worst.state,
        source_updated_at=since,
        message=report.message if is_own else worst.message,
        reported_at=_latest(report.reported_at, since),
    )


def _children(application: Application) -> Iterator[tuple[str, str]]:
    for resource in _at(application, "status").get("resources") or ():
        if resource.get("kind") == "Application" and resource.get("group") == "argoproj.io":
            yield _key(resource)


def _state_of(application: Application) -> _State:
    """Return the state that an Application has on the revision that it compares."""
    status = application.get("status") or {}
    operation = status.get("operationState") or {}
    health = status.get("health") or {}
    finished = _time(operation.get("finishedAt"))
    since = _latest(finished, _time(health.get("lastTransitionTime")))
    if reason := _in_progress(application, finished):
        return _State("Progressing", since, reason)
    if reason := _failure(status):
        return _State("Non-Compliant", finished, reason)
    name, sync = health.get("status") or "not known", _at(status, "sync").get("status")
    if name == "Healthy" and sync == "Synced":
        return _State("Compliant", since, "")
    errors = (
        condition.get("message")
        for condition in status.get("conditions") or ()
        if (condition.get("type") or "").endswith("Error")
    )
    reason = health.get("message") or next(
        filter(None, errors), f"{sync or 'not compared'}, {name}"
    )
    state = {"Degraded": "Non-Compliant", "Suspended": "Suspended"}.get(name, "Progressing")
    return _State(state, since, reason)


def _in_progress(application: Application, finished: datetime | None) -> str:
    """Return why Argo CD still works on an Application; "" if it does not."""
    status = application.get("status") or {}
    phase = _at(status, "operationState").get("phase")
    reconciled = _time(status.get("reconciledAt"))
    if application["metadata"].get("deletionTimestamp"):
        return "it is being deleted"
    if application.get("operation") is not None or phase not in {None, "", *ENDED}:
        return "a sync is requested or runs"
    if finished is not None and (reconciled is None or finished > reconciled):
        return "it was not compared after its last sync"
    return ""


def _failure(status: Mapping[str, Any]) -> str:
    """Return how the sync of the compared revision failed; "" if it did not."""
    operation = status.get("operationState") or {}
    if operation.get("phase") not in {"Failed", "Error"}:
        return ""
    sync = _at(status, "sync")
    for key in ("revision", "revisions"):
        # A sync that fails early has no result, or one without a revision.
        places = _at(operation, "syncResult"), _at(operation, "operation", "sync")
        tried = next((place[key] for place in places if place.get(key)), None)
        if tried and tried == sync.get(key):
            return operation.get("message") or "its sync failed"
    return ""


def _key(reference: Mapping[str, Any]) -> tuple[str, str]:
    return reference.get("namespace") or "", reference["name"]


def _at(mapping: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a nested mapping; an empty one if a part is missing or null."""
    for key in keys:
        mapping = mapping.get(key) or {}
    return mapping


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)
