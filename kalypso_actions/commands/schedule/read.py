"""Read everything for an environment's proposals at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kalypso_actions import gitops
from kalypso_actions.clients.github import GitHubError, commits
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_tree import as_written
from kalypso_actions.commands.shared.reading.control_plane import ControlPlane
from kalypso_actions.commands.shared.reading.gathering import gather
from kalypso_actions.commands.shared.reading.gitops_state import GitOpsState, read_gitops_state
from kalypso_actions.commands.shared.schedule_inputs import moving_folders, read_trees
from kalypso_actions.commands.shared.tree_records import written_trees
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment, GitOpsRepo, RepositoryPath
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges


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
    place = environment.control_plane
    own = context.reader.documents(
        RepositoryPath(context.url(context.control_plane), place.branch, place.path)
    )
    reading = _Reading(environment, inputs.branch_prefix, context)
    sources = gather(
        environment.name,
        own,
        context.reader,
        declared=environment,
        delivery=inputs.delivery,
        open_base_trees=reading.open_base_trees,
        look_at_sources=reading.look_at_sources,
    )
    return EnvironmentSnapshot(
        environment, environments, sources, tuple(reading.states), reading.folders
    )


@dataclass(slots=True)
class _Reading:
    """Reads and keeps the facts for which `gather` calls back: see `EnvironmentSnapshot`."""

    environment: Environment
    branch_prefix: str
    context: CommandContext
    states: list[GitOpsState] = field(default_factory=list)
    folders: Mapping[RepositoryPath, str | None] | None = None

    def open_base_trees(self, gitops_repos: Sequence[GitOpsRepo]) -> Sequence[BaseTree]:
        environment, context = self.environment, self.context
        if not gitops_repos:
            raise KalypsoError(
                f"the environment {environment.name} has no GitOpsRepo",
                environment.where,
                f"add one on its branch {environment.control_plane.branch}: it says where "
                "manifests are proposed",
            )
        branches = gitops.own_branches(self.branch_prefix, environment.name, gitops_repos)
        for gitops_repo in gitops_repos:
            repository = context.repository(gitops_repo.target.repo, gitops_repo.where)
            own_branch = branches[gitops_repo.name]
            self.states.append(
                read_gitops_state(
                    gitops_repo, repository, own_branch, context.repositories, context.remotes
                )
            )
        self._find_written_trees()
        return [state.tree for state in self.states]

    def _find_written_trees(self) -> None:
        """Note the trees that a run wrote and nobody has changed since."""
        trees = [state.tree for state in self.states]
        written = written_trees(self.context, self.environment.name, trees)
        for index, state in enumerate(self.states):
            files = self.context.repositories.open(state.url, commit=state.commit)
            self.states[index] = replace(state, tree=as_written(state.tree, files, written))

    def look_at_sources(self, control_plane: ControlPlane) -> None:
        try:
            self.folders, _ = read_trees(self.context, moving_folders(control_plane))
        except GitHubError as error:
            log = self.context.runtime.log
            log(f"Poll will look at the sources again: {error.problem.message}")


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
