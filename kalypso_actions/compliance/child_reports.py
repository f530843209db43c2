"""The reports of a platform's clusters → the reports of an application's Kustomizations on them.

    children = child_kustomizations(reconcilers, repository_url, branch).followed
    reports = child_reports(platform_reports, children)

Clusters follow the platform's GitOps repository, which has a `reconciler.yaml` for each assignment.
Flux applies its GitRepository and Kustomization, and Azure lists both among the objects of the
platform's configuration. A report of these objects is one of a configuration that follows the
application's branch, so that the same rules judge it.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.compliance.cluster_states import (
    APPLIED,
    BEING_SET_UP,
    object_state,
    synced_commit,
    worst_state,
)
from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    Condition,
    ObjectReference,
    ReportedObject,
    ReportedPath,
)
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.urls import repository_key

SOURCES: Final = "source.toolkit.fluxcd.io"
KUSTOMIZATIONS: Final = "kustomize.toolkit.fluxcd.io"
"""The API groups of Flux's kinds; their versions do not matter."""

DEFAULT_BRANCH: Final = "master"
"""The branch of a GitRepository that names none.

https://fluxcd.io/flux/components/source/gitrepositories/#reference
"""

MOST_LEVELS: Final = 20
"""The levels of a document in which a reconciler may name a repository."""

HEADS: Final = "refs/heads/"

STORED: Final = re.compile(r"stored artifact for revision '([^']+)'", re.IGNORECASE)
"""Flux's message of a GitRepository that is ready.

https://fluxcd.io/flux/components/source/gitrepositories/#artifact-in-storage-for-gitrepository
"""


BranchKey = tuple[str, str]
"""The key of a repository, and a branch of it."""


