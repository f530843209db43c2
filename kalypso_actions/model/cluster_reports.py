"""The report of a cluster about a GitOps branch that it follows, and the names of verdicts."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of an object on the cluster, as in Kubernetes."""

    type: str
    status: str
    reason: str
    message: str
    last_transition: datetime | None


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The name and namespace of an object on the cluster."""

    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class ReportedObject:
    """The state of an object on the cluster, such as a Kustomization of Flux.

    `applied_by` is the Kustomization that made it; None for an object of the configuration itself.
    """

    kind: str
    name: str
    state: str
    conditions: tuple[Condition, ...]
    namespace: str = ""
    applied_by: ObjectReference | None = None

    @property
    def reference(self) -> ObjectReference:
        """The reference by which other objects name this one in `applied_by`."""
        return ObjectReference(self.name, self.namespace)


@dataclass(frozen=True, slots=True)
class ReportedPath:
    """A path of the branch that a configuration applies, and the Kustomization that applies it."""

    path: str
    kustomization: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedCluster:
    """A cluster that a cluster type lists, and the path of the branch that it should follow."""

    name: str
    cluster_type: str
    path: str


@dataclass(frozen=True, slots=True)
class FollowedTree:
    """The branch of a repository that clusters follow, as a source of reports needs it.

    `commits` are newest first: later ones, then those that count as synced. `expected` are the
    clusters that the cluster types of the branch's environment list; `unlisted` are the cluster
    types with assignments that list none. `exempt` are the listed clusters that need not report:
    their cluster types have no assignments, or an annotation turns their reports off. `folder`
    holds the environment's tree ("": the root), with a folder for each of `cluster_types`; reports
    about other paths do not count.
    """

    repository_url: str
    branch: str
    commits: tuple[str, ...] = ()
    expected: tuple[ExpectedCluster, ...] = ()
    unlisted: tuple[str, ...] = ()
    exempt: tuple[ExpectedCluster, ...] = ()
    folder: str = ""
    cluster_types: tuple[str, ...] = ()

    def counts(self, path: str) -> bool:
        """Return whether reports about a path of the branch count."""
        return cluster_type_of(path, self.folder, self.cluster_types) is not None


def cluster_name(cluster: str) -> str:
    """Return the last part of a cluster's id."""
    return cluster.rstrip("/").rpartition("/")[2]


def cluster_type_of(path: str, folder: str, cluster_types: Collection[str]) -> str | None:
    """Return the cluster type that a path belongs to; None for a path outside the tree in `folder`.

    The folders of an application's targets take the place of cluster types, and may be nested: the
    innermost one counts. "" is the tree's folder, or a folder above it: such a path holds the whole
    tree.
    """
    parts, above = _segments(path), _segments(folder)
    if parts == above[: len(parts)]:
        return ""
    if parts[: len(above)] != above:
        return None
    names = ("/".join(parts[len(above) : end]) for end in range(len(parts), len(above), -1))
    return next((name for name in names if name in cluster_types), None)


def _segments(path: str) -> list[str]:
    normal = posixpath.normpath("/" + path)
    return [part for part in normal.split("/") if part]


@dataclass(frozen=True, slots=True)
class BranchFollower:
    """A cluster that follows a branch of this name, in the repository at `repository_url`."""

    cluster: str
    repository_url: str
    paths: tuple[ReportedPath, ...]


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The state of one configuration (of Flux, Argo CD, …) by which a cluster follows a branch.

    cluster             the cluster's id: a path, whose last part is its name
    configuration       the name of the configuration
    paths               the paths that it applies; none: the whole branch
    revision            the revision that it has synced, in any of Flux's forms, or a commit id
    state               Compliant, Non-Compliant or Suspended; any other word: not known yet
    suspended           whether its reconciliation is suspended
    message             the configuration's error
    source_updated_at   when it synced the revision
    reported_at         when the cluster last reported
    provisioning_state  Creating or Updating: a failure is not final; Failed or Canceled: it failed
    objects             the objects behind the state
    unreachable         why the cluster cannot be reached, such as Offline; "" if it can
    """

    cluster: str
    configuration: str
    paths: tuple[ReportedPath, ...]
    revision: str
    state: str
    suspended: bool = False
    message: str = ""
    source_updated_at: datetime | None = None
    reported_at: datetime | None = None
    provisioning_state: str = ""
    objects: tuple[ReportedObject, ...] = ()
    unreachable: str = ""


VerdictName = Literal[
    "compliant",
    "nothing-scheduled",
    "waiting",
    "superseded",
    "failed",
    "none-targeted",
    "timed-out",
]
"""`superseded` and `timed-out` are verdicts of a run only."""

FAILURES: Final[frozenset[VerdictName]] = frozenset({"failed", "none-targeted", "timed-out"})

GOES_ON: Final[frozenset[VerdictName]] = frozenset({"compliant", "nothing-scheduled"})
"""Verdicts that let the commit go on to the next environments."""
