"""The reports of all clusters that follow a branch: every one, or an error.

Resource Graph leaves out what the identity may not read, and says nothing of it. Of subscriptions
that are named it can be found out.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Self

from kalypso_actions.clients.resource_graph.answers import Answer, UnansweredError
from kalypso_actions.clients.resource_graph.clouds import Cloud
from kalypso_actions.clients.resource_graph.query import SUBSCRIPTIONS, flux_configurations_query
from kalypso_actions.clients.resource_graph.refusals import unseen
from kalypso_actions.clients.resource_graph.rows import cluster_reports, subscription_ids
from kalypso_actions.clients.resource_graph.scopes import Scopes
from kalypso_actions.clients.resource_graph.wait_budget import WaitBudget
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.cluster_reports import ClusterReport
from kalypso_actions.model.urls import repository_key

if TYPE_CHECKING:
    from kalypso_actions.clients.resource_graph.authorization import RenewableCredential

log = logging.getLogger(__name__)

MAX_READINGS: Final = 3
"""Rows that come and go between two pages make an answer incomplete; then all is read again."""


class ResourceGraph:
    """Azure Resource Graph, as one identity sees the scopes of a tenant.

    `scopes` are texts as people write them (see Scopes.parse). `max_wait` bounds the seconds that
    one reading waits because of throttling and faults. It takes over the credential, and closes it.
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
        # Importing Azure's client would cost every other command 0.1 s.
        from kalypso_actions.clients.resource_graph.service import Service  # noqa: PLC0415

        self.scopes = Scopes.parse(scopes)
        self._credential = credential
        self._service = Service(credential, cloud, self.scopes, environment)
        self._max_wait = max_wait
        self._sleep = sleep
        self._now = now
        self._quota_from = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._service.close()
        close = getattr(self._credential, "close", None)
        if close is not None:
            close()

    def cluster_reports(self, repository_url: str, branch: str) -> tuple[ClusterReport, ...]:
        """Return the reports of the Flux configurations that follow a branch, in whatever state.

        Raises KalypsoError where not all of them can be read: an answer of Resource Graph that is
        incomplete, or a row that is not understood, would hide clusters.
        """
        key = _key(repository_url)
        query = flux_configurations_query(key.partition("/")[2], branch)
        return cluster_reports(self._rows(query, "Flux configurations"), key)

    def check_subscriptions(self) -> None:
        """Make sure that every named subscription can be read; one query, to be asked once a run.

        Of several subscriptions, those that the identity may not read are left out of every answer,
        and their clusters with them. A role on a part of a subscription, such as a resource group,
        does not show the subscription. Below a management group, and where no scope is named, there
        is nothing to hold the answer against: there, a subscription that the identity may not read
        goes unnoticed. Raises KalypsoError.
        """
        if not self.scopes.subscriptions:
            return
        seen = subscription_ids(self._rows(SUBSCRIPTIONS, "subscriptions"))
        missing = [one for one in self.scopes.subscriptions if one not in seen]
        if missing:
            raise unseen(missing)

    def _rows(self, query: str, noun: str) -> Sequence[object]:
        """Every row of a query; `noun` says what they are. Raises KalypsoError."""
        budget = WaitBudget(self._max_wait, self._sleep)
        for _ in range(MAX_READINGS):
            rows, total = self._all_pages(query, noun, budget)
            if len(rows) >= total:
                return rows
            log.debug("Azure Resource Graph gave %d rows of %d", len(rows), total)
        raise KalypsoError(
            f"Azure Resource Graph gave {len(rows)} of {total} {noun}",
            advice="run this again; if it stays so, ask for less by azure-scopes",
        )

    def _all_pages(self, query: str, noun: str, budget: WaitBudget) -> tuple[Sequence[object], int]:
        """Every row once, as the last page that had it tells it, and how many there should be."""
        rows: dict[str, object] = {}
        skip_token = ""
        while True:
            answer = self._page(query, skip_token, noun, budget)
            before = len(rows)
            rows |= {_identity(row, before + place): row for place, row in enumerate(answer.rows)}
            skip_token = answer.skip_token
            # A page of nothing new could go on for ever.
            if not skip_token or len(rows) == before:
                return tuple(rows.values()), answer.total

    def _page(self, query: str, skip_token: str, noun: str, budget: WaitBudget) -> Answer:
        while True:
            budget.wait(self._quota_from - self._now(), "the quota is used up")
            try:
                answer = self._service.ask(query, skip_token)
            except UnansweredError as fault:
                budget.after(fault)
                continue
            budget.answered()
            self._quota_from = self._now() + answer.pause
            _check_complete(answer, noun)
            return answer


def _check_complete(answer: Answer, noun: str) -> None:
    """Raises KalypsoError where rows are missing that no further page has."""
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
            advice="run this again; if it stays so, ask for less by azure-scopes",
        )


def _identity(row: object, place: int) -> str:
    """The same for rows of one resource; ids of Azure do not differ by case."""
    match row:
        case {"id": str(resource)} | {"subscriptionId": str(resource)}:
            return resource.lower()
    return f"row {place}"


def _key(repository_url: str) -> str:
    """The repository's key, which has a host and a path. Raises UsageError."""
    try:
        key = repository_key(repository_url)
    except ValueError:
        key = ""
    if not key.partition("/")[2]:
        # It is not told, since it may hold a password.
        raise UsageError(
            "the GitOps repository's URL names no repository",
            advice="https://github.com/owner/name",
        )
    return key