@dataclass(frozen=True, slots=True)
class ChildKustomization:
    """A Kustomization by which the clusters of an assignment follow a branch of an application.

    file       the `reconciler.yaml` that declares it, in the platform's GitOps branch
    reference  its name and namespace ("" if the file leaves that to the cluster)
    source     its GitRepository
    path       the folder of the application's branch that it applies; "" for the root
    suspended  whether the file suspends it
    """

    file: str
    reference: ObjectReference
    source: ObjectReference
    path: str
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Reconcilers:
    """What the reconcilers of a platform do with a branch of an application.

    followed    the Kustomizations that apply it
    unobserved  the files that name the branch and apply it by other means than Flux's Kustomization
    """

    followed: tuple[ChildKustomization, ...] = ()
    unobserved: tuple[str, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """The folders of the branch that clusters apply."""
        return frozenset(child.path for child in self.followed)


def child_kustomizations(
    reconcilers: Mapping[str, Sequence[object]], repository_url: str, branch: str
) -> Reconcilers:
    """Return what reconcilers do with a branch of the repository at a URL.

    `reconcilers` are the documents of the files `<cluster type>/<target>/reconciler.yaml`, by path.
    A Kustomization finds its GitRepository in any file of the cluster type.
    """
    key = repository_key(repository_url)
    found: list[ChildKustomization] = []
    unobserved: list[str] = []
    for files in _by_cluster_type(reconcilers):
        sources = {
            reference: file
            for file in files
            for reference in _sources_of(reconcilers[file], key, branch)
        }
        children = [
            child for file in files for child in _children_of(file, reconcilers[file], sources)
        ]
        used = {child.file for child in children} | {sources[each.source] for each in children}
        found += children
        unobserved += (
            file
            for file in files
            if file not in used
            and any(_names(document, key, branch) for document in reconcilers[file])
        )
    return Reconcilers(tuple(found), tuple(unobserved))


def children_by_branch(
    reconcilers: Mapping[str, Sequence[object]],
) -> Mapping[BranchKey, Sequence[ChildKustomization]]:
    """Return the Kustomizations that apply each branch of any repository.

    `reconcilers` are those of `child_kustomizations`.
    """
    children: dict[BranchKey, list[ChildKustomization]] = {}
    for files in _by_cluster_type(reconcilers):
        branches = {
            reference: (key, branch)
            for file in files
            for reference, key, branch in _git_repositories(reconcilers[file])
        }
        for file in files:
            for child in _children_of(file, reconcilers[file], branches):
                children.setdefault(branches[child.source], []).append(child)
    return children


def _by_cluster_type(reconcilers: Iterable[str]) -> Iterator[list[str]]:
    """Yield the files of each cluster type."""
    files = sorted(reconcilers, key=cluster_type_folder)
    for _, group in itertools.groupby(files, cluster_type_folder):
        yield sorted(group)


def cluster_type_folder(reconciler: str) -> str:
    """Return the folder of the cluster type of a file `<cluster type>/<target>/reconciler.yaml`."""
    return posixpath.dirname(posixpath.dirname(reconciler))


def child_reports(
    platform: Iterable[ClusterReport], children: Iterable[ChildKustomization]
) -> Iterator[ClusterReport]:
    """Yield a report for each cluster and Kustomization that the cluster should have.

    A Kustomization of which the cluster tells nothing has synced nothing yet.
    """
    below: dict[str, list[ChildKustomization]] = {}
    for child in children:
        for folder in _folders_above(child.file):
            below.setdefault(folder, []).append(child)
    for report in platform:
        folders = {_normal(path.path) for path in report.paths} or {""}
        assigned = dict.fromkeys(
            child for folder in sorted(folders) for child in below.get(folder, ())
        )
        if not assigned:
            continue
        applied_by = _by_applier(report.objects)
        for child in assigned:
            yield _child_report(report, child, applied_by)


def _child_report(
    report: ClusterReport,
    child: ChildKustomization,
    applied_by: Mapping[tuple[str, str], Sequence[ReportedObject]],
) -> ClusterReport:
    """Return the report of one Kustomization on a cluster.

    The Kustomization stands among its objects as the configuration's own, which no object applies:
    else its applied revision would not count.
    """
    own_name = ObjectReference(f"{report.configuration}-{child.reference.name}")
    kustomization = _find(report.objects, "Kustomization", child.reference)
    source = _find(report.objects, "GitRepository", child.source)
    stored = _condition_with(STORED, source)
    synced = _revision(STORED, stored)
    applied = _revision(APPLIED, _condition_with(APPLIED, kustomization))
    objects: tuple[ReportedObject, ...] = ()
    if kustomization is not None:
        own = replace(
            kustomization, name=own_name.name, namespace=own_name.namespace, applied_by=None
        )
        objects = (own, *_descendants(kustomization, own_name, applied_by))
    is_state_known = kustomization is not None and object_state(kustomization)
    has_synced_it = not applied or synced_commit(applied) == synced_commit(synced)
    return ClusterReport(
        report.cluster,
        report.configuration,
        (ReportedPath(child.path, child.reference.name),),
        revision=applied or (synced if kustomization else ""),
        state=worst_state(objects) if is_state_known else "",
        suspended=report.suspended or child.suspended,
        message=_failure(source),
        source_updated_at=stored.last_transition if stored and has_synced_it else None,
        reported_at=report.reported_at,
        provisioning_state=(
            report.provisioning_state if report.provisioning_state.lower() in BEING_SET_UP else ""
        ),
        objects=objects,
        unreachable=report.unreachable,
    )


def _descendants(
    kustomization: ReportedObject,
    name: ObjectReference,
    applied_by: Mapping[tuple[str, str], Sequence[ReportedObject]],
) -> Iterator[ReportedObject]:
    """Yield the objects that a Kustomization applied, also by others; their applier is `name`."""
    seen = {kustomization}
    appliers = [kustomization]
    while appliers:
        applier = appliers.pop()
        for reported in applied_by.get(_key(applier.reference), ()):
            if reported in seen:
                continue
            seen.add(reported)
            yield replace(reported, applied_by=name) if applier is kustomization else reported
            if reported.kind == "Kustomization":
                appliers.append(reported)


def _by_applier(
    objects: Iterable[ReportedObject],
) -> Mapping[tuple[str, str], Sequence[ReportedObject]]:
    of_applier: dict[tuple[str, str], list[ReportedObject]] = {}
    for reported in objects:
        if reported.applied_by is not None:
            of_applier.setdefault(_key(reported.applied_by), []).append(reported)
    return of_applier


def _find(
    objects: Iterable[ReportedObject], kind: str, reference: ObjectReference
) -> ReportedObject | None:
    """Return the object of a name; of any namespace if the reference has none."""
    namespace, name = _key(reference)
    for reported in objects:
        is_named = reported.kind == kind and reported.name.lower() == name
        if is_named and namespace in {"", reported.namespace.lower()}:
            return reported
    return None


def _condition_with(revision: re.Pattern[str], reported: ReportedObject | None) -> Condition | None:
    """Return the true condition whose message names a revision, preferably Ready."""
    for condition in sorted(
        reported.conditions if reported else (), key=lambda each: each.type.lower() != "ready"
    ):
        if condition.status.lower() == "true" and revision.search(condition.message):
            return condition
    return None


def _revision(pattern: re.Pattern[str], condition: Condition | None) -> str:
    """Return the revision in a condition's message; "" if it names no commit."""
    match = pattern.search(condition.message) if condition else None
    return match[1] if match and is_commit_id(synced_commit(match[1])) else ""


def _failure(source: ReportedObject | None) -> str:
    """Return why a GitRepository cannot be fetched; "" if it can."""
    for condition in source.conditions if source else ():
        if condition.type.lower() == "ready" and condition.status.lower() == "false":
            return condition.message
    return ""


def _sources_of(documents: Iterable[object], key: str, branch: str) -> Iterator[ObjectReference]:
    """Yield the GitRepositories that follow a branch of the repository of this key."""
    for reference, *place in _git_repositories(documents):
        if place == [key, branch]:
            yield reference


def _git_repositories(
    documents: Iterable[object],
) -> Iterator[tuple[ObjectReference, str, str]]:
    """Yield the GitRepositories that follow a branch: the key of the repository, and the branch."""
    for document in documents:
        match document:
            case {
                "apiVersion": str(version),
                "kind": "GitRepository",
                "metadata": {"name": str()} as metadata,
                "spec": {"url": str(url)} as spec,
            } if version.startswith(f"{SOURCES}/"):
                if branch := _branch_of(spec.get("ref")):
                    yield _reference(metadata), repository_key(url), branch


def _branch_of(ref: object) -> str | None:
    """Return the branch of a GitRepository; None if it follows a tag or a commit.

    A commit, a name of a reference, a range of versions and a tag count before the branch.

    https://fluxcd.io/flux/components/source/gitrepositories/#reference
    """
    match ref:
        case {"commit": str(fixed)} | {"semver": str(fixed)} | {"tag": str(fixed)} if fixed:
            return None
        case {"name": str(name)} if name:
            return name.removeprefix(HEADS) if name.startswith(HEADS) else None
        case {"branch": str(branch)} if branch:
            return branch
    return DEFAULT_BRANCH


def _children_of(
    file: str, documents: Iterable[object], sources: Collection[ObjectReference]
) -> Iterator[ChildKustomization]:
    """Yield the Kustomizations of a file that apply one of the sources."""
    for document in documents:
        match document:
            case {
                "apiVersion": str(version),
                "kind": "Kustomization",
                "metadata": {"name": str()} as metadata,
                "spec": {"sourceRef": {"kind": "GitRepository", "name": str()} as of} as spec,
            } if version.startswith(f"{KUSTOMIZATIONS}/"):
                reference = _reference(metadata)
                source = _reference(of, reference.namespace)
                if source in sources:
                    path = spec.get("path")
                    yield ChildKustomization(
                        file,
                        reference,
                        source,
                        _normal(path if isinstance(path, str) else ""),
                        spec.get("suspend") is True,
                    )


def _reference(metadata: Mapping[str, object], namespace: str = "") -> ObjectReference:
    given = metadata.get("namespace")
    return ObjectReference(str(metadata["name"]), given if isinstance(given, str) else namespace)


def _names(document: object, key: str, branch: str) -> bool:
    """Return whether a document names both the repository and the branch, in whatever fields."""
    texts = list(_texts(document))
    return branch in texts and any(repository_key(text) == key for text in texts)


def _texts(value: object, levels: int = MOST_LEVELS) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif levels and isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part, levels - 1)


def _folders_above(file: str) -> Iterator[str]:
    """Yield the folder of a file, and all folders above it, to the root ""."""
    folder = posixpath.dirname(file)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _normal(path: str) -> str:
    return posixpath.normpath("/" + path).strip("/")


def _key(reference: ObjectReference) -> tuple[str, str]:
    return reference.namespace.lower(), reference.name.lower()
