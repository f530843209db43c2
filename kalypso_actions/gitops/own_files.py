"""The files and branches that belong to Kalypso in a GitOps repository."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.history import FileVersion
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.layout import (
    PROMOTED_COMMIT_FILE,
    README_FILE,
    README_TEXT,
    RECORD_FILES,
    TARGET_FILES,
)
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.urls import repository_key

README_ID: Final = blob_id(README_TEXT)


def in_folder(paths: Iterable[str], folder: str, depth: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Yield every path below `folder` ("" for the root) and its segments from there.

    With a `depth`, yield at most so many segments; the last one has the rest of the path.
    """
    prefix = f"{folder}/" if folder else ""
    for path in paths:
        if path.startswith(prefix):
            yield path, path[len(prefix) :].split("/", depth - 1)


def record_paths(folder: str) -> frozenset[str]:
    """Return the paths of the records of a tree that lies in `folder`."""
    return frozenset(f"{folder}/{name}" if folder else name for name in RECORD_FILES)


def cluster_type_folders(
    entries: Mapping[str, FileEntry | FileVersion], folder: str, cluster_types: Collection[str]
) -> frozenset[str]:
    """Return the folders of `cluster_types`, and other folders with our README.md."""
    readmes = (path for path in entries if path.endswith(README_FILE))
    former = (
        segments[0]
        for path, segments in in_folder(readmes, folder)
        if len(segments) == 2
        and segments[1] == README_FILE
        and entries[path].object_id == README_ID
        and not segments[0].startswith(".")
    )
    return frozenset(cluster_types) | frozenset(former)


def is_own(segments: list[str], cluster_types: Collection[str]) -> bool:
    """Whether a file at this place of the tree is ours; `cluster_types` are folders."""
    place = "/".join(segments)
    if place == PROMOTED_COMMIT_FILE or place in RECORD_FILES:
        return True
    if segments[0] not in cluster_types:
        return False
    return segments[1:] == [README_FILE] or (len(segments) == 3 and segments[2] in TARGET_FILES)


def changes_own(
    paths: Iterable[str],
    entries: Mapping[str, FileEntry],
    folder: str,
    cluster_types: Iterable[str],
) -> bool:
    """Whether any of the paths is, or would be, one of our files in the tree of `entries`."""
    folders = cluster_type_folders(entries, folder, frozenset(cluster_types))
    return any(is_own(segments, folders) for _, segments in in_folder(paths, folder))


def own_content(
    entries: Mapping[str, FileEntry | FileVersion], folder: str, cluster_types: Collection[str]
) -> dict[str, FileVersion]:
    """Return the version of each of our files, except records: a new record alone is no change."""
    folders = cluster_type_folders(entries, folder, cluster_types)
    return {
        path: FileVersion(entries[path].mode, entries[path].object_id)
        for path, segments in in_folder(entries, folder)
        if is_own(segments, folders) and "/".join(segments) not in RECORD_FILES
    }


def assigned_cluster_types(
    entries: Mapping[str, FileEntry], folder: str, cluster_types: Collection[str]
) -> frozenset[str]:
    """Return the present or former cluster types to which a tree assigns targets.

    `cluster_types` are the present ones.
    """
    folders = cluster_type_folders(entries, folder, cluster_types)
    return frozenset(
        segments[0]
        for _, segments in in_folder(entries, folder)
        if len(segments) == 3 and segments[0] in folders and segments[2] in TARGET_FILES
    )


def touches(
    before: Mapping[str, FileEntry] | None, after: Mapping[str, FileEntry], folder: str
) -> bool:
    """Whether a push changes the manifests in `folder`, or the promoted commit of the tree.

    Any file in a folder may be a manifest. Loose files of the tree (README.md) and files in its
    dot-folders (workflows, `sources.json`) are none. `before` is None for a new branch.
    """
    known = before or {}
    return any(
        version_of(known, path) != version_of(after, path) and _is_deployed(segments)
        for path, segments in in_folder(known.keys() | after.keys(), folder)
    )


def _is_deployed(segments: list[str]) -> bool:
    if "/".join(segments) == PROMOTED_COMMIT_FILE:
        return True
    return len(segments) > 1 and not segments[0].startswith(".")


def version_of(entries: Mapping[str, FileEntry], path: str) -> FileVersion | None:
    """Return the version of a file in a tree; None if the tree does not have it."""
    entry = entries.get(path)
    return FileVersion(entry.mode, entry.object_id) if entry else None


def own_branches(
    prefix: str, environment: str, gitops_repos: Sequence[GitOpsRepo]
) -> Mapping[str, str]:
    """Return the name of our branch for each GitOpsRepo of an environment, by the object's name.

    The branch has the name of the environment, and of the object too if one repository has several
    objects. Raises KalypsoError if two objects name the same tree.
    """
    shared: dict[str, list[GitOpsRepo]] = {}
    for gitops_repo in gitops_repos:
        shared.setdefault(repository_key(gitops_repo.target.repo), []).append(gitops_repo)
    problems = duplicate_gitops_repos(gitops_repos)
    if problems:
        raise KalypsoError.of(problems)
    return {
        repo.name: prefix + (environment if len(group) == 1 else f"{environment}.{repo.name}")
        for group in shared.values()
        for repo in group
    }


def may_be_own_branch(name: str, environment: str) -> bool:
    """Return whether a branch is named like our branches for an environment, with any prefix."""
    return re.fullmatch(rf".*{re.escape(environment)}(?:\..+)?", name) is not None


def duplicate_gitops_repos(gitops_repos: Sequence[GitOpsRepo]) -> list[Problem]:
    """Return a problem for each GitOpsRepo of an environment that names the tree of another."""
    first: dict[tuple[str, str, str], GitOpsRepo] = {}
    problems = []
    for repo in gitops_repos:
        target = repo.target
        place = (repository_key(target.repo), target.branch, target.path.strip("./"))
        other = first.setdefault(place, repo)
        if other is not repo:
            message = f"GitOpsRepo {repo.name!r} names the same tree as {other.name!r}"
            advice = "remove one of the two"
            problems.append(Problem(message, repo.at("repo"), advice, "gitops-repo-duplicate"))
    return problems
