"""Simulated clusters with Flux configurations, and their behaviour.

The store saves them as JSON. `sync` computes their state at a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from kalypso_sandbox.store import Store

SUBSCRIPTION = "11111111-1111-4111-8111-111111111111"
"""The default subscription of clusters."""

Behaviour = Literal["follow", "stall", "fail", "flap", "disconnected", "suspended", "ahead"]


class UnknownNameError(LookupError):
    """No cluster, configuration or repository has this name."""


class _Entity(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Failure(_Entity):
    """The effect of a broken commit on a cluster: a Kustomization that is not ready.

    A commit is broken if it has a file whose path matches the glob `path` (`*` spans folders) and
    that contains `text`; by default, every commit with a file is broken. `kustomization` names the
    Kustomization that is not ready; by default, the last one. `since` is when people made the
    cluster fail.
    """

    reason: str = "HealthCheckFailed"
    message: str = "timeout waiting for: [Deployment/app/web status: 'InProgress']"
    path: str = "*"
    text: str = ""
    kustomization: str = ""
    since: AwareDatetime | None = None


class StatusNotifications(_Entity):
    """Commit statuses that a cluster posts about a configuration, by a GitHub App of its own.

    app           the id of the App; without the permission `statuses: write` all posts are lost
    cluster_type  the cluster type in the contexts
    controller    the version of Flux's notification-controller: until 1.7, a dependency that is not
                  ready is a success; 1.8.0 posts nothing, 1.8.1 no failures
    expression    whether the Provider has a `commitStatusExpr`; else it has Flux's default context
    uid           the first part of the Provider's uid, which ends Flux's contexts
    lag           seconds from the event to the status
    lost          the share of posts that never reach GitHub
    doubled       the share of posts that reach GitHub twice
    """

    app: int
    cluster_type: str
    controller: Literal["1.7", "1.8.0", "1.8.1", "1.9"] = "1.9"
    expression: bool = True
    uid: str = "5d1f0b7a"
    lag: float = Field(default=0, ge=0)
    lost: float = Field(default=0, ge=0, le=1)
    doubled: float = Field(default=0, ge=0, le=1)


class ArgoApplication(_Entity):
    """The Application of Argo CD that applies a configuration, in place of Flux.

    server       the name of the Argo CD server
    name         of the Application; by default, `platform-<cluster>`
    destination  whether it names its cluster by `name`, by `server`, or is `in-cluster`
    """

    server: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    name: str = ""
    project: str = "platform"
    destination: Literal["name", "server", "in-cluster"] = "name"
    labels: dict[str, str] = Field(default_factory=dict)


class Configuration(_Entity):
    """A Flux configuration of a cluster, or an Application of Argo CD.

    repository         `owner/name`, which the cluster reports as a URL, or a URL, which the cluster
                       reports unchanged
    paths              the paths of its kustomizations
    ordered            each kustomization depends on the one before
    releases           each kustomization applies a HelmRelease with the same readiness
    nested             each kustomization applies a Kustomization of the application's repository,
                       `<kustomization>-app`, as Kalypso's reconciler.yaml does
    null_entries       lists of statuses have a null entry, as Azure's libraries declare
    tells_statuses     if false, Azure knows only the state of the whole configuration
    delay              seconds from a push to the sync of the source
    reconcile_delay    seconds from the sync until the kustomizations begin with the commit; until
                       then they report the commit before
    settle             seconds from when the kustomizations begin until they are ready
    nested_delay       seconds from then until nested kustomizations that failed are ready, too
    behaviour          `follow` syncs the branch's head after `delay`, and complies after `settle`
                       `fail` follows, but broken commits (see Failure) never comply
                       `flap` follows, then alternates every `period` seconds
                       `stall` syncs nothing after `since`, and continues to report
                       `suspended` does the same, because a person suspended it
                       `disconnected` syncs and reports nothing after `since`, and has never
                       reported if it had not synced by then
                       `ahead` syncs `commit`, or the branch's newest head, without delay
    since              the start of the behaviour; by default, the cluster has always behaved so
    revision           `old` branch/sha, `new` branch@sha1:sha, `bare` sha1:sha
    reports_every      seconds between the reports of a cluster whose state does not change
    source_kind        only a GitRepository follows a branch
    notifications      commit statuses about the configuration
    application        the Application of Argo CD that applies it, in place of Flux
    """

    name: str = "cluster-config"
    namespace: str = "flux-system"
    repository: str = ""
    branch: str = "main"
    paths: list[str] = Field(default_factory=lambda: ["./"])
    ordered: bool = True
    releases: bool = False
    nested: bool = False
    null_entries: bool = False
    tells_statuses: bool = True
    delay: float = Field(default=0, ge=0)
    reconcile_delay: float = Field(default=0, ge=0)
    settle: float = Field(default=0, ge=0)
    nested_delay: float = Field(default=0, ge=0)
    sync_interval: int = 600
    behaviour: Behaviour = "follow"
    since: AwareDatetime | None = None
    failure: Failure = Field(default_factory=Failure)
    period: float = Field(default=60, gt=0)
    commit: str = ""
    revision: Literal["old", "new", "bare"] = "new"
    reports_every: int = Field(default=30, gt=0)
    provisioning_state: Literal[
        "Succeeded", "Failed", "Canceled", "Creating", "Updating", "Deleting"
    ] = "Succeeded"
    error_message: str = ""
    source_kind: Literal["GitRepository", "Bucket", "AzureBlob", "OCIRepository"] = "GitRepository"
    notifications: StatusNotifications | None = None
    application: ArgoApplication | None = None


class Cluster(_Entity):
    """An AKS cluster, one that is connected by Azure Arc, or one that Azure does not know.

    connectivity   the state of an Arc cluster's connection, as Azure sees it
    power          the power state of an AKS cluster
    deleted_at     the time of deletion; Resource Graph shows its rows for a while (see Settings)
    """

    name: str = Field(min_length=1)
    kind: Literal["aks", "arc", "other"] = "aks"
    subscription: str = SUBSCRIPTION
    resource_group: str = "clusters"
    location: str = "westeurope"
    connectivity: Literal["Connected", "Connecting", "Offline", "Expired"] = "Connected"
    power: Literal["Running", "Stopped"] = "Running"
    deleted_at: AwareDatetime | None = None
    configurations: list[Configuration] = Field(default_factory=list)

    @property
    def resource_type(self) -> str:
        """Return the type as in resource ids."""
        aks = "Microsoft.ContainerService/managedClusters"
        return aks if self.kind == "aks" else "Microsoft.Kubernetes/connectedClusters"

    @property
    def id(self) -> str:
        """Return the full resource id."""
        group = f"/subscriptions/{self.subscription}/resourceGroups/{self.resource_group}"
        return f"{group}/providers/{self.resource_type}/{self.name}"


def put(store: Store, cluster: Cluster) -> Cluster:
    """Add a cluster, or replace the one with its name. A behaviour without `since` starts now."""
    configurations = [
        configuration
        if configuration.since
        else configuration.model_copy(update={"since": store.now})
        for configuration in cluster.configurations
    ]
    saved = cluster.model_copy(update={"configurations": configurations})
    store.clusters[cluster.name] = saved.model_dump(mode="json")
    return saved


def clusters(store: Store) -> list[Cluster]:
    """Return all clusters, sorted by name."""
    return [Cluster.model_validate(store.clusters[name]) for name in sorted(store.clusters)]


def change(store: Store, name: str, changes: Mapping[str, Any], configuration: str = "") -> Cluster:
    """Change fields of a cluster's configuration from now on.

    Without a configuration's name, the cluster must have exactly one. Raises UnknownNameError, and
    pydantic's ValidationError for an invalid value.
    """
    cluster = get(store, name)
    chosen = [known for known in cluster.configurations if configuration in {"", known.name}]
    if len(chosen) != 1:
        raise UnknownNameError(f"{name!r} has {len(chosen)} configurations {configuration!r}")
    old = chosen[0]
    since = {"since": store.now} if "behaviour" in changes else {}
    new = Configuration.model_validate({**old.model_dump(), **since, **changes})
    others = [new if known is old else known for known in cluster.configurations]
    return put(store, cluster.model_copy(update={"configurations": others}))


def get(store: Store, name: str) -> Cluster:
    """Return a cluster by name. Raises UnknownNameError."""
    if name not in store.clusters:
        raise UnknownNameError(f"there is no cluster {name!r}")
    return Cluster.model_validate(store.clusters[name])


def remove(store: Store, name: str) -> None:
    """Delete a cluster with its configurations. Raises UnknownNameError."""
    if store.clusters.pop(name, None) is None:
        raise UnknownNameError(f"there is no cluster {name!r}")
