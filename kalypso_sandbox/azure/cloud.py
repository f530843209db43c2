"""The simulated Azure: clusters, settings and identities, with one clock for all of them."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from kalypso_sandbox.azure import clusters, identity, rows
from kalypso_sandbox.azure.clusters import Cluster
from kalypso_sandbox.azure.sync import RepositoryHistory
from kalypso_sandbox.json_http import Answer
from kalypso_sandbox.store import Store

MANAGED_IDENTITY: Final = "33333333-3333-4333-8333-333333333333"
"""The client id of the managed identity in the sandbox's environment variables."""

RESOURCE_MANAGER: Final = "https://management.azure.com"

MOST_CREDENTIALS: Final = 20
"""The maximum number of federated credentials of one application."""

IDENTITY_PATH: Final = "/msi/token"
JOB_PATH: Final = "/_services/oidc/idtoken"


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


@dataclass(eq=False)
class Azure:
    """The simulated Azure. `lock` guards the store and is reentrant.

    The store saves clusters. Applications, jobs, settings and tokens end with the server.
    """

    store: Store
    lock: AbstractContextManager[Any]
    settings: Settings = field(default_factory=Settings)
    tenant: str = rows.TENANT
    applications: dict[str, identity.Application] = field(default_factory=dict)
    new_guid: Callable[[], str] = lambda: str(uuid.uuid4())
    identity_header: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    queries: int = 0
    _jobs: dict[str, identity.JobIdentity] = field(default_factory=dict, repr=False)
    _windows: dict[str, tuple[datetime, int]] = field(default_factory=dict, repr=False)
    """The begin of a window, and its queries, by principal."""
    _revoked: set[str] = field(default_factory=set, repr=False)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def __post_init__(self) -> None:
        self._repositories = RepositoryHistory(self.store)

    def put(self, cluster: Cluster) -> Cluster:
        """Add a cluster, or replace the one with its name."""
        with self.lock:
            return clusters.put(self.store, cluster)

    def change(self, name: str, configuration: str = "", **changes: Any) -> Cluster:
        """Change fields of a cluster's configuration; see `clusters.change`."""
        with self.lock:
            return clusters.change(self.store, name, changes, configuration)

    def delete(self, name: str) -> None:
        """Delete a cluster, whose rows linger as the settings say. Raises UnknownNameError."""
        with self.lock:
            cluster = clusters.get(self.store, name)
            clusters.remove(self.store, name)
            if self.settings.linger:
                clusters.put(self.store, cluster.model_copy(update={"deleted_at": self.store.now}))

    def environment(self, url: str) -> dict[str, str]:
        """Return variables that lead Azure's libraries to the sandbox."""
        return {
            "KALYPSO_AZURE_RESOURCE_MANAGER": url,
            "IDENTITY_ENDPOINT": f"{url}{IDENTITY_PATH}",
            "IDENTITY_HEADER": self.identity_header,
        }

    def job_environment(self, url: str, job: identity.JobIdentity) -> dict[str, str]:
        """Return the variables of a job with `id-token: write`, with a new request token.

        Raises UnknownNameError for an unknown repository.
        """
        identity.subject(self.store, job)
        token = secrets.token_urlsafe(32)
        self._jobs[token] = replace(job, token=token)
        return {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{url}{JOB_PATH}?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": token,
        }

    def register(
        self, *subjects: str, secret: str = "", client_id: str = ""
    ) -> identity.Application:
        """Register an application; its credentials are these subjects, and the secret if given.

        Raises ValueError for more federated credentials than Azure accepts.
        """
        if len(subjects) > MOST_CREDENTIALS:
            raise ValueError(f"Azure accepts {MOST_CREDENTIALS} federated credentials")
        application = identity.Application(
            client_id=client_id or self.new_guid(),
            secrets=[secret] if secret else [],
            federated=[
                identity.FederatedCredential(subject=subject, issuer=identity.issuer(self.store))
                for subject in subjects
            ],
        )
        self.applications[application.client_id] = application
        return application

    def tables(self) -> rows.Tables:
        """Return the current tables of Resource Graph."""
        linger = timedelta(seconds=self.settings.linger)
        return rows.tables(self.store, self._repositories, self.subscriptions(), linger)

    def subscriptions(self) -> list[str]:
        """Return the readable subscriptions of clusters and settings, in lower case."""
        known = (each for each in clusters.clusters(self.store) if each.kind != "other")
        owners = (cluster.subscription for cluster in known)
        hidden = {name.lower() for name in self.settings.unreadable}
        return sorted({name.lower() for name in (*owners, *self.settings.subscriptions)} - hidden)

    def issue_token(
        self, principal: str = MANAGED_IDENTITY, audience: str = RESOURCE_MANAGER
    ) -> str:
        """Issue an access token."""
        lifetime = timedelta(seconds=self.settings.token_lifetime)
        now = self.store.now
        token_id = self.new_guid()
        return identity.issue(
            principal, self.tenant, audience, now, lifetime, self._key, token_id=token_id
        )

    def revoke(self, authorization: str) -> None:
        """Refuse the token of this Authorization header from now on."""
        self._revoked.add(authorization.partition(" ")[2])

    def principal(self, authorization: str, url: str) -> str | identity.RefusedToken:
        """Return the principal of an Authorization header for Resource Manager, or the refusal."""
        audiences = [
            RESOURCE_MANAGER,
            "https://management.core.windows.net",
            "https://management.usgovcloudapi.net",
            "https://management.core.usgovcloudapi.net",
            "https://management.chinacloudapi.cn",
            "https://management.core.chinacloudapi.cn",
            url,
        ]
        if authorization.partition(" ")[2] in self._revoked:
            return identity.revoked()
        return identity.principal(authorization, audiences, self.store.now, self._key)

    def job_assertion(self, authorization: str, audience: str) -> Answer:
        """Answer a job's request for an ID token."""
        job = self._jobs.get(authorization.partition(" ")[2])
        if job is None:
            return Answer(401, {"message": "The token of the job is not valid."})
        lifetime = timedelta(seconds=self.settings.assertion_lifetime)
        return Answer(200, identity.assertion(self.store, job, audience, lifetime, self._key))

    def sign_in(self, tenant: str, form: dict[str, str]) -> Answer:
        """Answer an application's sign-in to Entra."""
        now = self.store.now
        try:
            tenants = tenant, self.tenant
            resource = identity.resource(form, tenants, self.applications, now, self._key)
        except identity.RefusedSignInError as error:
            return identity.refused_sign_in(error, now, self.new_guid)
        seconds = self.settings.token_lifetime
        token = self.issue_token(form["client_id"], resource)
        lifetime = {"expires_in": seconds, "ext_expires_in": seconds}
        return Answer(200, {"token_type": "Bearer", **lifetime, "access_token": token})

    def managed_identity(self, query: dict[str, str], header: str) -> Answer:
        """Answer a request for the managed identity's token, as App Service does."""
        refusal = identity.identity_refusal(
            query, header, self.identity_header, self.applications.keys()
        )
        if refusal:
            return refusal
        client_id = query.get("client_id", MANAGED_IDENTITY)
        # Clients compare the expiry with the machine's clock, so do not use the sandbox's.
        expires_on = int(time.time()) + self.settings.token_lifetime
        token = self.issue_token(client_id, query["resource"])
        return identity.identity_answer(token, query["resource"], client_id, expires_on)

    def use_quota(self, principal: str) -> tuple[bool, dict[str, str]]:
        """Count a query; return whether it is allowed, and the quota headers."""
        now, settings = self.store.now, self.settings
        began_at, queries = self._windows.get(principal, (now, 0))
        window = timedelta(seconds=settings.quota_window)
        if now - began_at >= window:
            began_at, queries = now, 0
        allowed = not settings.quota or queries < settings.quota
        self._windows[principal] = began_at, queries + allowed
        remaining = max(settings.quota - queries - allowed, 0)
        return allowed, quota_headers(remaining, began_at + window - now)


def quota_headers(remaining: int, resets_after: timedelta) -> dict[str, str]:
    """Return the quota headers, which every Resource Graph response has."""
    minutes, seconds = divmod(int(resets_after.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return {
        "x-ms-user-quota-remaining": str(remaining),
        "x-ms-user-quota-resets-after": f"{hours:02}:{minutes:02}:{seconds:02}",
    }
