"""What the simulated Azure is like, and what is to go wrong with its next queries."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class QueryFault(_Settings):
    """Something that happens to `count` queries, after `skip` others.

    A `count` of 0 lasts until it is taken back.

    kind    `throttled`   429, with `retry_after` in a header if given, else with the quota's
                          headers alone
            `truncated`   a part of the rows, and no token for the others
            `denied`      403 by Resource Graph, as for a scope that the principal may not read
            `forbidden`   403 by Resource Manager, as for a principal that may not query at all
            `unseen`      no rows, as for a principal without any role: Azure calls it success
            `expired`     401, as for a token that has ended
            `revoked`     401; the token of the query is refused from then on
            `challenged`  likewise, with the claims that the next token must be asked for with
    """

    kind: Literal[
        "throttled",
        "truncated",
        "denied",
        "forbidden",
        "unseen",
        "expired",
        "revoked",
        "challenged",
    ]
    count: int = Field(default=1, ge=0)
    skip: int = Field(default=0, ge=0)
    retry_after: int | None = None


class Settings(_Settings):
    """The limits of Azure, and the disturbances still to come.

    quota, quota_window     queries of one principal in so many seconds of the sandbox's clock;
                            0 for no limit
    page_size               rows of an answer, whatever is asked for
    subscription_limit      subscriptions that a query over a tenant or a management group reads
    subscriptions           some that hold no cluster, beside those of the clusters
    unreadable              subscriptions that nobody may read: they are left out, without a word
    management_groups       name -> subscriptions
    token_lifetime          seconds that an access token lives
    assertion_lifetime      seconds that a job's assertion lives
    """

    quota: int = Field(default=15, ge=0)
    quota_window: int = Field(default=5, ge=1)
    page_size: int = Field(default=1000, ge=1, le=1000)
    subscription_limit: int = Field(default=10_000, ge=1)
    subscriptions: list[str] = Field(default_factory=list)
    unreadable: list[str] = Field(default_factory=list)
    management_groups: dict[str, list[str]] = Field(default_factory=dict)
    token_lifetime: int = Field(default=3600, ge=1)
    assertion_lifetime: int = Field(default=300, ge=1)
    faults: list[QueryFault] = Field(default_factory=list)

    def next_fault(self) -> QueryFault | None:
        """What happens to this query: the first that is due; it is counted."""
        due: QueryFault | None = None
        for one in list(self.faults):
            if one.skip:
                one.skip -= 1
            elif due is None:
                due = one
                self._count_down(one)
        return due

    def _count_down(self, fault: QueryFault) -> None:
        if fault.count == 1:
            self.faults.remove(fault)
        elif fault.count:
            fault.count -= 1
