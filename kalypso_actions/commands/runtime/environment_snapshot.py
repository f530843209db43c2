"""One consistent look at everything that an environment's tree is made of and proposed to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions import gitops
from kalypso_actions.clients.github import GitHubError
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.source_trees import moving_folders, read_trees
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges
from kalypso_actions.snapshot.gather import ControlPlane, gather
from kalypso_actions.snapshot.gitops_state import GitOpsState, read_gitops_state


class MovedError(KalypsoError):
    """What is read has changed while it was read."""


@dataclass(frozen=True, slots=True)
class EnvironmentSnapshot:
    """The sources, and the GitOps branches in the order of the snapshot's base trees.

    `folders` are the tree ids of the registered folders as they stood before they were read; None
    where nobody could look.
    """

    environment: Environment
    sources: Snapshot
    states: tuple[GitOpsState, ...]
    folders: Mapping[RepositoryPath, str | None] | None


def read_everything(inputs: ScheduleInputs, context: CommandContext) -> EnvironmentSnapshot:
    """Read the environment's branch, main, the GitOps branches, and what is registered.

    Where our own branches stand is looked up before the registered repositories are read: a push
    of ours that finds them there knows that no other run has written what is newer than its own
    sources. Raises KalypsoError where anything but a registered repository cannot be read.
    """
    environment = context.environment(inputs.environment)
    place = environment.control_plane
    own = context.reader.documents(
        RepositoryPath(context.url(context.control_plane), place.branch, place.path)
    )
    states: list[GitOpsState] = []

    def open_base_trees(gitops_repos: Sequence[GitOpsRepo]) -> Sequence[BaseTree]:
        if not gitops_repos:
            raise KalypsoError(
                f"the environment {environment.name} has no GitOpsRepo",
                environment.where,
                f"add one on its branch {place.branch}: it says where manifests are proposed",
            )
        branches = gitops.own_branches(inputs.branch_prefix, environment.name, gitops_repos)
        states.extend(
            read_gitops_state(
                one,
                context.repository(one.target.repo, one.where),
                branches[one.name],
                context.repositories,
                context.remotes,
            )
            for one in gitops_repos
        )
        return [state.tree for state in states]

    folders: dict[RepositoryPath, str | None] = {}
    is_looked_at = True

    def look_at_sources(read: ControlPlane) -> None:
        nonlocal is_looked_at
        try:
            folders.update(read_trees(context, moving_folders(read))[0])
        except GitHubError as error:
            context.runtime.log(f"Poll will look at the sources again: {error.problem.message}")
            is_looked_at = False

    sources = gather(
        environment.name,
        own,
        context.reader,
        open_base_trees=open_base_trees,
        look_at_sources=look_at_sources,
    )
    return EnvironmentSnapshot(
        environment, sources, tuple(states), folders if is_looked_at else None
    )


def check_unmoved(read: EnvironmentSnapshot, context: CommandContext) -> None:
    """The environment's branch, and a main that floats, stand where they were read.

    They were read before our own branches were looked up. Raises MovedError.
    """
    floating = [reading for base, reading in read.sources.bases if base.commit is None]
    for reading in (read.sources.own, *floating):
        was = reading.revision
        if context.remotes.heads(was.repository, [was.branch]).get(was.branch) != was.commit:
            message = f"the branch {was.branch!r} has changed while it was read"
            raise MovedError(message, Location(was.repository), "run again")


def check_base_branches(
    propositions: Iterable[tuple[GitOpsState, TreeChanges]], context: CommandContext
) -> None:
    """No file that is proposed has changed on its GitOps branch since it was read.

    A merge in between would leave a pull request that conflicts. Raises MovedError.
    """
    for state, changes in propositions:
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
    """Our branches stand where this run has read or left them (`heads`, by the GitOpsRepo's name).

    Where another run has moved one since, what this one has written about it may be older than
    what that one has. Raises MovedError.
    """
    for state in read.states:
        wanted = heads.get(state.name, state.own_head)
        found = context.remotes.heads(state.url, [state.own_branch]).get(state.own_branch)
        if found != wanted:
            message = f"another run has moved the branch {state.own_branch!r} meanwhile"
            raise MovedError(message, Location(state.repository), "run again")
