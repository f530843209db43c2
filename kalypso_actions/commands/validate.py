"""`kalypso validate`: check all documents of branches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.commands.runtime.current_clone import CurrentClone
from kalypso_actions.commands.runtime.local_context import LocalContext
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.fleet import Diagnostics, folder_of_workloads
from kalypso_actions.inputs import PathAtBranch, ValidateInputs, split_branch
from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.report.documents import (
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    ValidateDocument,
)
from kalypso_actions.snapshot.control_plane import find_environments
from kalypso_actions.snapshot.document_reader import Reader
from kalypso_actions.snapshot.main_position import position_in_clone
from kalypso_actions.snapshot.registered_workloads import read_registered
from kalypso_actions.snapshot.revision_reader import read_branch
from kalypso_actions.validation import validate_control_plane, validate_workloads


def validate(inputs: ValidateInputs, context: LocalContext) -> ValidateDocument:
    """Read the branches and check them together; an unreadable branch is a problem."""
    if inputs.workload:
        return _validate_workloads(inputs.places or (".",), context)
    problems: list[Problem] = []
    with context.reader(inputs.source) as reader:
        clone = None if inputs.places else context.clone(reader)
        if clone and clone.checked_out:
            readings = list(_readings_of_clone(clone, reader, context))
            named = [item for item in readings if item.revision.branch == clone.checked_out]
        else:
            of_places = [
                list(_readings(place, reader, problems)) for place in inputs.places or (".",)
            ]
            readings = [reading for of_place in of_places for reading in of_place]
            named = [of_place[0] for of_place in of_places if len(of_place) == 1]
        is_folder = clone is None and all(item.revision.commit is None for item in readings)
        registered = read_registered(readings, reader, allow_network=not is_folder)
        findings = validate_control_plane(readings, registered, named)
        main = list(_positions(readings, clone, reader))
    findings.problems[:0] = problems
    return _document(readings, findings, main)


def _validate_workloads(places: Sequence[str], context: LocalContext) -> ValidateDocument:
    """Read folders or branches of application teams, and check them alone."""
    readings: list[Reading] = []
    problems: list[Problem] = []
    with context.reader(()) as reader:
        for place in places:
            try:
                readings.append(_reading_of_workloads(place, reader, context))
            except KalypsoError as error:
                problems += error.problems
    findings = validate_workloads(readings)
    findings.problems[:0] = problems
    return _document(readings, findings)


def _reading_of_workloads(place: str, reader: Reader, context: LocalContext) -> Reading:
    """Read the folder of a place that has the Workloads.

    Repositories of applications have other YAML files as well, such as charts. Raises KalypsoError.
    """
    files, branch = _files(place, reader)
    reading = reader.documents_of(files, branch=branch)
    folder = folder_of_workloads(reading.documents)
    narrowed = reader.documents_of(files, branch=branch, path=folder)
    if (narrowed.documents, narrowed.problems) == (reading.documents, reading.problems):
        return reading
    context.log(f"Checking ./{folder} of {place}: the WorkloadRegistration must name this path.")
    return narrowed


def _files(place: str, reader: Reader) -> tuple[RevisionFiles, str]:
    """Return the files of a folder, or of a repository's branch, with the branch's name."""
    local = PathAtBranch.parse(place)
    if local.path.is_dir() and not local.branch and not _is_bare(local.path):
        return FolderFiles(local.path, repository=place), ""
    url, branch = (str(local.path), local.branch) if local.path.is_dir() else split_branch(place)
    branch = branch or reader.repositories.main_branch(url)
    return reader.repositories.open(url, branch=branch), branch


def _document(
    readings: Sequence[Reading],
    findings: Diagnostics,
    main: Iterable[PositionEntry] = (),
) -> ValidateDocument:
    return ValidateDocument(
        main=tuple(main),
        sources=SourceEntry.all_of(
            (reading.revision.branch, reading.revision) for reading in readings
        ),
        documents=sum(len(reading.documents) for reading in readings),
        notes=ProblemEntry.all_of(findings.notes),
        acknowledged=ProblemEntry.all_of(findings.acknowledged),
        warnings=ProblemEntry.all_of(findings.warnings),
        problems=ProblemEntry.all_of(findings.problems),
    )


def _readings_of_clone(
    clone: CurrentClone, reader: Reader, context: LocalContext
) -> Iterator[Reading]:
    """Read main and the environments' branches: the checked-out one from the working tree."""
    sources, absent = clone.branches()
    places = ", ".join(f"{source.branch} ({clone.place(source.branch)})" for source in sources)
    context.log(f"Validating {places} of {clone}.")
    for branch in absent:
        context.log(f"The branch {branch} is not in this clone: git fetch origin {branch}")
    for source in sources:
        files = clone.files_of(source.branch) or reader.repositories.open(
            str(clone.path), branch=source.branch
        )
        yield read_branch(files, source, reader.kustomize)


def _positions(
    readings: Sequence[Reading], clone: CurrentClone | None, reader: Reader
) -> Iterator[PositionEntry]:
    """Yield the commits of main that environment branches of a repository have."""
    for reading in readings:
        revision = reading.revision
        repository = str(clone.path) if clone else revision.repository if revision.commit else ""
        position = (
            position_in_clone(reading, repository, reader.repositories) if repository else None
        )
        if position:
            yield PositionEntry.of(revision.branch, position)


def _readings(place: str, reader: Reader, problems: list[Problem]) -> Iterator[Reading]:
    """Read the branches that a place names.

    A folder names its files, even in a clone: people check before they commit. A URL or a bare
    repository without a branch names main and the branches of its environments.
    """
    local = PathAtBranch.parse(place)
    if local.path.is_dir() and not local.branch and not _is_bare(local.path):
        folder = FolderFiles(local.path, repository=place)
        yield read_branch(folder, RepositoryPath(place, "", "."), reader.kustomize)
        return
    url, branch = (str(local.path), local.branch) if local.path.is_dir() else split_branch(place)
    try:
        sources = [RepositoryPath(url, branch, ".")] if branch else _branches(url, reader)
    except KalypsoError as error:
        problems += error.problems
        return
    for done, source in enumerate(sources):
        reader.fetched(done, len(sources))
        try:
            files = reader.repositories.open(url, branch=source.branch)
            yield read_branch(files, source, reader.kustomize)
        except KalypsoError as error:
            problems += error.problems
    reader.fetched(len(sources), len(sources))


def _branches(url: str, reader: Reader) -> list[RepositoryPath]:
    """Return main and its environments' branches; the check of main reports faulty Environments."""
    main = RepositoryPath(url, reader.repositories.main_branch(url), ".")
    environments, _ = find_environments(reader, url, main.branch)
    own = [
        dataclasses.replace(environment.control_plane, repo=url)
        for environment in environments.values()
    ]
    return list(dict.fromkeys((main, *own)))


def _is_bare(path: Path) -> bool:
    return (
        not (path / ".git").exists() and (path / "HEAD").is_file() and (path / "objects").is_dir()
    )
