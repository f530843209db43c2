"""Open the source, configs and GitOps repositories of an application, and read their files.

Files that git ignores are left out, except fetched charts (`_files`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import (
    GitRepository,
    RemoteRepositories,
    is_repository,
)
from kalypso_actions.clients.git.local import local_files
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import Diagnostics, KalypsoError, Location, UsageError
from kalypso_actions.inputs.app import AppInputs
from kalypso_actions.inputs.paths import PlaceAtRevision
from kalypso_actions.model.application import Target
from kalypso_actions.model.documents import SYMLINK_MODE, RevisionFiles, content_of
from kalypso_actions.model.processes import Progress
from kalypso_actions.model.urls import name_in, owner_of, without_secret
from kalypso_actions.planning.application.helm import ChartPlace


@dataclass(frozen=True, slots=True)
class OpenPlace:
    """The files of a repository, and its name and revision.

    `name` is owner/name, `commit` the commit on which a folder with uncommitted changes is based,
    `revision` the branch, tag or commit that is read, `checked_out` the branch of such a folder;
    "" if they are not known.
    """

    files: RevisionFiles
    name: str = ""
    commit: str = ""
    default_branch: str = ""
    revision: str = ""
    checked_out: str = ""

    @property
    def repository(self) -> str:
        """The name for messages."""
        return self.files.repository

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Return the contents of all regular files below a folder ("" for all), by path."""
        prefix = f"{folder}/" if folder else ""
        entries = self.files.entries()
        paths = [
            path
            for path, entry in entries.items()
            if path.startswith(prefix) and entry.mode.startswith("100")
        ]
        return dict(self.files.read(paths))

    def read_file(self, path: str) -> bytes | None:
        """Return the content of a file; None if there is no such file."""
        return content_of(self.files, path)

    def links(self) -> dict[str, bytes]:
        """Return the texts of all symbolic links."""
        entries = self.files.entries()
        links = [path for path, entry in entries.items() if entry.mode == SYMLINK_MODE]
        return dict(self.files.read(links))


def open_place(
    given: PlaceAtRevision,
    option: str,
    remotes: RemoteRepositories,
    programs: Programs,
    default: str = "",
) -> OpenPlace:
    """Open a URL or path; read a folder without a revision, even a clone, as it is.

    If a URL or bare repository names no revision, read `default`, or if that is "" the default
    branch. Raises KalypsoError.
    """
    revision = given.revision or default
    if given.is_url:
        url = given.place
        branch = remotes.default_branch(url)
        revision = revision or branch
        files = remotes.fetch(url, commit=remotes.resolve(url, revision))
        return OpenPlace(files, _name(url), files.commit or "", branch, revision)
    path = Path(given.place)
    if not path.is_dir():
        raise UsageError(f"--{option} {path}: there is no such folder")
    if not is_repository(path):
        if given.revision:
            advice = "name the folder alone, or a clone"
            raise UsageError(
                f"--{option} {path} is no git repository, and has no commits", None, advice
            )
        return OpenPlace(_files(path, programs))
    repository = GitRepository(path, programs)
    name = next(filter(None, map(_name, repository.remotes())), "")
    branch = ""
    with suppress(KalypsoError):
        branch = repository.default_branch()
    is_bare = not (path / ".git").exists()
    if given.revision or is_bare:
        revision = revision or branch
        commit = repository.resolve(revision)
        return OpenPlace(repository.at_commit(commit), name, commit, branch, revision)
    commit = ""
    if repository.checked_out:
        with suppress(KalypsoError):  # the branch has no commits
            commit = repository.resolve(repository.checked_out)
    checked_out = repository.checked_out
    return OpenPlace(_files(path, programs), name, commit, branch, checked_out, checked_out)


def _files(folder: Path, programs: Programs) -> FolderFiles:
    """Return the files of a folder as git sees them, with the charts that `helm` has fetched."""
    return local_files(folder, programs, also=(":(glob)**/charts/**",))


def open_tree(
    given: PlaceAtRevision | None,
    environment: str,
    remotes: RemoteRepositories,
    programs: Programs,
) -> OpenPlace | None:
    """Open the existing GitOps tree: of a repository, by default the environment's branch.

    Return None if no tree is given. Raises KalypsoError.
    """
    if given is None:
        return None
    if is_repository(Path(given.place)):
        given = PlaceAtRevision(place=given.place, revision=given.revision or environment)
    return open_place(given, "gitops", remotes, programs, default=environment)


def _name(url: str) -> str:
    name = name_in(without_secret(url))
    return name if owner_of(name) else ""


MAX_BYTES: Final = 1 << 26
"""The most bytes of a chart with its dependencies, or of the files of another generator."""


@dataclass(frozen=True, slots=True)
class Work:
    """The inputs, repositories and targets of a run.

    `folder` is the generator's folder in the source.
    """

    inputs: AppInputs
    source: OpenPlace
    configs: OpenPlace
    targets: Sequence[Target]
    variables: Mapping[str, str]
    programs: Programs
    progress: Progress
    log: Callable[[str], None]
    folder: str = ""

    @property
    def where(self) -> Location:
        """The location of the generator's folder."""
        return Location(self.source.repository, self.folder)


@dataclass(slots=True)
class Generated:
    """The files of each target by its folder, and the versions of the programs that made them.

    `sources` are the templates and values of a target's files. `dependencies` are the digests of
    the archives that were fetched for charts, `archives` the contents of those of services. `bare`
    targets get no kustomization.
    """

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    sources: dict[str, ChartPlace] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    dependencies: dict[str, str] = field(default_factory=dict)
    archives: dict[str, bytes] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)
    findings: Diagnostics = field(default_factory=Diagnostics)

    def add(self, other: Generated) -> None:
        """Add what another generator made for other targets."""
        for name in ("files", "sources", "programs", "dependencies", "archives", "bare"):
            getattr(self, name).update(getattr(other, name))
        self.findings.add(other.findings)


def check_size(size: int, where: Location) -> None:
    """Check the size of files. Raises KalypsoError for more than MAX_BYTES."""
    if size > MAX_BYTES:
        message = f"the files have {size >> 20} MB; at most {MAX_BYTES >> 20} MB are possible"
        raise KalypsoError(message, where, "move other files out of the folder")


def parallel_programs() -> int:
    """Return the number of programs that run at once."""
    return max(2, os.cpu_count() or 1)
