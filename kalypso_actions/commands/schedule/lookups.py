"""Facts about repositories for the texts of several pull requests, read once in a run."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import commits, repositories
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.differences import CommitRange, CommitSubject
from kalypso_actions.model.github import Visibility

MOST_COMMITS: Final = 10
"""The most commits of a repository that a pull request names."""

CommitsOfRange = tuple[str, int, int, tuple[CommitSubject, ...]]
"""The repository, the numbers of commits ahead and behind, and the newest commits."""


class Lookups:
    """Remembers the facts about repositories that one run has read."""

    def __init__(self, context: CommandContext) -> None:
        self.context = context
        self._visibilities: dict[str, Visibility | None] = {}
        self._commits: dict[tuple[str, str, str], CommitsOfRange | None] = {}

    def visibility(self, url: str) -> Visibility | None:
        """Return the visibility of a repository; None if GitHub does not say it."""
        if url not in self._visibilities:
            self._visibilities[url] = self._visibility(url)
        return self._visibilities[url]

    def commits(self, wanted: CommitRange) -> CommitsOfRange | None:
        """Return the commits of a range; None if GitHub does not return them."""
        key = wanted.repository, wanted.base, wanted.head
        if key not in self._commits:
            self._commits[key] = self._commits_of(wanted)
        return self._commits[key]

    def _visibility(self, url: str) -> Visibility | None:
        context = self.context
        # Unlike `visibility_of`, accept every failure: the run has already pushed the branch, and
        # hides the texts of unknown repositories.
        try:
            return repositories.get(context.github, context.repository(url)).visibility
        except KalypsoError:
            return None

    def _commits_of(self, wanted: CommitRange) -> CommitsOfRange | None:
        context = self.context
        try:
            repository = context.repository(wanted.repository)
            ahead_and_behind = commits.commits_after(
                context.github, repository, wanted.base, wanted.head, MOST_COMMITS
            )
        except KalypsoError as error:
            context.runtime.log(f"{wanted.repository}: {error.problem.message}")
            return None
        return repository, *ahead_and_behind
