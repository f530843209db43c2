"""Commit statuses that clusters post → cluster reports.

Flux's notification-controller (`commitStatusExpr`) and Argo CD's notifications post a status of the
context `cluster/<cluster>/<cluster type>` on the commit that they apply.

    reports, unlisted = reports_of_statuses(statuses_by_commit, followed, {"fleet-flux[bot]"})
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import takewhile
from typing import Final, NamedTuple

from kalypso_actions.errors import Problem
from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    ExpectedCluster,
    FollowedTree,
    ReportedPath,
    cluster_name,
)
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.github import CommitStatus

CONTEXT: Final = "cluster/"

SUCCESSES: Final = frozenset({"reconciliation succeeded", "Synced and healthy"})
"""The only texts of a success that mean that the commit is applied and healthy, as they are posted.

Flux before 1.8 posts each of its other events as a success as well (flux2#5737).
"""

FLUX_CONTEXT: Final = re.compile(r"(?:kustomization|helmrelease)/[^/]+/(?P<uid>[0-9a-f]{8})")
"""The context of a Provider without `commitStatusExpr`: the kind, the name, and its own uid."""

MOST_NAMED: Final = 10

WAITS: Final = "dependency not ready"
"""The text of a failure that is none: Flux waits for another Kustomization."""

StatusesByCommit = Mapping[str, Sequence[CommitStatus]]
"""The statuses of each commit, newest first."""


class ClusterContext(NamedTuple):
    """A context of a status by which a cluster reports, in lower case."""

    cluster: str
    cluster_type: str
    context: str


def cluster_context(context: str) -> ClusterContext | None:
    """Return the cluster and the cluster type of a context; None if the context is no report."""
    lower = context.lower()
    _, cluster, cluster_type = (*lower.split("/", 3)[:3], "", "", "")[:3]
    if not lower.startswith(CONTEXT) or not cluster or not cluster_type:
        return None
    return ClusterContext(cluster, cluster_type, lower)


def reports_of_statuses(
    statuses: StatusesByCommit, followed: FollowedTree, authors: Set[str]
) -> tuple[tuple[ClusterReport, ...], tuple[str, ...]]:
    """Return the reports of the expected clusters, and the pairs that report and are not listed.

    Only statuses of the `authors` count, whose logins are in lower case. Of each context, the
    newest commit of the branch with such a status decides, and there the newest status.
    """
    expected = {_pair(each): each for each in followed.expected}
    listed = expected.keys() | set(map(_pair, followed.exempt))
    decided: dict[ClusterContext, ClusterReport | None] = {}
    for commit in followed.commits:
        for context, row in _rows(statuses.get(commit, ()), authors):
            if context not in decided:
                pair = expected.get(context[:2])
                decided[context] = _report(pair, context, commit, row) if pair else None
    reports = tuple(report for report in decided.values() if report is not None)
    unlisted = dict.fromkeys(
        f"{context.cluster}/{context.cluster_type}"
        for context in decided
        if context[:2] not in listed
    )
    return reports, tuple(unlisted)


def unlisted_pairs(pairs: Iterable[str], followed: FollowedTree) -> Iterator[Problem]:
    """Yield a warning for each `cluster/cluster type` that reports and is not listed."""
    known = {name.lower() for name in followed.cluster_types}
    for pair in pairs:
        advice = "add the cluster to the annotation kalypso.io/clusters of its ClusterType, or "
        message, cluster_type = f"{pair} reports, and is not listed", pair.partition("/")[2]
        if cluster_type not in known:
            message += f": no ClusterType here is named {cluster_type}"
            advice = ""
        advice += "correct the name in its statuses"
        yield Problem(message, advice=advice, code="cluster-unlisted")


def nobody_expected(place: str, followed: FollowedTree) -> Problem:
    """Return the warning that the statuses of a branch are not read."""
    why, advice = "no cluster is expected there", "list the clusters in the annotation "
    advice += "kalypso.io/clusters of ClusterTypes"
    if followed.exempt:
        why = "the cluster types that list clusters have no assignment there, or compliance: none"
        advice = "merge the pull request of schedule, or remove the annotation "
        advice += "kalypso.io/compliance: none"
    return Problem(
        f"the commit statuses on {place} are not read: {why}",
        advice=advice,
        code="clusters-unlisted",
    )


def _pair(cluster: ExpectedCluster) -> tuple[str, str]:
    """Return the parts of the cluster's contexts: a nested folder of a target has `.` for `/`."""
    return cluster_name(cluster.name).lower(), cluster.cluster_type.lower().replace("/", ".")


FAULTS: Final = (
    (
        "{0} posts statuses of clusters, such as {1}, and status-authors does not name it: they "
        "do not count",
        "add the login to status-authors if clusters post by it",
    ),
    (
        "{1} posts the context {0}, which names no cluster and cluster type",
        "write the context as cluster/<cluster>/<cluster type>",
    ),
    (
        "commitStatusExpr is missing on the Provider whose uid begins with {0}: its context {1} "
        "names no cluster",
        "add commitStatusExpr to the Provider (Flux 2.6 or later)",
    ),
    (
        "{1} posts a success with the text {0!r}, which does not count: Flux before 2.8 posts "
        "other events as successes",
        "update Flux to 2.9 or later",
    ),
)
"""What is wrong with statuses: the message about a subject and an example, and the advice."""


def faults_of_statuses(
    newest: Mapping[str, Mapping[str, CommitStatus]], followed: FollowedTree, authors: Set[str]
) -> Iterator[Problem]:
    """Yield what is wrong with how clusters post, each fault once.

    `newest` has the newest status of each context of a commit.
    """
    posted = [
        (index, status)
        for index, commit in enumerate(followed.commits)
        for status in newest.get(commit, {}).values()
    ]
    providers = {
        match["uid"]: status.context
        for _, status in posted
        if (match := FLUX_CONTEXT.fullmatch(status.context.lower()))
    }
    strangers: dict[str, str] = {}
    trusted: list[tuple[int, str, CommitStatus]] = []
    for index, status in posted:
        context = cluster_context(status.context)
        if context and status.author.lower() in authors:
            trusted.append((index, f"{context.cluster}/{context.cluster_type}", status))
        elif context:
            strangers.setdefault(status.author or "a deleted account", status.context)
    nameless = {
        status.context: status.author
        for _, status in posted
        if status.context.lower().startswith(CONTEXT) and not cluster_context(status.context)
    }
    other_texts = {
        status.description: pair
        for _, pair, status in trusted
        if status.state == "success" and state_of(status) != "Compliant"
    }
    for (message, advice), found in zip(
        FAULTS, (strangers, nameless, providers, other_texts), strict=True
    ):
        for subject, example in found.items():
            yield Problem(message.format(subject, example), advice=advice)
    behind = _behind(trusted)
    if behind:
        yield Problem(
            f"{abbreviated(behind, MOST_NAMED)} posted nothing on the newest commits, on which "
            "others have: it is slow, or cannot tell its failure",
            advice="look at its Kustomization; Flux 2.8.1 to 2.8.8 posts no failures, and 2.8.0 "
            "nothing (flux2#5737): update to 2.9 or later",
        )


def _behind(trusted: Iterable[tuple[int, str, CommitStatus]]) -> list[str]:
    """Return the pairs whose newest status is a success on an older commit than that of others."""
    last: dict[str, tuple[int, CommitStatus]] = {}
    for index, pair, status in trusted:
        last.setdefault(pair, (index, status))
    newest = min((index for index, _ in last.values()), default=0)
    return sorted(
        pair
        for pair, (index, status) in last.items()
        if index > newest and state_of(status) == "Compliant"
    )


def needs_history(status: CommitStatus, authors: Set[str], *, is_young: bool) -> bool:
    """Return whether the newest status of a context does not say enough by itself.

    A trusted status may lie below a foreign one, and the state may have begun earlier.
    `is_young`: the status is younger than the time that its state must last.
    """
    if status.author.lower() not in authors:
        return True
    meaning = state_of(status)
    return meaning == "Non-Compliant" or (meaning == "Compliant" and is_young)


def state_of(status: CommitStatus) -> str:
    """Return the state that a status means, as in a `ClusterReport`."""
    text = status.description
    if status.state == "success":
        return "Compliant" if text in SUCCESSES else f"not known ({text})"
    if status.state in {"failure", "error"} and text != WAITS:
        return "Non-Compliant"
    return f"Pending ({text})" if text else "Pending"


def _rows(
    statuses: Iterable[CommitStatus], authors: Set[str]
) -> Iterator[tuple[ClusterContext, list[CommitStatus]]]:
    """Yield each context in which clusters report, with its trusted statuses, newest first."""
    rows: dict[ClusterContext, list[CommitStatus]] = {}
    for status in statuses:
        context = cluster_context(status.context)
        if context and status.author.lower() in authors:
            rows.setdefault(context, []).append(status)
    yield from rows.items()


def _report(
    pair: ExpectedCluster, context: ClusterContext, commit: str, row: Sequence[CommitStatus]
) -> ClusterReport:
    """Return the report of a row: its newest status, since the first one of equal meaning."""
    newest = row[0]
    state = state_of(newest)
    first = list(takewhile(lambda status: state_of(status) == state, row))[-1]
    return ClusterReport(
        cluster=pair.name,
        configuration=context.context,
        paths=(ReportedPath(pair.path),),
        revision=commit,
        state=state,
        message=newest.description,
        source_updated_at=first.created_at,
        reported_at=newest.created_at,
    )
