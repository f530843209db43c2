"""Read the GitOps branches that an environment names, each at one commit."""

from __future__ import annotations

import shlex
from dataclasses import replace

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_trees import read_base_tree
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.environments import EnvironmentReading
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops import tracked_commit
from kalypso_actions.gitops.provenance import is_of_another
from kalypso_actions.model.gitops_folder import gitops_folder
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree, GitOpsBranch
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


def read_gitops_branch(branch: GitOpsBranch, context: CommandContext) -> GitOpsBranch:
    """Read the head of a GitOps branch, its tree, and the head of our own branch beside it.

    Raises KalypsoError if the branch cannot be read; its advice says how to create a missing one.
    """
    try:
        files = context.repositories.open(branch.url, branch=branch.branch)
    except KalypsoError as error:
        raise _unreadable(branch, context, error) from error
    own_branch = branch.own_branch
    own_head = context.remotes.heads(branch.url, [own_branch]).get(own_branch)
    tree = read_base_tree(files, branch.branch, branch.folder)
    return replace(branch, head=files.commit or "", base_tree=tree, own_head=own_head)


def _unreadable(branch: GitOpsBranch, context: CommandContext, error: KalypsoError) -> KalypsoError:
    """Return the error for an unreadable branch, with advice on how to create a missing one."""
    try:
        missing = not context.remotes.heads(branch.url, [branch.branch])
    except KalypsoError:
        missing = False  # the first error has the reason
    message, advice = error.problem.message, error.problem.advice
    if missing:
        message = f"{branch.repository} has no branch {branch.branch!r}"
        name = shlex.quote(branch.branch)
        advice = (
            "correct the branch, or create it, for example in a clone of that repository: git "
            f"switch --orphan {name} && git commit --allow-empty -m Begin && git push origin {name}"
        )
    message = f"GitOpsRepo {branch.gitops_repo!r}: {message}"
    return KalypsoError.of([Problem(message, branch.where, advice, "gitops-branch-unreadable")])


def tree_at(context: CommandContext, place: GitOpsBranch, commit: str) -> BaseTree:
    """Return the tree of a GitOps branch at a commit. Raises KalypsoError."""
    files = context.repositories.open(place.url, branch=place.branch, commit=commit)
    return read_base_tree(files, place.branch, place.folder)


def named_commit(tree: BaseTree, environment: str) -> str | None:
    """Return the commit of main that an environment's tree names, if any.

    Until its first merge, a branch that was cut from another environment's branch names the commit
    of that environment: this commit does not count.
    """
    if is_of_another(tree.sources, environment):
        return None
    return tracked_commit(tree.promoted_commit)
