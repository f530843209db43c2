"""The limits of the simulated Azure, and the faults of its next queries."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class QueryFault(_Settings):
    """A fault of `count` queries, after `skip` others.

    A fault with the `count` 0 lasts until it is removed.

    kind    `throttled`   429, with a header `retry_after` if given, and the quota headers
            `truncated`   some of the rows, without a token for the rest
            `denied`      403 from Resource Graph, as for an unreadable scope
            `forbidden`   403 from Resource Manager, as for a principal without a role for queries
            `unseen`      success without rows, as for a principal without any role
            `expired`     401, as for an expired token
            `revoked`     401; all later queries with this token are refused, too
            `challenged`  like `revoked`, with the claims that the next token must have
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
    """The limits of Azure, and the faults still to come.

    quota, quota_window     queries of one principal in a window of seconds; 0 means no limit
    page_size               the most rows of a response
    max_bytes               the largest size of a response's rows
    subscription_limit      the most subscriptions that a query over a tenant or a group reads
    subscriptions           subscriptions without clusters
    unreadable              subscriptions that nobody may read; answers silently omit them
    management_groups       name -> subscriptions
    linger                  seconds for which Resource Graph shows deleted clusters unchanged
    token_lifetime          seconds until an access token expires
    assertion_lifetime      seconds until a job's assertion expires
    """

    quota: int = Field(default=15, ge=0)
    quota_window: int = Field(default=5, ge=1)
    page_size: int = Field(default=1000, ge=1, le=1000)
    max_bytes: int = Field(default=16 * 1024 * 1024, ge=1)
    subscription_limit: int = Field(default=10_000, ge=1)
    subscriptions: list[str] = Field(default_factory=list)
    unreadable: list[str] = Field(default_factory=list)
    management_groups: dict[str, list[str]] = Field(default_factory=dict)
    linger: float = Field(default=0, ge=0)
    token_lifetime: int = Field(default=3600, ge=1)
    assertion_lifetime: int = Field(default=300, ge=1)
    faults: list[QueryFault] = Field(default_factory=list)

    def next_fault(self) -> QueryFault | None:
        """Return the first fault that applies to this query, and count it."""
        first: QueryFault | None = None
        for fault in list(self.faults):
            if fault.skip:
                fault.skip -= 1
            elif first is None:
                first = fault
                self._count_down(fault)
        return first

    def _count_down(self, fault: QueryFault) -> None:
        if fault.count == 1:
            self.faults.remove(fault)
        elif fault.count:
            fault.count -= 1
