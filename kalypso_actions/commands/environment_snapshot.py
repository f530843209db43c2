"""One consistent look at everything that an environment's tree is made of and proposed to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions import gitops
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.model.kinds import Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot
from kalypso_actions.snapshot.gather import gather
from kalypso_actions.snapshot.gitops_state import GitOpsState, read_gitops_state


class MovedError(KalypsoError):
    """What is read has changed while it was read."""


@dataclass(frozen=True, slots=True)
class EnvironmentSnapshot:
    """The sources, and the GitOps branches in the order of the snapshot's base trees."""

    environment: Environment
    sources: Snapshot
    states: tuple[GitOpsState, ...]


def read_everything(inputs: ScheduleInputs, session: ChainSession) -> EnvironmentSnapshot:
    """Read the environment's branch, main, the GitOps branches, and what is registered.

    Where our own branches stand is looked up before the registered repositories are read: a push
    of ours that finds them there knows that no other run has written what is newer than its own
    sources. Raises KalypsoError where anything but a registered repository cannot be read.
    """
    environment = session.environment(inputs.environment)
    place = environment.control_plane
    own = session.reader.documents(
        RepositoryPath(session.url(session.control_plane), place.branch, place.path)
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
                session.repository(one.target.repo, one.where),
                branches[one.name],
                session.repositories,
                session.remotes,
            )
            for one in gitops_repos
        )
        return [state.tree for state in states]

    sources = gather(environment.name, own, session.reader, open_base_trees=open_base_trees)
    return EnvironmentSnapshot(environment, sources, tuple(states))


def check_unmoved(read: EnvironmentSnapshot, session: ChainSession) -> None:
    """The environment's branch, and a main that floats, stand where they were read.

    They were read before our own branches were looked up. Raises MovedError.
    """
    floating = [reading for base, reading in read.sources.bases if base.commit is None]
    for reading in (read.sources.own, *floating):
        was = reading.revision
        if session.remotes.heads(was.repository, [was.branch]).get(was.branch) != was.commit:
            message = f"the branch {was.branch!r} has changed while it was read"
            raise MovedError(message, Location(was.repository), "run again")


def check_own_branches(
    heads: Mapping[str, str | None], read: EnvironmentSnapshot, session: ChainSession
) -> None:
    """Our branches stand where this run has read or left them (`heads`, by the GitOpsRepo's name).

    Where another run has moved one since, what this one has written about it may be older than
    what that one has. Raises MovedError.
    """
    for state in read.states:
        wanted = heads.get(state.name, state.own_head)
        found = session.remotes.heads(state.url, [state.own_branch]).get(state.own_branch)
        if found != wanted:
            message = f"another run has moved the branch {state.own_branch!r} meanwhile"
            raise MovedError(message, Location(state.repository), "run again")
