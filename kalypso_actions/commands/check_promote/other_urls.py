"""Clusters that follow a GitOps branch by another URL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance import (
    LOOKUP_INTERVAL,
    ClusterReports,
    EnvironmentTree,
    FollowerLookup,
)
from kalypso_actions.compliance.other_urls import (
    check_lookups,
    followers_by_other_urls,
    key_of,
    other_urls_warning,
)
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.cluster_reports import BranchFollower
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.urls import owner_of, repository_key

UNREADABLE: Final = frozenset({403, 404, 451})
"""GitHub's answers for a repository that the token may not see, or that does not exist."""


class OtherUrls:
    """Finds clusters that follow a GitOps branch by another URL.

    Clusters that use a former name of the repository count, because GitHub redirects git. A warning
    names other clusters if they have a cluster type that is missing.
    """

    def __init__(self, context: CommandContext, reports: ClusterReports) -> None:
        self._context = context
        self._lookup = reports if isinstance(reports, FollowerLookup) else None
        self._followers: dict[str, tuple[datetime, Sequence[BranchFollower]]] = {}
        self._ids: dict[tuple[str, str], int | None] = {}

    def former_urls(self, branch: GitOpsBranch, tree: EnvironmentTree) -> tuple[str, ...]:
        """Return the URLs with former names that clusters of a tree follow.

        Raise KalypsoError if the clusters or GitHub's repositories cannot be read, or if there are
        too many repositories.
        """
        urls = {
            key_of(follower): follower.repository_url
            for follower in self._at_other_urls(branch, tree, tree.reporting)
        }
        where = Location(self._context.url(branch.repository))
        check_lookups(set(filter(None, map(self._name, urls))), branch.branch, where)
        return tuple(url for key, url in urls.items() if self._leads_to(key, branch))

    def warnings(
        self, branch: GitOpsBranch, tree: EnvironmentTree, missing: Collection[str]
    ) -> list[Problem]:
        """Return the warning about clusters of `missing` types that follow other repositories."""
        strangers = [
            follower
            for follower in self._at_other_urls(branch, tree, missing)
            if not self._leads_to(key_of(follower), branch)
        ]
        if not strangers:
            return []
        where = Location(self._context.url(branch.repository))
        return [other_urls_warning(strangers, branch.url, branch.branch, where)]

    def _at_other_urls(
        self, branch: GitOpsBranch, tree: EnvironmentTree, cluster_types: Collection[str]
    ) -> Sequence[BranchFollower]:
        if self._lookup is None or not cluster_types:
            return ()
        now = self._context.runtime.now()
        asked_at, followers = self._followers.get(branch.branch, (None, ()))
        if asked_at is None or now - asked_at >= LOOKUP_INTERVAL:
            followers = self._lookup.followers(branch.branch)
            self._followers[branch.branch] = now, followers
        return followers_by_other_urls(followers, branch.url, tree, cluster_types)

    def _leads_to(self, key: str, branch: GitOpsBranch) -> bool:
        """Return whether GitHub redirects the repository with this key to that of a branch.

        The answer is no for repositories that the token cannot see, and for those of another
        server.
        """
        name, repository = self._name(key), branch.repository
        return name is not None and self._id(name, repository) == self._id(repository, repository)

    def _name(self, key: str) -> str | None:
        """Return `owner/name` of a repository on this server by its key; None on another server."""
        server, _, name = key.partition("/")
        is_here = server == repository_key(self._context.github.server.server_url)
        return name if is_here and owner_of(name) else None

    def _id(self, name: str, repository: str) -> int | None:
        """Return the id of the repository that a name leads to; None if the token cannot see it.

        The credential for `repository` reads it by all its names. Raises GitHubError for a rate
        limit. Another refusal may be temporary: the next call asks again.
        """
        key = name.lower(), repository
        if key not in self._ids:
            try:
                self._ids[key] = repositories.id_of_name(self._context.github, name, repository)
            except GitHubError as error:
                if error.status not in UNREADABLE or error.limited or name == repository:
                    raise
                if error.status == 403:
                    return None
                self._ids[key] = None
        return self._ids[key]
