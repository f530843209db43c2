"""The GitOpsRepo and the BaseRepo that an environment's branch lacks."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment

BASE_REPO_MISSING: Final = "base-repo-missing"


def missing_repositories(
    environment: str, own: Reading, declared: Environment | None
) -> Iterator[Problem]:
    """Report what the branch of an environment lacks, each with the file to add.

    `declared` is its Environment object; without one, a folder is read alone, and nobody proposes
    its manifests. An unreadable file may have what seems to be missing.
    """
    if own.problems:
        return
    if declared and not has_kind(own, "GitOpsRepo"):
        yield Problem(
            f"the branch of environment {environment!r} has no GitOpsRepo: nobody knows where its "
            "manifests belong",
            declared.where,
            _file(own, "GitOpsRepo", environment, "URL OF THE GITOPS REPOSITORY", environment),
            "gitops-repo-missing",
        )
    base_repos = [document for document in own.documents if document.kind == "BaseRepo"]
    if MAIN_BASE_REPO in (document.name for document in base_repos):
        return
    subject = f"the branch of environment {environment!r} has no BaseRepo"
    if base_repos:
        other = base_repos[0]
        yield Problem(
            f"{subject} named {MAIN_BASE_REPO!r}, but one named {other.name!r}",
            other.at("metadata", "name"),
            f"rename it to {MAIN_BASE_REPO}",
            BASE_REPO_MISSING,
        )
        return
    repo = declared.control_plane.repo if declared else "URL OF THE CONTROL PLANE"
    yield Problem(
        f"{subject}: it takes nothing over from main, and no commit of main is tracked",
        declared.where if declared else Location(own.revision.repository, _path(own, "BaseRepo")),
        _file(own, "BaseRepo", MAIN_BASE_REPO, repo, "main"),
        BASE_REPO_MISSING,
    )


def has_kind(reading: Reading, kind: str) -> bool:
    """Whether a branch has a document of a kind."""
    return any(document.kind == kind for document in reading.documents)


def _file(own: Reading, kind: str, name: str, repo: str, branch: str) -> str:
    """Return the advice to add a file, with its whole content."""
    place = f" to the branch {own.revision.branch}" if own.revision.branch else ""
    return (
        f"add {_path(own, kind)}{place}:\napiVersion: scheduler.kalypso.io/v1alpha1\n"
        f"kind: {kind}\nmetadata:\n  name: {name}\n"
        f"spec:\n  repo: {repo}\n  branch: {branch}\n  path: .\n"
    )


def _path(own: Reading, kind: str) -> str:
    name = {"BaseRepo": "base-repo.yaml", "GitOpsRepo": "gitops-repo.yaml"}[kind]
    return posixpath.normpath(f"{own.revision.path}/{name}")
