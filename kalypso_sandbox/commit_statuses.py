"""Commit statuses that simulated clusters post, by a GitHub App of theirs.

A cluster's `StatusNotifications` say which. The statuses are those of Flux's
notification-controller (kustomize-controller's `Reconcile`, `notifier/github.go`), or of Argo CD's
notifications with triggers for compliance, degradation and failed syncs. They come as the clock of
the store moves.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from kalypso_sandbox.azure.clusters import (
    ArgoApplication,
    Cluster,
    Configuration,
    StatusNotifications,
    clusters,
)
from kalypso_sandbox.azure.sync import Head, RepositoryHistory, Transition, transitions
from kalypso_sandbox.github.access import access_of_event, allowed, covers
from kalypso_sandbox.github.api.git_data import MAX_DESCRIPTION_LENGTH, add_status
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.store import Identity, Repository, Store

RATE_LIMIT_INTERVAL: Final = timedelta(minutes=5)
"""The time for which notification-controller drops an event with the same text and revision."""

SYNC_FAILED: Final = "SyncFailed"
"""The reason of a failure with which Argo CD cannot apply a commit."""

COMPARED: Final = 50
"""The number of newest statuses among which notification-controller looks for an equal one."""


@dataclass(frozen=True, slots=True)
class Post:
    """A status on its way to GitHub; `key` distinguishes it from all others.

    `unless_equal`: the poster drops it if the newest status of its context is equal.
    """

    at: datetime
    commit: str
    context: str
    state: Literal["success", "failure"]
    description: str
    target_url: str | None
    unless_equal: bool

    @property
    def key(self) -> str:
        """Return a text that stays the same in every run."""
        return f"{self.context} {self.commit} {self.state} {self.description} {self.at.timestamp()}"


class ClusterStatuses:
    """Posts the statuses that are due. Hold the lock of the store."""

    def __init__(self, store: Store, rate_limits: RateLimits) -> None:
        self._store = store
        self._rate_limits = rate_limits
        self._repositories = RepositoryHistory(store)

    def post(self) -> None:
        """Post all statuses until now that are not posted yet, in the order of their times."""
        after, now = self._store.clusters_heard_until, self._store.now
        posting = [
            (cluster, configuration, configuration.notifications)
            for cluster in clusters(self._store)
            for configuration in cluster.configurations
            if configuration.notifications
        ]
        if not posting or after == now:
            return
        find, heads = (
            functools.cache(self._repositories.find),
            functools.cache(self._repositories.heads),
        )
        due = [
            (post, settings, repository)
            for cluster, configuration, settings in posting
            if (repository := find(configuration.repository))
            for post in self._posts(
                cluster,
                configuration,
                settings,
                heads(configuration.repository, configuration.branch),
                after,
                now,
            )
        ]
        for post, settings, repository in sorted(due, key=lambda item: (item[0].at, item[0].key)):
            self._send(post, settings, repository)
        self._store.clusters_heard_until = now
        if due:
            self._store.save()

    def _posts(
        self,
        cluster: Cluster,
        configuration: Configuration,
        settings: StatusNotifications,
        heads: Sequence[Head],
        after: datetime | None,
        now: datetime,
    ) -> Iterator[Post]:
        """Yield the posts of a configuration that reach GitHub after one moment until another."""
        lag = timedelta(seconds=settings.lag)
        is_broken = functools.partial(
            self._repositories.is_broken, configuration.repository, configuration.failure
        )
        # Earlier events decide whether a later one is dropped, except for equal successes.
        depends = configuration.application or configuration.behaviour in {"fail", "flap"}
        begin = None if after is None or depends else after - lag
        told = transitions(configuration, heads, is_broken, begin, now - lag)
        of = _argo_posts if configuration.application else _flux_posts
        for post in of(cluster, configuration, settings, list(told)):
            if after is None or post.at > after:
                yield post

    def _send(self, post: Post, settings: StatusNotifications, repository: Repository) -> None:
        """Let GitHub take or refuse a post; a refused one is not repeated."""
        app = self._store.apps.get(settings.app)
        installations = app.installations.items() if app else ()
        owner = repository.owner.lower()
        own = next((each for login, each in installations if login.lower() == owner), None)
        if app is None or own is None or own.suspended or _share(post, "lost") < settings.lost:
            return
        identity = Identity(
            kind="installation",
            login=f"{app.slug}[bot]",
            permissions=app.permissions,
            owner=repository.owner,
            repositories=own.repositories,
            app_id=app.id,
        )
        may = covers(identity, repository) and allowed(identity, ["statuses: write"], repository)
        if not may or (post.unless_equal and _has_equal(repository, post)):
            return
        access = access_of_event(self._store, repository, identity)
        for _ in range(2 if _share(post, "doubled") < settings.doubled else 1):
            if self._rate_limits.exceeds_content_limit(identity, post.at):
                return
            try:
                add_status(
                    access,
                    post.commit,
                    post.context,
                    post.state,
                    post.description,
                    post.target_url,
                    post.at,
                )
            except RefusedError:
                return


def _flux_posts(
    cluster: Cluster,
    configuration: Configuration,
    settings: StatusNotifications,
    told: list[Transition],
) -> Iterator[Post]:
    """Yield the posts of notification-controller: the severity, and the reason in words."""
    if settings.controller == "1.8.0":
        return
    context = f"kustomization/{configuration.name}/{settings.uid}"
    if settings.expression:
        context = f"cluster/{cluster.name}/{settings.cluster_type}/{settings.uid}".lower()
    failed_at: dict[tuple[str, str], datetime] = {}
    for each in told:
        state: Literal["success", "failure"] = "success"
        description = "reconciliation succeeded"
        if each.phase == "depending":
            if settings.controller != "1.7":
                continue
            description = "dependency not ready"
        elif each.phase == "failing":
            if settings.controller == "1.8.1":
                continue
            state, description = "failure", _words(configuration.failure.reason)
            before = failed_at.get((each.commit, configuration.failure.message))
            if before is not None and each.at - before < RATE_LIMIT_INTERVAL:
                continue
            failed_at[each.commit, configuration.failure.message] = each.at
        at = each.at + timedelta(seconds=settings.lag)
        yield Post(at, each.commit, context, state, description, None, unless_equal=True)


def _argo_posts(
    cluster: Cluster,
    configuration: Configuration,
    settings: StatusNotifications,
    told: list[Transition],
) -> Iterator[Post]:
    """Yield the posts of Argo CD's notifications: one for each change of health or of commit."""
    application = configuration.application or ArgoApplication(server="argocd")
    name = application.name or f"platform-{cluster.name}"
    context = f"cluster/{cluster.name}/{settings.cluster_type}/{name}"
    page = f"https://{application.server}.example/applications/{name}"
    last = "", ""
    for each in told:
        if each.phase == "depending" or (each.commit, each.phase) == last:
            continue
        last = each.commit, each.phase
        state: Literal["success", "failure"] = "success"
        description = "Synced and healthy"
        if each.phase == "failing":
            failure = configuration.failure
            kind = "Sync failed" if failure.reason == SYNC_FAILED else "Degraded"
            state, description = "failure", f"{kind}: {failure.message}"
        at = each.at + timedelta(seconds=settings.lag)
        description = description[:MAX_DESCRIPTION_LENGTH]
        yield Post(at, each.commit, context, state, description, page, unless_equal=False)


def _words(reason: str) -> str:
    """Return a reason in words: `HealthCheckFailed` → `health check failed`."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in reason).strip()


def _has_equal(repository: Repository, post: Post) -> bool:
    """Return whether the newest status of the context is equal, among the newest of the commit."""
    of_commit = (each for each in reversed(repository.statuses) if each.commit == post.commit)
    newest = [each for _, each in zip(range(COMPARED), of_commit, strict=False)]
    same = next((each for each in newest if each.context == post.context), None)
    return same is not None and (same.state, same.description) == (post.state, post.description)


def _share(post: Post, salt: str) -> float:
    """Return a number from 0 to below 1 that depends on the post alone."""
    return zlib.crc32(f"{salt} {post.key}".encode()) / (1 << 32)
