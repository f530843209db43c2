"""Read the control plane: an environment branch, and the base repositories that it names."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kalypso_actions import fleet
from kalypso_actions.commands.shared.reading.document_reader import Reader, in_parallel
from kalypso_actions.commands.shared.reading.environments import find_environments
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo, Environment, RepositoryPath


def read_environment_branch(
    reader: Reader, control_plane: str, environment: str
) -> tuple[Reading, Environment | None]:
    """Read the branch of an environment in a control plane, and its Environment object.

    The object names the branch; the default is the environment's name. The object's `repo` does
    not matter: the caller names the control plane.
    """
    main = reader.repositories.main_branch(control_plane)
    environments, problems = find_environments(reader, control_plane, main)
    if problems:
        raise KalypsoError.of(problems)
    declared = environments.get(environment)
    place = declared.control_plane if declared else RepositoryPath("", environment, ".")
    try:
        own = reader.documents(RepositoryPath(control_plane, place.branch, place.path))
    except KalypsoError as error:
        if declared:
            raise
        advice = f"there is no Environment {environment!r} on {main} either; check the name"
        raise UsageError(error.problem.message, error.problem.where, advice) from error
    return own, declared


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """An environment branch with its base repositories, without the registered ones."""

    bases: tuple[tuple[BaseRepo, Reading], ...]
    fleet: kinds.Fleet
    findings: Diagnostics

    @property
    def promoted_commit(self) -> str | None:
        """The commit of main that the branch names, if any."""
        return next((base.commit for base, _ in self.bases if base.name == MAIN_BASE_REPO), None)


def read_control_plane(
    environment: str, own: Reading, reader: Reader, *, promoted_commit: str | None = None
) -> ControlPlane:
    """Read the base repositories that an environment branch names.

    `promoted_commit`, a branch, a tag or an id, replaces the commit in `base-repo.yaml`. The
    findings concern the documents, not the files. Raises KalypsoError for an unreadable base
    repository.
    """
    base_documents = tuple(document for document in own.documents if document.kind == "BaseRepo")
    first_look, _ = fleet.assemble(environment, fleet.Branch(environment, base_documents), ())
    base_repos = [_pinned(base, promoted_commit, reader) for base in first_look.base_repos]
    readings = in_parallel(lambda base: _read_base(base, reader), base_repos)
    assembled, findings = fleet.assemble(
        environment,
        fleet.Branch(environment, own.documents),
        [
            fleet.Branch(f"{environment}-{base.name}", reading.documents)
            for base, reading in zip(base_repos, readings, strict=True)
        ],
    )
    return ControlPlane(tuple(zip(base_repos, readings, strict=True)), assembled, findings)


def _pinned(base: BaseRepo, revision: str | None, reader: Reader) -> BaseRepo:
    if revision is None or base.name != MAIN_BASE_REPO:
        return base
    commit = reader.repositories.resolve(base.source.repo, base.source.branch, revision)
    return dataclasses.replace(base, commit=commit)


def _read_base(base: BaseRepo, reader: Reader) -> Reading:
    try:
        return reader.documents(base.source, base.commit)
    except KalypsoError as error:
        problems = [
            Problem(
                f"BaseRepo {base.name!r}: {base.source.repo}: {problem.message}",
                base.where,
                problem.advice,
                problem.code or "base-repo-unreadable",
            )
            for problem in error.problems
        ]
        raise KalypsoError.of(problems) from error
