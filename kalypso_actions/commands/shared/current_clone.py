"""The clone of a control plane that contains the current folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitRepository, enclosing_clone
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.control_plane import find_environments
from kalypso_actions.commands.shared.reading.document_reader import Reader, read_branch
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.urls import without_secret


@dataclass(frozen=True, slots=True)
class CurrentClone:
    """A clone with a branch of Environment objects, and the branch that is checked out in it.

    `checked_out` is the branch of the control plane that the working tree is based on; "" if that
    is unknown. `problems` are those of the Environment objects.
    """

    path: Path
    repository: GitRepository
    main: str
    checked_out: str
    environments: Mapping[str, Environment]
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        """Name the clone and its origin, for people."""
        origin = next(iter(self.repository.remotes()), "")
        return f"{self.path.resolve()}{f', a clone of {without_secret(origin)}' if origin else ''}"

    def environment(self, name: str) -> Environment:
        """Return the environment of this name; with "", the checked-out one or the only one.

        Raises UsageError, KalypsoError for faulty Environment objects.
        """
        if self.problems:
            raise KalypsoError.of(self.problems)
        known = ", ".join(self.environments)
        if name:
            if name not in self.environments:
                message = f"there is no Environment {name!r} on {self.main}"
                close = nearest(name, self.environments)
                suggestion = f"did you mean {close}? " if close else ""
                if not close and self._has(name):
                    suggestion = f"add one to {self.main} for the branch {name}. "
                raise UsageError(message, advice=f"{suggestion}Environments: {known}")
            return self.environments[name]
        candidates = self._of_branch() or list(self.environments.values())
        if len(candidates) != 1:
            branch = self.checked_out or "what is checked out"
            message = f"no environment is named, and {branch} belongs to none"
            raise UsageError(message, advice=f"name one of {known}")
        return candidates[0]

    def undeclared(self) -> RepositoryPath | None:
        """Return the checked-out branch if it is based on none of the control plane's branches."""
        branch = "" if self.checked_out else self.repository.checked_out
        return RepositoryPath(str(self.path), branch, ".") if branch else None

    def misspelled_branches(self) -> Iterator[Problem]:
        """Warn of absent branches of Environments that resemble one of the clone."""
        _, absent = self.branches()
        known = [name for name in self.repository.branches() if name != self.main]
        for environment in self.environments.values():
            branch = environment.control_plane.branch
            near = nearest(branch, known) if branch in absent else ""
            if near:
                yield Problem(
                    f"Environment {environment.name!r} names the branch {branch!r}, which is not "
                    "in this clone",
                    environment.where,
                    f"did you mean {near}? Otherwise git fetch origin {branch}",
                    "environment-branch-missing",
                )

    def files_of(self, branch: str) -> FolderFiles | None:
        """Return the working tree if the branch is checked out: people check before committing."""
        if branch != self.checked_out:
            return None
        return FolderFiles(self.path, repository=str(self.path))

    def branches(self) -> tuple[list[RepositoryPath], list[str]]:
        """Return main and the environments' branches, and the names of those that are absent."""
        places = [RepositoryPath(str(self.path), self.main, ".")]
        places += [
            RepositoryPath(str(self.path), place.branch, place.path)
            for place in (environment.control_plane for environment in self.environments.values())
        ]
        places = list(dict.fromkeys(places))
        present = [place for place in places if self._has(place.branch)]
        return present, [place.branch for place in places if place not in present]

    def read(self, source: RepositoryPath, reader: Reader) -> Reading:
        """Read a branch of the clone: the checked-out one from the working tree."""
        files = self.files_of(source.branch) or reader.repositories.open(
            str(self.path), branch=source.branch
        )
        return read_branch(files, source, reader.kustomize)

    @property
    def head_of_main(self) -> str:
        """The newest commit of main in the clone."""
        return self.repository.resolve(self.main)

    def place(self, branch: str) -> str:
        """Return the place from which a branch is read, for people."""
        if branch != self.checked_out:
            return f"the branch {branch}"
        own = self.repository.checked_out or "a detached HEAD"
        return "the working tree" if own == branch else f"the working tree, on {own}"

    def _of_branch(self) -> list[Environment]:
        return [
            environment
            for environment in self.environments.values()
            if environment.control_plane.branch == self.checked_out
        ]

    def _has(self, branch: str) -> bool:
        return branch == self.checked_out or self.repository.has_branch(branch)


def find_clone(folder: Path, programs: Programs) -> tuple[Path, GitRepository] | None:
    """Return the clone that contains a folder."""
    path = enclosing_clone(folder)
    return (path, GitRepository(path, programs, repository=str(path))) if path else None


def control_plane_clone(
    path: Path, repository: GitRepository, reader: Reader
) -> CurrentClone | None:
    """Return the clone if main has Environment objects; None for other clones."""
    try:
        main = reader.repositories.main_branch(str(path))
        is_checked_out = repository.checked_out == main
        files = FolderFiles(path, repository=str(path)) if is_checked_out else None
        environments, problems = find_environments(reader, str(path), main, files)
    except KalypsoError:
        return None  # it has no commits, or a detached HEAD and no main
    if not (environments or problems):
        return None
    branches = [main, *(each.control_plane.branch for each in environments.values())]
    checked_out = repository.checked_out
    # People work on branches of their own, and jobs check out a merge without a branch.
    stands_for = checked_out if checked_out in branches else repository.nearest(branches)
    return CurrentClone(path, repository, main, stands_for, environments, problems)
