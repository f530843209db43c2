"""The folders that an environment is made of besides its own branch, as they stand now."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kalypso_actions.clients.github import heads
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.github import RegisteredPath
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.snapshot.gather import ControlPlane
from kalypso_actions.snapshot.reader import in_parallel
from kalypso_actions.sources.paths import OutsideError, normalise


def moving_folders(read: ControlPlane) -> frozenset[RepositoryPath]:
    """The registered folders of an environment, and those of base repositories without a commit."""
    floating = {base.source for base, _ in read.bases if base.commit is None}
    return frozenset({one.source for one in read.fleet.registrations} | floating)


def read_trees(
    context: CommandContext, folders: Collection[RepositoryPath]
) -> tuple[dict[RepositoryPath, str | None], list[Problem]]:
    """The tree id of each folder (None: it cannot be seen, or is not there), and why not.

    GitHub is asked for all folders of its own repositories together. Other repositories, and those
    that GitHub does not show, are asked by git: a credential for git may see more. Raises
    GitHubError where GitHub does not answer.
    """
    problems: list[Problem] = []
    trees: dict[RepositoryPath, str | None] = dict.fromkeys(_sorted(folders))
    allowed = [one for one in trees if _may_be_read(context, one, problems)]
    paths = {
        one: RegisteredPath(name, one.branch, one.path)
        for one in allowed
        if (name := _on_this_github(context, one.repo))
    }
    seen = heads.read(context.github, paths.values()) if paths else {}
    shown = {one: head for one, path in paths.items() if (head := seen[path]) is not None}
    trees |= {one: head.tree for one, head in shown.items()}
    others = [one for one in allowed if one not in shown]
    outcomes = in_parallel(lambda one: _by_git(context, one), others)
    for one, outcome in zip(others, outcomes, strict=True):
        if isinstance(outcome, Problem):
            problems.append(outcome)
        else:
            trees[one] = outcome
    return trees, list(dict.fromkeys(problems))


def _sorted(folders: Iterable[RepositoryPath]) -> list[RepositoryPath]:
    return sorted(folders, key=lambda one: (one.repo, one.branch, one.path))


def _may_be_read(context: CommandContext, folder: RepositoryPath, problems: list[Problem]) -> bool:
    try:
        context.repositories.check(folder.repo)
    except KalypsoError as error:
        problems.append(_unread(folder, error))
        return False
    return True


def _on_this_github(context: CommandContext, url: str) -> str:
    """`owner/name` of a URL on this GitHub; "" for one elsewhere."""
    try:
        return context.repository(url)
    except KalypsoError:
        return ""


def _by_git(context: CommandContext, folder: RepositoryPath) -> str | Problem | None:
    try:
        commit = _head(context, folder)
        files = context.repositories.open(folder.repo, branch=folder.branch, commit=commit)
        return files.tree_id(normalise(folder.path))
    except OutsideError:
        return None
    except KalypsoError as error:
        return _unread(folder, error)


def _head(context: CommandContext, folder: RepositoryPath) -> str:
    commit = context.remotes.heads(folder.repo, [folder.branch]).get(folder.branch)
    if commit is None:
        message = f"there is no branch {folder.branch!r}"
        raise KalypsoError(message, Location(folder.repo), "correct the registration")
    return commit


def _unread(folder: RepositoryPath, error: KalypsoError) -> Problem:
    problem = error.problem
    message = f"it cannot be said whether {folder.repo} has moved: {problem.message}"
    return Problem(message, Location(folder.repo), problem.advice)
