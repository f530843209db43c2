"""The documents of one revision: reads and builds until nothing more is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.documents import Reading, Revision, RevisionFiles
from kalypso_actions.sources.discovery import Build, discover
from kalypso_actions.sources.paths import OutsideRepositoryError, normalize


class KustomizeBuild(Protocol):
    """Runs `kustomize build` on a folder among these files and returns its output."""

    def __call__(self, files: Mapping[str, bytes], folder: str, /) -> bytes:
        """Raises KalypsoError with the program's words."""


def kustomize_builder(programs: Programs) -> KustomizeBuild | None:
    """The machine's kustomize program; None where there is none."""
    return find_kustomize(programs)


def read_documents(
    files: RevisionFiles,
    *,
    repository: str,
    branch: str,
    path: str,
    kustomize: KustomizeBuild | None,
    ignore_sourceignore: bool = False,
) -> Reading:
    """All documents below `path`, by the rules of Flux.

    `repository` is the URL as it was written, for places and provenance. Without `kustomize`, a
    folder that has to be built is a problem. With `ignore_sourceignore` every YAML file of the
    tree is read, whatever `.sourceignore` files and kustomizations say.
    Raises KalypsoError when the files cannot be read; what is wrong with them are problems.
    """
    entries = files.entries()
    contents: dict[str, bytes] = {}
    built: dict[str, bytes] = {}
    failures: list[Problem] = []
    while True:
        found = discover(repository, path, entries, contents, built, whole_tree=ignore_sourceignore)
        for build in found.builds:
            output, failure = _build(build, files, kustomize)
            built[build.folder] = output
            failures.extend(failure)
        if found.wanted:
            contents.update(files.read(sorted(found.wanted)))
        elif not found.builds:
            break
    return Reading(
        _revision(files, repository, branch, path),
        found.documents,
        (*found.problems, *failures),
        found.warnings,
    )


def _build(
    build: Build, files: RevisionFiles, kustomize: KustomizeBuild | None
) -> tuple[bytes, tuple[Problem, ...]]:
    """What kustomize makes of a folder; nothing, with a problem, where it fails."""
    if kustomize is None:
        fields = ", ".join(build.fields)
        message = f"the kustomization has {fields}, which takes the kustomize program to build"
        return b"", (Problem(message, build.where, "install kustomize, or only list resources"),)
    try:
        return kustomize(files.read(sorted(build.files)), build.folder), ()
    except KalypsoError as error:
        problem = error.problem
        return b"", (Problem(problem.message, problem.where or build.where, problem.advice),)


def _revision(files: RevisionFiles, repository: str, branch: str, path: str) -> Revision:
    try:
        folder = normalize(path)
    except OutsideRepositoryError:
        return Revision(repository, branch, files.commit, path, None)
    return Revision(repository, branch, files.commit, folder or ".", files.tree_id(folder))
