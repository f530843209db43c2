"""The inputs of schedule in all environments, as they stand now: heads and tree ids alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kalypso_actions.clients.github import pull_requests
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.gitops_branches import (
    GitOpsBranch,
    gitops_branches,
    read_environment,
)
from kalypso_actions.commands.runtime.open_pull_requests import our_pull_requests
from kalypso_actions.commands.runtime.source_trees import moving_folders, read_trees
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.promotion.schedule_inputs import GitOpsBranchState, inputs_digest
from kalypso_actions.snapshot.gather import read_control_plane
from kalypso_actions.snapshot.reader import Reader, SharedReader


@dataclass(frozen=True, slots=True)
class EnvironmentInputs:
    """An environment as poll sees it.

    `head` is the commit of its branch, `base_commit` the promoted commit that the branch names,
    `digest` that of everything else that schedule looks at.
    """

    name: str
    head: str
    base_commit: str | None
    branches: tuple[GitOpsBranchState, ...]
    digest: str

    @property
    def has_open_pull_request(self) -> bool:
        """Whether a pull request of ours waits in any of the GitOps branches."""
        return any(one.pull_requests for one in self.branches)


@dataclass(frozen=True, slots=True)
class _Read:
    """What the control plane says of an environment, before other repositories are looked at."""

    head: str
    base_commit: str | None
    places: tuple[GitOpsBranch, ...]
    folders: frozenset[RepositoryPath]


def read_inputs(
    context: CommandContext, environments: Iterable[Environment]
) -> tuple[list[EnvironmentInputs], list[Problem], list[Problem]]:
    """The inputs of each environment, problems and warnings.

    An environment that cannot be read is a problem of its own. A registered repository that cannot
    be looked at is a warning. Raises GitHubError where GitHub does not answer.
    """
    reader = SharedReader(context.reader)
    read: dict[str, _Read] = {}
    problems: list[Problem] = []
    for environment in environments:
        try:
            read[environment.name] = _read(context, reader, environment)
        except KalypsoError as error:
            problems += _of(environment.name, error)
    trees, warnings = read_trees(
        context, {folder for one in read.values() for folder in one.folders}
    )
    found = []
    for name, one in read.items():
        try:
            branches = tuple(_branch(context, name, place) for place in one.places)
        except KalypsoError as error:
            problems += _of(name, error)
            continue
        digest = inputs_digest({folder: trees[folder] for folder in one.folders}, branches)
        found.append(EnvironmentInputs(name, one.head, one.base_commit, branches, digest))
    return found, problems, warnings


def open_pull_requests(
    context: CommandContext, inputs: EnvironmentInputs
) -> list[tuple[GitOpsBranchState, PullRequest]]:
    """Our open pull requests of an environment, as GitHub describes each alone."""
    return [
        (branch, pull_requests.get(context.github, branch.repository, number))
        for branch in inputs.branches
        for number in branch.pull_requests
    ]


def _read(context: CommandContext, reader: Reader, environment: Environment) -> _Read:
    read = read_environment(context, environment)
    control_plane = read_control_plane(environment.name, read.own, reader)
    return _Read(
        head=read.own.revision.commit or "",
        base_commit=read.base_commit,
        places=gitops_branches(context, environment, read.gitops_repos),
        folders=moving_folders(control_plane),
    )


def _branch(context: CommandContext, environment: str, place: GitOpsBranch) -> GitOpsBranchState:
    head = context.remotes.heads(place.url, [place.branch]).get(place.branch)
    if head is None:
        raise KalypsoError(
            f"{place.repository} has no branch {place.branch!r}",
            place.where,
            "create it, or correct the GitOpsRepo",
        )
    ours = our_pull_requests(context, environment, place.repository, place.branch)
    return GitOpsBranchState(
        place.repository, place.branch, head, {one.number: one.head_commit for one in ours}
    )


def _of(environment: str, error: KalypsoError) -> list[Problem]:
    return [
        Problem(f"environment {environment}: {one.message}", one.where, one.advice)
        for one in error.problems
    ]
