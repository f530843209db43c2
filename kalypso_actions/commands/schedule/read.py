"""Read everything for an environment's proposals at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kalypso_actions import gitops
from kalypso_actions.clients.github import GitHubError, commits
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_trees import as_written
from kalypso_actions.commands.shared.reading.environments import EnvironmentReading
from kalypso_actions.commands.shared.reading.gitops_state import GitOpsState, read_gitops_state
from kalypso_actions.commands.shared.reading.snapshot import (
    ControlPlaneReading,
    read_control_plane,
    read_snapshot,
)
from kalypso_actions.commands.shared.schedule_inputs import moving_folders, read_trees
from kalypso_actions.commands.shared.tree_records import written_trees
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import Snapshot, TreeChanges


class MovedError(KalypsoError):
    """A branch has moved since it was read."""


@dataclass(frozen=True, slots=True)
class EnvironmentSnapshot:
    """The sources, and the GitOps branches in the order of the snapshot's base trees.

    `folders` are the tree ids of the registered folders before they were read; None if GitHub did
    not return them.
    """

    environment: Environment
    environments: Mapping[str, Environment]
    sources: Snapshot
    states: tuple[GitOpsState, ...]
    folders: Mapping[RepositoryPath, str | None] | None


def read_everything(inputs: ScheduleInputs, context: CommandContext) -> EnvironmentSnapshot:
    """Read the environment's branch, main, the GitOps branches and the registered folders.

    Read the heads of our own branches before the registered folders. If a later push finds the same
    heads, no other run has written a proposal from newer sources. Raises KalypsoError if anything
    except a registered repository cannot be read.
    """
    environments = context.environments()
    environment = context.environment(inputs.environment, environments)
    place, url = environment.control_plane, context.url(context.control_plane)
    own = context.reader.documents(RepositoryPath(url, place.branch, place.path))
    branch = EnvironmentReading(environment.name, own, environment, url)
    control_plane = read_control_plane(branch, context.reader)
    folders = _registered_folders(control_plane, context)
    states = _read_gitops_branches(
        environment, control_plane.fleet.gitops_repos, inputs.branch_prefix, context
    )
    sources = read_snapshot(
        control_plane,
        context.reader,
        base_trees=[state.tree for state in states],
        delivery=inputs.delivery,
    )
    return EnvironmentSnapshot(environment, environments, sources, states, folders)


def _registered_folders(
    control_plane: ControlPlaneReading, context: CommandContext
) -> Mapping[RepositoryPath, str | None] | None:
    """Return the tree ids of the registered folders; None if GitHub did not return them."""
    try:
        folders, _ = read_trees(context, moving_folders(control_plane))
    except GitHubError as error:
        log = context.runtime.log
        log(f"Poll will look at the sources again: {error.problem.message}")
        return None
    return folders


def _read_gitops_branches(
    environment: Environment,
    gitops_repos: Sequence[GitOpsRepo],
    branch_prefix: str,
    context: CommandContext,
) -> tuple[GitOpsState, ...]:
    """Read the GitOps branches; mark the trees that a run wrote and nobody has changed since."""
    if not gitops_repos:
        raise KalypsoError(
            f"the environment {environment.name} has no GitOpsRepo",
            environment.where,
            f"add one on its branch {environment.control_plane.branch}: it says where "
            "manifests are proposed",
        )
    branches = gitops.own_branches(branch_prefix, environment.name, gitops_repos)
    states = [
        read_gitops_state(
            gitops_repo,
            context.repository(gitops_repo.target.repo, gitops_repo.where),
            branches[gitops_repo.name],
            context.repositories,
            context.remotes,
        )
        for gitops_repo in gitops_repos
    ]
    written = written_trees(context, environment.name, [state.tree for state in states])
    marked = []
    for state in states:
        files = context.repositories.open(state.url, commit=state.commit)
        marked.append(replace(state, tree=as_written(state.tree, files, written)))
    return tuple(marked)


def main_position(read: EnvironmentSnapshot, context: CommandContext) -> BranchPosition | None:
    """Return the position on main of the environment's commit; None without a commit.

    If GitHub does not answer, the run goes on, and the position has the reason.
    """
    for base, reading in read.sources.bases:
        commit = reading.revision.commit
        if base.name == MAIN_BASE_REPO and commit:
            try:
                repository = context.repository(base.source.repo, base.where)
                return commits.position(context.github, repository, commit, base.source.branch)
            except KalypsoError as error:
                fault = error.problem.message
                return BranchPosition(base.source.branch, commit, "", None, fault)
    return None


def check_unmoved(read: EnvironmentSnapshot, context: CommandContext) -> None:
    """Check that the environment's branch, and bases without a commit, have not moved.

    The run read them before the heads of our own branches. Raises MovedError.
    """
    floating = [reading for base, reading in read.sources.bases if base.commit is None]
    for reading in (read.sources.own, *floating):
        revision = reading.revision
        heads = context.remotes.heads(revision.repository, [revision.branch])
        if heads.get(revision.branch) != revision.commit:
            message = f"the branch {revision.branch!r} has changed while it was read"
            raise MovedError(message, Location(revision.repository), "run again")


def check_base_branches(
    proposals: Iterable[tuple[GitOpsState, TreeChanges]], context: CommandContext
) -> None:
    """Check that no proposed file has changed on its GitOps branch since it was read.

    Otherwise the pull request would conflict. Raises MovedError.
    """
    for state, changes in proposals:
        head = context.remotes.heads(state.url, [state.branch]).get(state.branch)
        if head in {None, state.commit}:
            continue
        now = context.repositories.open(state.url, commit=head).entries()
        if gitops.changes_under(changes, state.tree.entries, now):
            message = f"the branch {state.branch!r} has changed what is proposed"
            raise MovedError(message, Location(state.repository), "run again")


def check_own_branches(
    heads: Mapping[str, str | None], read: EnvironmentSnapshot, context: CommandContext
) -> None:
    """Check that no other run has moved our branches since this run read or pushed them.

    `heads` are those that this run pushed, by the GitOpsRepo's name. Another run may have written
    a newer text of the pull request. Raises MovedError.
    """
    for state in read.states:
        expected = heads.get(state.name, state.own_head)
        head = context.remotes.heads(state.url, [state.own_branch]).get(state.own_branch)
        if head != expected:
            message = f"another run has moved the branch {state.own_branch!r} meanwhile"
            raise MovedError(message, Location(state.repository), "run again")
