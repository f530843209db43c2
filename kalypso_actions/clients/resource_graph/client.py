"""The reports of all clusters that follow a branch: every one, or an error.

Resource Graph silently omits what the identity may not read. If scopes name subscriptions, a second
query detects omitted ones.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Self, TypeVar

from kalypso_actions.clients.resource_graph.errors import CHECK_NETWORK, unseen
from kalypso_actions.clients.resource_graph.rows import (
    LOST_CLUSTERS,
    SUBSCRIPTIONS,
    BranchKey,
    all_configurations_query,
    branch_followers,
    cluster_report,
    cluster_reports,
    fleet_answer,
    flux_configurations_query,
    followers_query,
    lost_connections,
    placed_report,
    subscription_ids,
)
from kalypso_actions.clients.resource_graph.scopes import Cloud, Scopes
from kalypso_actions.clients.resource_graph.service import (
    Answer,
    PayloadTooLargeError,
    RenewableCredential,
    ResourceManager,
    Service,
    UnansweredError,
)
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport
from kalypso_actions.model.urls import repository_key

log = logging.getLogger(__name__)

Value = TypeVar("Value")

Conversion = Callable[[object, int], Value]
"""The value of a row at a place, from 1."""

LARGEST_PAGE: Final = 1000
"""Rows of a page: the maximum of Resource Graph."""

MAX_READINGS: Final = 3
"""The attempts to read a complete answer; rows may change between two pages."""


class ResourceGraph:
    """Azure Resource Graph, as one identity sees the scopes of a tenant.

    `scopes` are texts as people write them (see Scopes.parse). `max_wait` limits the seconds that
    one reading waits after throttling and faults. `close` also closes the credential.
    """

    def __init__(
        self,
        credential: RenewableCredential,
        *,
        cloud: Cloud,
        scopes: Sequence[str],
        environment: Mapping[str, str],
        max_wait: float = 900.0,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.scopes = Scopes.parse(scopes)
        self._credential = credential
        self._service = Service(credential, cloud, self.scopes, environment)
        self._manager = ResourceManager(credential, cloud, environment)
        self._max_wait = max_wait
        self._sleep = sleep
        self._now = now
        self._quota_from = 0.0
        self._page_size = LARGEST_PAGE

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._service.close()
        self._manager.close()
        close = getattr(self._credential, "close", None)
        if close is not None:
            close()

    def cluster_reports(self, repository_url: str, branch: str) -> tuple[ClusterReport, ...]:
        """Return the reports of all Flux configurations that follow a branch, in any state.

        Raise KalypsoError if the answer is incomplete or has a row of an unknown form: either would
        hide clusters.
        """
        key = _key(repository_url)
        query = flux_configurations_query(key.partition("/")[2], branch)
        convert = partial(cluster_report, repository=key)
        return cluster_reports(self._rows(query, "Flux configurations", convert))

    def all_reports(
        self,
    ) -> tuple[Mapping[BranchKey, list[ClusterReport]], Mapping[BranchKey, tuple[Problem, ...]]]:
        """Return the reports of all Flux configurations that follow branches, by branch.

        The second mapping has the problems of rows that cannot be read. Raise KalypsoError if the
        answer is incomplete.
        """
        query = all_configurations_query()
        return fleet_answer(self._rows(query, "Flux configurations", placed_report))

    def lost_connections(self) -> Mapping[str, str]:
        """Return Azure's word for each lost connection of a cluster, by its id in lower case.

        Raise KalypsoError if the answer is incomplete.
        """
        return lost_connections(self._rows(LOST_CLUSTERS, "clusters", _as_it_is))

    def deleted(self, clusters: Iterable[str]) -> frozenset[str]:
        """Return which of these clusters no longer exist, by Resource Manager's answer for each.

        Resource Graph may show the configurations of a deleted cluster for hours.
        """
        return frozenset(filter(self._manager.is_gone, clusters))

    def followers(self, branch: str) -> tuple[BranchFollower, ...]:
        """Return the Flux configurations that follow a branch of this name, of any repository.

        Raise KalypsoError if the answer is incomplete.
        """
        return branch_followers(
            self._rows(followers_query(branch), "Flux configurations", _as_it_is)
        )

    def check_subscriptions(self) -> None:
        """Check that the identity may read every named subscription; one query for each run.

        Resource Graph omits subscriptions that the identity may not read, and their clusters, from
        every answer. A role on a part of a subscription, such as a resource group, does not
        suffice. Below a management group, or without a scope, this check cannot find an omitted
        subscription, because nobody names it. Raise KalypsoError.
        """
        if not self.scopes.subscriptions:
            return
        seen = subscription_ids(self._rows(SUBSCRIPTIONS, "subscriptions", _as_it_is))
        missing = [
            subscription for subscription in self.scopes.subscriptions if subscription not in seen
        ]
        if missing:
            raise unseen(missing)

    def _rows(self, query: str, noun: str, convert: Conversion[Value]) -> Sequence[Value]:
        """Return the value of every row of a query; `noun` names the rows in errors.

        Convert rows page by page, since they take more memory than their values. Raise
        KalypsoError.
        """
        budget = WaitBudget(self._max_wait, self._sleep)
        for _ in range(MAX_READINGS):
            rows, total = self._in_smaller_pages(query, noun, budget, convert)
            if len(rows) >= total:
                return rows
            log.debug("Azure Resource Graph gave %d rows of %d", len(rows), total)
        raise KalypsoError(
            f"Azure Resource Graph gave {len(rows)} of {total} {noun}",
            advice="run this again; if the error stays, narrow azure-scopes",
        )

    def _in_smaller_pages(
        self, query: str, noun: str, budget: WaitBudget, convert: Conversion[Value]
    ) -> tuple[Sequence[Value], int]:
        """Read all pages; halve their size and begin again while a page is too large.

        Later readings keep the smaller size. Azure does not document whether the token for a next
        page allows another size, so the reading begins again.
        """
        while True:
            try:
                return self._all_pages(query, noun, budget, convert)
            except PayloadTooLargeError:
                self._page_size //= 2
                log.debug("Azure Resource Graph: a page is too large; now %d", self._page_size)
                if not self._page_size:
                    raise KalypsoError(
                        f"Azure Resource Graph refuses a single row of the {noun} as too large",
                        advice="please report this; narrow azure-scopes meanwhile",
                    ) from None

    def _all_pages(
        self, query: str, noun: str, budget: WaitBudget, convert: Conversion[Value]
    ) -> tuple[Sequence[Value], int]:
        """Return the value of every row, and the announced number of rows.

        If several pages contain a row, the last page counts.
        """
        rows: dict[str, Value] = {}
        skip_token = ""
        while True:
            answer = self._page(query, skip_token, noun, budget)
            before = len(rows)
            for place, row in enumerate(answer.rows, before + 1):
                rows[_identity(row, place)] = convert(row, place)
            skip_token = answer.skip_token
            # Pages without new rows could repeat for ever.
            if not skip_token or len(rows) == before:
                return tuple(rows.values()), answer.total

    def _page(self, query: str, skip_token: str, noun: str, budget: WaitBudget) -> Answer:
        while True:
            budget.wait(self._quota_from - self._now(), "the quota is used up")
            try:
                answer = self._service.ask(query, skip_token, self._page_size)
            except UnansweredError as fault:
                budget.after(fault)
                continue
            budget.answered()
            self._quota_from = self._now() + answer.pause
            _check_complete(answer, noun)
            return answer


def _check_complete(answer: Answer, noun: str) -> None:
    """Raise KalypsoError if rows are missing that no further page has."""
    if answer.limit_hit:
        raise KalypsoError(
            "the scope holds more subscriptions than Azure Resource Graph asks at once",
            advice="name the subscriptions of the clusters, or a management group above "
            "them, in azure-scopes",
        )
    if answer.truncated:
        raise KalypsoError(
            f"Azure Resource Graph cut its answer short ({len(answer.rows)} of "
            f"{answer.total} {noun})",
            advice="run this again; if the error stays, narrow azure-scopes",
        )


def _as_it_is(row: object, _place: int) -> object:
    return row


def _identity(row: object, place: int) -> str:
    """Return the key of a row's resource; ids in Azure are case-insensitive."""
    match row:
        case {"id": str(resource)} | {"subscriptionId": str(resource)}:
            return resource.lower()
    return f"row {place}"


