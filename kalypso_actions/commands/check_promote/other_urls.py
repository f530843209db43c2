"""Clusters of missing cluster types that follow a GitOps branch by another URL."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.gitops_branches import GitOpsBranch
from kalypso_actions.compliance import ClusterLookup, ClusterReports, EnvironmentTree
from kalypso_actions.compliance.other_urls import (
    MOST_NAMES,
    followers_by_other_urls,
    key_of,
    other_urls_warning,
)
from kalypso_actions.errors import KalypsoError, Location, Problem

INTERVAL: Final = timedelta(minutes=5)
"""The time between two questions about the same branch: people change URLs rarely."""


class OtherUrls:
    """Asks who follows a GitOps branch by another URL.

    The clusters of a former name of the repository count, since GitHub redirects git. A warning
    names the others.
    """

    def __init__(self, context: CommandContext, reports: ClusterReports) -> None:
        self._context = context
        self._lookup = reports if isinstance(reports, ClusterLookup) else None
        self._asked_at: dict[GitOpsBranch, datetime] = {}
        self._warnings: dict[GitOpsBranch, Problem] = {}
        self._former_urls: dict[str, dict[str, str]] = {}
        self._ids: dict[str, int] = {}

    def former_urls(self, repository: str) -> tuple[str, ...]:
        """Return the URLs with former names of a repository (`owner/name`) that clusters follow."""
        return tuple(self._former_urls.get(repository, {}).values())

    def warnings(self, branch: GitOpsBranch) -> list[Problem]:
        """Return the warning about the clusters that do not count."""
        return [self._warnings[branch]] if branch in self._warnings else []

    def look(
        self, branch: GitOpsBranch, tree: EnvironmentTree, missing: Collection[str]
    ) -> tuple[str, ...]:
        """Look for clusters of missing cluster types; return the new URLs with former names.

        Raise KalypsoError if the source of reports cannot be read.
        """
        if not missing or self._lookup is None:
            self._warnings.pop(branch, None)
            return ()
        now = self._context.runtime.now()
        if branch in self._asked_at and now - self._asked_at[branch] < INTERVAL:
            return ()
        self._asked_at[branch] = now
        followers = followers_by_other_urls(
            self._lookup.followers(branch.branch), branch.url, tree, missing
        )
        former = self._former_urls.setdefault(branch.repository, {})
        urls = {key_of(follower): follower.repository_url for follower in followers}
        new = {
            key: url
            for key, url in list(urls.items())[:MOST_NAMES]
            if key not in former and self._leads_to(key, branch.repository)
        }
        former.update(new)
        others = [follower for follower in followers if key_of(follower) not in former]
        self._warnings.pop(branch, None)
        if others:
            where = Location(self._context.url(branch.repository))
            self._warnings[branch] = other_urls_warning(others, branch.url, branch.branch, where)
        return tuple(new.values())

    def _leads_to(self, key: str, repository: str) -> bool:
        """Return whether GitHub redirects the repository with this key to another one.

        Repositories that cannot be read, and those of another server, do not lead anywhere.
        """
        try:
            name = self._context.repository(f"https://{key}")
            return self._id(name) == self._id(repository)
        except KalypsoError:
            return False

    def _id(self, repository: str) -> int:
        if repository not in self._ids:
            self._ids[repository] = repositories.get(self._context.github, repository).id
        return self._ids[repository]
