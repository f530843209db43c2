"""Where the repositories stand that trees were made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kalypso_actions.clients.github import heads
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.github import PathHead, RegisteredPath
from kalypso_actions.snapshot.reader import in_parallel
from kalypso_actions.sources.paths import OutsideError, normalise


@dataclass(frozen=True, slots=True)
class Source:
    """A folder on a branch of a repository; `commit` is the one that it was read at ("": never)."""

    url: str
    branch: str
    path: str
    commit: str


def read_heads(
    session: ChainSession, sources: Collection[Source]
) -> tuple[dict[Source, PathHead], list[Problem]]:
    """Where each source stands now, and why others could not be looked at.

    Those of this GitHub are asked for together; others, and what GitHub does not show, by git: a
    credential for git may see more. Raises GitHubError where GitHub does not answer.
    """
    found: dict[Source, PathHead] = {}
    problems: list[Problem] = []
    allowed = [one for one in _sorted(sources) if _may_be_read(session, one, problems)]
    paths = {
        one: RegisteredPath(name, one.branch, one.path)
        for one in allowed
        if (name := _on_this_github(session, one.url))
    }
    seen = heads.read(session.github, paths.values()) if paths else {}
    for one, path in paths.items():
        head = seen[path]
        if head is not None:
            found[one] = head
    others = [one for one in allowed if one not in found]
    outcomes = in_parallel(lambda one: _by_git(session, one), others)
    for one, outcome in zip(others, outcomes, strict=True):
        if isinstance(outcome, Problem):
            problems.append(outcome)
        else:
            found[one] = outcome
    return found, list(dict.fromkeys(problems))


def _sorted(sources: Iterable[Source]) -> list[Source]:
    return sorted(sources, key=lambda one: (one.url, one.branch, one.path, one.commit))


def _may_be_read(session: ChainSession, source: Source, problems: list[Problem]) -> bool:
    """A file of a GitOps repository says where it is: anybody may have written anything there."""
    try:
        session.repositories.check(source.url)
    except KalypsoError as error:
        problems.append(_unread(source, error))
        return False
    return True


def _on_this_github(session: ChainSession, url: str) -> str:
    """`owner/name` of a URL on this GitHub; "" for one elsewhere."""
    try:
        return session.repository(url)
    except KalypsoError:
        return ""


def _by_git(session: ChainSession, source: Source) -> PathHead | Problem:
    try:
        return _head(session, source)
    except KalypsoError as error:
        return _unread(source, error)


def _head(session: ChainSession, source: Source) -> PathHead:
    """As git sees it; the folder is looked at only where the branch has moved."""
    commit = session.remotes.heads(source.url, [source.branch]).get(source.branch)
    if commit is None:
        message = f"there is no branch {source.branch!r}"
        raise KalypsoError(message, Location(source.url), "correct the registration")
    if commit == source.commit:
        return PathHead(commit, None)
    files = session.repositories.open(source.url, branch=source.branch, commit=commit)
    try:
        return PathHead(commit, files.tree_id(normalise(source.path)))
    except OutsideError:
        return PathHead(commit, None)


def _unread(source: Source, error: KalypsoError) -> Problem:
    problem = error.problem
    message = f"it cannot be said whether {source.url} has moved: {problem.message}"
    return Problem(message, Location(source.url), problem.advice)
