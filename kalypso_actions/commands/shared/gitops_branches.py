"""The GitOps branches that an environment names."""

from __future__ import annotations

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.control_plane import EnvironmentReading
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.gitops_folder import gitops_folder
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.base_branch import base_document


def read_environment(
    context: CommandContext, environment: Environment, reader: Reader | None = None
) -> EnvironmentReading:
    """Read an environment's branch of the control plane, with a given reader or that of a context.

    Raises KalypsoError if any part of the branch cannot be read: the clusters of an overlooked
    GitOpsRepo would not be checked.
    """
    reading = read_leniently(context, environment, reader)
    if reading.problems:
        raise KalypsoError.of(reading.problems)
    return reading


def read_leniently(
    context: CommandContext, environment: Environment, reader: Reader | None = None
) -> EnvironmentReading:
    """Read an environment's branch of the control plane as `read_environment`, as far as it can.

    Raises KalypsoError for a branch that cannot be read at all.
    """
    place, url = environment.control_plane, context.url(context.control_plane)
    own = (reader or context.reader).documents(RepositoryPath(url, place.branch, place.path))
    base = base_document(own.documents)
    promoted_commit = base.promoted_commit if base else None
    return EnvironmentReading(environment.name, own, environment, url, promoted_commit)


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
            f"add one on its branch {environment.control_plane.branch}: it says where "
            "manifests are proposed",
        )
    return tuple(
        GitOpsBranch(
            repository=context.repository(repo.target.repo, repo.where),
            url=repo.target.repo,
            branch=repo.target.branch,
            folder=gitops_folder(repo.target.path, repo.where),
            where=repo.where,
            gitops_repo=repo.name,
        )
        for repo in repos
    )
