"""The readers of a command on a person's machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kalypso_actions.clients.git import Authorize, RemoteRepositories, basic
from kalypso_actions.clients.git.connection import INTERACTIVE_DELAYS
from kalypso_actions.clients.git.credentials import no_credential
from kalypso_actions.clients.git.urls import depth_below
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.current_clone import (
    CurrentClone,
    control_plane_clone,
    find_clone,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader, kustomize_builder
from kalypso_actions.commands.shared.reading.repositories import GivenSource, Repositories
from kalypso_actions.inputs.paths import Source
from kalypso_actions.model.progress import Progress, no_progress
from kalypso_actions.model.urls import is_loopback, without_secret

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.clients.git import GitRepository, is_repository
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.documents import FILE_MODE, Reading
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.urls import repository_key

_PROTOCOLS = frozenset({"https", "ssh", "file", "http"})
"""A person at a terminal may read everything that they can clone; http is for this machine."""


def _silent(_: str) -> None:
    """Log nothing."""


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The programs of the machine, the reporters of rendering and fetching, and the log for people.

    `folder` is the current folder; None to look for no clone there. `connect` connects to GitHub:
    then its credentials replace those of git on this machine.
    """

    programs: Programs
    progress: Progress
    log: Callable[[str], None] = _silent
    fetching: Progress = no_progress
    folder: Path | None = None
    credentials: Authorize = no_credential
    now: datetime | None = None
    connect: Callable[[], AbstractContextManager[CommandContext]] | None = None

    @contextmanager
    def reader(self, sources: Iterable[Source]) -> Iterator[Reader]:
        """Return a reader of `sources` and other repositories; delete fetched copies at the end."""
        with self._repositories(given_sources(sources)) as repositories:
            yield Reader(
                repositories,
                kustomize_builder(self.programs),
                fetched=self.fetching,
                now=self.now,
            )

    @contextmanager
    def _repositories(self, given: Iterable[GivenSource]) -> Iterator[Repositories]:
        if self.connect:
            with self.connect() as opened:
                check = opened.repositories.check
                yield Repositories(given, opened.remotes, self.programs, check=check)
            return
        with self.remotes() as remotes:
            yield Repositories(given, remotes, self.programs, clones=self.clones)

    def remotes(self) -> RemoteRepositories:
        """Return a reader of remote repositories with the credentials of git on this machine."""
        return RemoteRepositories(
            self.programs,
            protocols=_PROTOCOLS,
            credentials=self.credentials,
            trust_user_config=True,
            delays=INTERACTIVE_DELAYS,
        )

    def clones(self) -> Mapping[str, Path]:
        """Return the clone that contains the current folder by the URLs of its remotes."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        return dict.fromkeys(clone[1].remotes(), clone[0]) if clone else {}

    def clone(self, reader: Reader) -> CurrentClone | None:
        """Return the clone of a control plane that contains the current folder, if any."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        return control_plane_clone(*clone, reader) if clone else None

    def why_no_clone(self) -> str:
        """Say why `clone` returns None."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        if clone is None:
            return "the current folder is in no clone of a repository"
        origin = next(map(without_secret, clone[1].remotes()), str(clone[0].resolve()))
        return (
            f"the current folder is in a clone of {origin}, whose main has no Environment objects"
        )


def given_sources(sources: Iterable[Source]) -> list[GivenSource]:
    """Return the values of `--source` for readers."""
    return [GivenSource(source.url, source.branch, source.path) for source in sources]


def sandbox_credentials(server_url: str, token: str) -> Authorize:
    """Return the credentials of a sandbox on this machine: its token, only for its URLs."""
    if not (token and is_loopback(server_url)):
        return no_credential
    header = basic("x-access-token", token)
    return lambda url: header if depth_below(url, server_url) >= 0 else ""


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
