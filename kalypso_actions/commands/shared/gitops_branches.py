"""The GitOps branches of an environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kalypso_actions import fleet
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.gitops_folder import gitops_folder
from kalypso_actions.model.kinds import BaseRepo, Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.promotion.base_branch import base_document

KINDS = frozenset({"BaseRepo", "GitOpsRepo"})


@dataclass(frozen=True, slots=True)
class GitOpsBranch:
    """A branch to which an environment's manifests are merged; `repository` is `owner/name`.

    The tree lies in `folder` ("" is the root); `where` is the place of the GitOpsRepo.
    """

    repository: str
    url: str
    branch: str
    folder: str
    where: Location

    @property
    def name(self) -> str:
        """The name for people."""
        below = f", folder {self.folder}" if self.folder else ""
        return f"{self.repository}, branch {self.branch}{below}"


@dataclass(frozen=True, slots=True)
class EnvironmentReading:
    """The repositories that an environment's own branch names.

    `promoted_commit` is the commit of main that the branch names, if any.
    """

    own: Reading
    promoted_commit: str | None
    base_repos: tuple[BaseRepo, ...]
    gitops_repos: tuple[GitOpsRepo, ...]


def read_environment(
    context: CommandContext, environment: Environment, reader: Reader | None = None
) -> EnvironmentReading:
    """Read an environment's branch of the control plane, with a given reader or that of a context.

    Raises KalypsoError if any part of the branch cannot be read: the clusters of an overlooked
    GitOpsRepo would not be checked.
    """
    reading, problems = read_leniently(context, environment, reader)
    if problems:
        raise KalypsoError.of(problems)
    return reading


def read_leniently(
    context: CommandContext, environment: Environment, reader: Reader | None = None
) -> tuple[EnvironmentReading, Sequence[Problem]]:
    """Read an environment's branch of the control plane as `read_environment`, as far as it can.

    Raises KalypsoError for a branch that cannot be read at all.
    """
    place = environment.control_plane
    source = RepositoryPath(context.url(context.control_plane), place.branch, place.path)
    own = (reader or context.reader).documents(source)
    documents = tuple(document for document in own.documents if document.kind in KINDS)
    assembled, findings = fleet.assemble(
        environment.name, fleet.Branch(environment.name, documents), ()
    )
    base = base_document(documents)
    reading = EnvironmentReading(
        own, base.promoted_commit if base else None, assembled.base_repos, assembled.gitops_repos
    )
    return reading, (*own.problems, *findings.problems)


def gitops_branches(
    context: CommandContext, environment: Environment, repos: tuple[GitOpsRepo, ...]
) -> tuple[GitOpsBranch, ...]:
    """Return the branches that an environment's GitOpsRepos name.

    Raises KalypsoError for no GitOpsRepo, or one outside of this GitHub.
    """
    if not repos:
        raise KalypsoError(
            f"the environment {environment.name} has no GitOpsRepo",
            environment.where,
            f"add one on its branch {environment.control_plane.branch}",
        )
    return tuple(
        GitOpsBranch(
            repository=context.repository(repo.target.repo, repo.where),
            url=repo.target.repo,
            branch=repo.target.branch,
            folder=gitops_folder(repo.target.path, repo.where),
            where=repo.where,
        )
        for repo in repos
    )
