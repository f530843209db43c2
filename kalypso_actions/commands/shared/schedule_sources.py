"""The present inputs of schedule: heads and tree ids, without files."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.github import overviews, pull_requests
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import gitops_branches, read_environment
from kalypso_actions.commands.shared.reading.control_plane import (
    ControlPlaneReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import (
    Reader,
    SharedReader,
    in_parallel,
)
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.github import PullRequest, RegisteredPath
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.lost_starts import inputs_digest
from kalypso_actions.report import pull_request
from kalypso_actions.sources.limits import REGISTRATION
from kalypso_actions.sources.source_tree import OutsideRepositoryError, normalize


@dataclass(frozen=True, slots=True)
class PresentInputs:
    """The inputs of schedule for an environment.

    `head` is the commit of the environment's branch, `promoted_commit` the one that the branch
    names, `digest` the digest of all other inputs.
    """

    name: str
    head: str
    promoted_commit: str | None
    branches: tuple[GitOpsBranch, ...]
    digest: str

    @property
    def has_open_pull_request(self) -> bool:
        """Whether a pull request of ours is open in any of the GitOps branches."""
        return any(branch.own_pulls for branch in self.branches)


@dataclass(frozen=True, slots=True)
class _EnvironmentFacts:
    """The inputs that the control plane names."""

    head: str
    promoted_commit: str | None
    places: tuple[GitOpsBranch, ...]
    folders: frozenset[RepositoryPath]


NAMING_REPOSITORIES: Final = frozenset({"BaseRepo", "GitOpsRepo", "WorkloadRegistration"})
"""The kinds of objects that name the repositories of an environment."""


def read_inputs(
    context: CommandContext,
    environments: Iterable[Environment],
    *,
    kinds: frozenset[str] = frozenset(),
) -> tuple[list[PresentInputs], list[Problem], list[Problem]]:
    """Return the inputs of the environments, problems and warnings.

    An unreadable environment is a problem, an unreadable registered repository a warning. With
    `kinds`, such as `NAMING_REPOSITORIES`, files without these kinds are not parsed, so their
    problems are missing. Raises GitHubError if GitHub does not answer.
    """
    reader = SharedReader(dataclasses.replace(context.reader, kinds=kinds))
    facts: dict[str, _EnvironmentFacts] = {}
    problems: list[Problem] = []
    for environment in environments:
        try:
            facts[environment.name] = _read_facts(context, reader, environment)
        except KalypsoError as error:
            problems += _problems(environment.name, error)
    folders = {folder for known in facts.values() for folder in known.folders}
    trees, warnings = read_trees(context, folders)
    inputs = []
    for name, known in facts.items():
        try:
            branches = tuple(_as_it_is(context, name, place) for place in known.places)
        except KalypsoError as error:
            problems += _problems(name, error)
            continue
        digest = inputs_digest({folder: trees[folder] for folder in known.folders}, branches)
        inputs.append(PresentInputs(name, known.head, known.promoted_commit, branches, digest))
    return inputs, problems, warnings


def our_pull_requests_among(
    pulls: Iterable[PullRequest],
    identity: Identity,
    environment: str,
    repository: str,
    control_plane: str,
) -> tuple[PullRequest, ...]:
    """Return our pull requests of an environment among those into a GitOps branch.

    Author and marker identify them: the prefix of our branches is an input of schedule.
    """
    return tuple(
        pull
        for pull in pulls
        if pull.head_repository.lower() == repository.lower()
        and identity.wrote(pull.author)
        and pull_request.is_ours(pull.body, environment, control_plane)
    )


def moving_folders(control_plane: ControlPlaneReading) -> frozenset[RepositoryPath]:
    """Return the registered folders, and those of base repositories without a commit."""
    floating = {base.source for base, _ in control_plane.bases if base.commit is None}
    return frozenset({item.source for item in control_plane.fleet.registrations} | floating)


def read_trees(
    context: CommandContext, folders: Collection[RepositoryPath]
) -> tuple[dict[RepositoryPath, str | None], list[Problem]]:
    """Return the tree id of each folder, and warnings; None for a missing or unreadable folder.

    One request reads all folders that GitHub shows. Git reads the others: its credentials may
    allow more. Raises GitHubError if GitHub does not answer.
    """
    problems: list[Problem] = []
    ordered = sorted(folders, key=lambda folder: (folder.repo, folder.branch, folder.path))
    trees: dict[RepositoryPath, str | None] = dict.fromkeys(ordered)
    allowed = [folder for folder in trees if _is_allowed(context, folder, problems)]
    paths = {
        folder: RegisteredPath(name, folder.branch, folder.path)
        for folder in allowed
        if (name := _name_on_github(context, folder.repo))
    }
    answers = overviews.read_registered_heads(context.github, paths.values()) if paths else {}
    shown = {
        folder: head.tree for folder, path in paths.items() if (head := answers[path]) is not None
    }
    trees |= shown
    others = [folder for folder in allowed if folder not in shown]
    outcomes = in_parallel(lambda folder: _read_by_git(context, folder), others)
    for folder, outcome in zip(others, outcomes, strict=True):
        if isinstance(outcome, Problem):
            problems.append(outcome)
        else:
            trees[folder] = outcome
    return trees, list(dict.fromkeys(problems))


def _read_facts(
    context: CommandContext, reader: Reader, environment: Environment
) -> _EnvironmentFacts:
    reading = read_environment(context, environment, reader)
    control_plane = read_control_plane(reading, reader)
    return _EnvironmentFacts(
        head=reading.own.revision.commit or "",
        promoted_commit=reading.promoted_commit,
        places=gitops_branches(context, environment, reading.gitops_repos),
        folders=moving_folders(control_plane),
    )


def _as_it_is(context: CommandContext, environment: str, place: GitOpsBranch) -> GitOpsBranch:
    """Return the branch with its head and our open pull requests. Raises KalypsoError."""
    head = context.remotes.heads(place.url, [place.branch]).get(place.branch)
    if head is None:
        raise KalypsoError(
            f"{place.repository} has no branch {place.branch!r}",
            place.where,
            "create it, or correct the GitOpsRepo",
        )
    every = pull_requests.open_into(context.github, place.repository, place.branch)
    identity = context.github.identity(place.repository)
    pulls = our_pull_requests_among(
        every, identity, environment, place.repository, context.control_plane
    )
    own_pulls = {pull.number: pull.head_commit for pull in pulls}
    return dataclasses.replace(place, head=head, own_pulls=own_pulls)


def _problems(environment: str, error: KalypsoError) -> list[Problem]:
    return [
        dataclasses.replace(problem, message=f"environment {environment}: {problem.message}")
        for problem in error.problems
    ]


def _is_allowed(context: CommandContext, folder: RepositoryPath, problems: list[Problem]) -> bool:
    try:
        context.repositories.check(folder.repo)
    except KalypsoError as error:
        problems.append(_unreadable(folder, error))
        return False
    return True


def _name_on_github(context: CommandContext, url: str) -> str:
    """Return `owner/name` of a URL on this GitHub; "" for another server."""
    try:
        return context.repository(url)
    except KalypsoError:
        return ""


def _read_by_git(context: CommandContext, folder: RepositoryPath) -> str | Problem | None:
    try:
        commit = _head(context, folder)
        files = context.repositories.open(folder.repo, branch=folder.branch, commit=commit)
        files.entries(REGISTRATION.listing_bytes)
        return files.tree_id(normalize(folder.path))
    except OutsideRepositoryError:
        return None
    except KalypsoError as error:
        return _unreadable(folder, error)


def _head(context: CommandContext, folder: RepositoryPath) -> str:
    head = context.remotes.heads(folder.repo, [folder.branch]).get(folder.branch)
    if head is None:
        message = f"there is no branch {folder.branch!r}"
        raise KalypsoError(message, Location(folder.repo), "correct the registration")
    return head


def _unreadable(folder: RepositoryPath, error: KalypsoError) -> Problem:
    problem = error.problem
    message = f"it cannot be said whether {folder.repo} has moved: {problem.message}"
    return dataclasses.replace(problem, message=message, where=Location(folder.repo))