def _key(repository_url: str) -> str:
    """Return the repository's key, with host and path. Raise UsageError."""
    key = repository_key(repository_url)
    if not key.partition("/")[2]:
        # The error omits the URL, which may hold a password.
        raise UsageError(
            "the GitOps repository's URL names no repository",
            advice="https://github.com/owner/name",
        )
    return key


MAX_FAULTS: Final = 6
"""Consecutive attempts that may fail; after throttling, only the budget decides."""

QUOTA_WINDOW: Final = 5.0
"""Seconds in which Azure counts the queries of an identity (it allows about 15)."""

LONGEST: Final = 60.0
"""Maximum seconds between two attempts, unless Azure asks for more."""

FEWER_QUERIES: Final = (
    "query less often (poll-interval), or as several identities: Azure counts the queries of each"
)


class WaitBudget:
    """The seconds that a reading may still wait."""

    def __init__(self, seconds: float, sleep: Callable[[float], None]) -> None:
        self._seconds = seconds
        self._left = seconds
        self._sleep = sleep
        self._faults = 0

    def wait(self, seconds: float, why: str, advice: str = FEWER_QUERIES) -> None:
        """Wait. Raise KalypsoError if the budget is too small."""
        if seconds <= 0:
            return
        if seconds > self._left:
            raise KalypsoError(
                f"Azure Resource Graph does not answer: {why}; it would take another "
                f"{seconds:.0f} s, after {self._seconds - self._left:.0f} s of waiting",
                advice=advice,
            )
        log.debug("Azure Resource Graph: %s; waiting %.1f s", why, seconds)
        self._left -= seconds
        self._sleep(seconds)

    def after(self, fault: UnansweredError) -> None:
        """Wait for the next attempt. Raise KalypsoError after too many faults."""
        self._faults += 1
        if fault.throttled:
            seconds = min(QUOTA_WINDOW * 2 ** (self._faults - 1), LONGEST)
            self.wait(fault.wait or seconds, str(fault))
            return
        if self._faults >= MAX_FAULTS:
            message = f"Azure Resource Graph does not answer: {fault} ({self._faults} attempts)"
            raise KalypsoError(message, advice=CHECK_NETWORK) from fault
        seconds = min(2.0 ** (self._faults - 1), LONGEST)
        self.wait(max(seconds, fault.wait or 0.0), str(fault), CHECK_NETWORK)

    def answered(self) -> None:
        """Reset the count of faults after an answer."""
        self._faults = 0
