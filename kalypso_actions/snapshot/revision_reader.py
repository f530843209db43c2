"""Read the documents of one revision."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.documents import FilesTooLargeError, Reading, Revision, RevisionFiles
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.sources.discovery import Build, Discovery, discover
from kalypso_actions.sources.limits import Limits, too_many_files, too_much_text
from kalypso_actions.sources.parsed_contents import ParsedContents
from kalypso_actions.sources.paths import OutsideRepositoryError, normalize, printable


class KustomizeBuild(Protocol):
    """Runs `kustomize build` on a folder among these files and returns its output."""

    def __call__(self, files: Mapping[str, bytes], folder: str, /) -> bytes:
        """Raises KalypsoError with the program's message."""


def kustomize_builder(programs: Programs) -> KustomizeBuild | None:
    """Return the machine's kustomize program, if any."""
    return find_kustomize(programs)


def read_documents(
    files: RevisionFiles,
    *,
    repository: str,
    branch: str,
    path: str,
    kustomize: KustomizeBuild | None,
    ignore_sourceignore: bool = False,
    limits: Limits | None = None,
) -> Reading:
    """Read all documents below `path`, by the rules of Flux.

    `repository` is the URL as it was written, for locations and provenance. Without `kustomize`, a
    folder that must be built is a problem. With `ignore_sourceignore` every YAML file of the tree
    is read, regardless of `.sourceignore` files and kustomizations. `limits` hold for all files
    together. Raises KalypsoError if the files cannot be read; the reading has the problems of their
    content.
    """
    entries = files.entries()
    contents: dict[str, bytes] = {}
    built: dict[str, bytes] = {}
    failures: list[Problem] = []
    parsed = ParsedContents(limits)
    while True:
        discovery = discover(
            repository,
            path,
            entries,
            contents,
            built,
            whole_tree=ignore_sourceignore,
            parsed=parsed,
        )
        for build in discovery.builds:
            output, failure = _build(build, files, kustomize)
            built[build.folder] = output
            failures.extend(failure)
        if limits and sum(map(len, built.values())) > limits.text_bytes:
            largest = max(built, key=lambda folder: len(built[folder]))
            where = Location(repository, printable(largest))
            discovery = Discovery(problems=(too_much_text(limits, where),))
            break
        if discovery.wanted:
            excess = _read(files, repository, contents, sorted(discovery.wanted), limits)
            if excess:
                discovery = Discovery(problems=(excess,))
                break
        elif not discovery.builds:
            break
    reading = Reading(
        _revision(files, repository, branch, path),
        discovery.documents,
        (*discovery.problems, *failures),
        discovery.warnings,
    )
    return _located(reading, branch, files.commit) if files.commit else reading


def _read(
    files: RevisionFiles,
    repository: str,
    contents: dict[str, bytes],
    paths: Sequence[str],
    limits: Limits | None,
) -> Problem | None:
    """Read files into `contents`; return the problem if they are too many or too large."""
    if limits is None:
        contents.update(files.read(paths))
        return None
    count = len(contents) + len(paths)
    if count > limits.files:
        return too_many_files(limits, Location(repository, printable(paths[0])), count)
    try:
        contents.update(files.read(paths, limits.text_bytes))
    except FilesTooLargeError as error:
        return too_much_text(limits, Location(repository, printable(error.largest)))
    if sum(map(len, contents.values())) <= limits.text_bytes:
        return None
    largest = max(contents, key=lambda path: len(contents[path]))
    return too_much_text(limits, Location(repository, printable(largest)))


def read_branch(
    files: RevisionFiles, source: RepositoryPath, kustomize: KustomizeBuild | None
) -> Reading:
    """Read a branch's documents, and its Environments, which main's `.sourceignore` often hides.

    Raises KalypsoError.
    """

    def read(*, ignore_sourceignore: bool) -> Reading:
        return read_documents(
            files,
            repository=source.repo,
            branch=source.branch,
            path=source.path,
            kustomize=kustomize,
            ignore_sourceignore=ignore_sourceignore,
        )

    reading = read(ignore_sourceignore=False)
    seen = {document.where for document in reading.documents}
    hidden = tuple(
        document
        for document in read(ignore_sourceignore=True).documents
        if document.kind == "Environment" and document.where not in seen
    )
    return dataclasses.replace(reading, documents=reading.documents + hidden)


def _located(reading: Reading, branch: str, commit: str) -> Reading:
    """Add branch and commit to all locations."""

    def located(where: Location) -> Location:
        return dataclasses.replace(where, branch=branch, commit=commit)

    def of_revision(problems: Iterable[Problem]) -> tuple[Problem, ...]:
        return tuple(
            dataclasses.replace(problem, where=located(problem.where)) if problem.where else problem
            for problem in problems
        )

    return dataclasses.replace(
        reading,
        documents=tuple(
            dataclasses.replace(document, where=located(document.where))
            for document in reading.documents
        ),
        problems=of_revision(reading.problems),
        warnings=of_revision(reading.warnings),
    )


def _build(
    build: Build, files: RevisionFiles, kustomize: KustomizeBuild | None
) -> tuple[bytes, tuple[Problem, ...]]:
    """Build a folder by kustomize; return its output and problems."""
    if kustomize is None:
        fields = ", ".join(build.fields)
        message = f"the kustomization has {fields}, which takes the kustomize program to build"
        advice = "install kustomize, or only list resources"
        return b"", (Problem(message, build.where, advice, "kustomize-missing"),)
    try:
        return kustomize(files.read(sorted(build.files)), build.folder), ()
    except KalypsoError as error:
        where = error.problem.where or build.where
        return b"", (dataclasses.replace(error.problem, where=where, code="kustomize-failed"),)


def _revision(files: RevisionFiles, repository: str, branch: str, path: str) -> Revision:
    try:
        folder = normalize(path)
    except OutsideRepositoryError:
        return Revision(repository, branch, files.commit, path, None)
    return Revision(repository, branch, files.commit, folder or ".", files.tree_id(folder))
