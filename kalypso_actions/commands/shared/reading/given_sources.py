"""Warn about a `--source` that replaces nothing, or whose edits are not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kalypso_actions.clients.git import GitRepository, is_repository
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.repositories import GivenSource
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.documents import FILE_MODE, Reading
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.urls import repository_key, without_secret

SUFFIXES = (".yaml", ".yml", ".json")


def check_given_sources(
    sources: Iterable[GivenSource], readings: Iterable[Reading], programs: Programs
) -> Iterator[Problem]:
    """Check the sources against the repositories that the documents of a control plane name."""
    known_urls = {repository_key(url): url for reading in readings for url in _urls(reading)}
    for source in sources:
        where = Location(str(source.path))
        if not source.path.is_dir():
            message = f"--source {without_secret(source.url)}: there is no such folder"
            yield Problem(message, where, "check PATH, from the current folder", "source-ignored")
        elif known_urls and repository_key(source.url) not in known_urls:
            by_path = {_path(url): url for url in known_urls.values()}
            close = nearest(_path(source.url), by_path)
            suggestion = f"did you mean {by_path[close]}? " if close else ""
            yield Problem(
                f"--source: nothing here reads {without_secret(source.url)}",
                where,
                f"{suggestion}Write the URL as in the WorkloadRegistration or BaseRepo",
                "source-ignored",
            )
        else:
            yield from _uncommitted(source, programs)


def _path(url: str) -> str:
    """Return the path of a URL; all repositories of an organisation have the same host."""
    return repository_key(url).partition("/")[2]


def _urls(reading: Reading) -> Iterator[str]:
    for document in reading.documents:
        match document.body:
            case {"kind": "BaseRepo", "spec": {"repo": str(url)}}:
                yield url
            case {"kind": "WorkloadRegistration", "spec": {"workload": {"repo": str(url)}}}:
                yield url


def _uncommitted(source: GivenSource, programs: Programs) -> Iterator[Problem]:
    """Report edited and new files."""
    if not is_repository(source.path) or not (source.path / ".git").exists():
        return  # a bare repository has no files to edit
    repository = GitRepository(source.path, programs)
    branch = source.branch or repository.checked_out
    if branch != repository.checked_out:
        return
    try:
        paths = uncommitted(source.path, repository) if branch else []
    except KalypsoError:
        return  # whatever reads the repository reports the error
    if paths:
        yield Problem(
            f"uncommitted changes are not read: {abbreviated(paths, 1)}",
            Location(str(source.path)),
            f"commit them, or give a copy without .git; the commit of {branch} is read",
            "source-ignored",
        )


def uncommitted(folder: Path, repository: GitRepository) -> list[str]:
    """Return the edited and the new files of a working tree, among the files that are read.

    It does not call `git status`, which might run programs that the settings name. Raises
    KalypsoError.
    """
    entries = repository.at_commit(repository.checked_out_commit).entries()
    edited = [
        path
        for path, entry in entries.items()
        if path.endswith(SUFFIXES) and entry.mode == FILE_MODE
        if _is_edited(folder / path, entry.object_id)
    ]
    return sorted([*edited, *repository.untracked(folder, SUFFIXES)])


def _is_edited(file: Path, object_id: str | None) -> bool:
    """Whether a file differs from its blob, apart from line ends that a checkout converts."""
    if not file.is_file() or file.is_symlink():
        return not file.exists()
    content = file.read_bytes()
    return object_id not in {blob_id(content), blob_id(content.replace(b"\r\n", b"\n"))}
