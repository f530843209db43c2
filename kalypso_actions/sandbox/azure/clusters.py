"""Simulated clusters with Flux configurations: what they follow, and how they behave.

They lie in the world as JSON, so that they are saved with it; how they stand at a moment is not
stored but computed, see `sync`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from kalypso_actions.sandbox.store import Store

SUBSCRIPTION = "11111111-1111-4111-8111-111111111111"
"""Where clusters are that name no subscription."""

Behaviour = Literal["follow", "stall", "fail", "flap", "disconnected", "suspended", "ahead"]


class UnknownNameError(LookupError):
    """Something is named that does not exist."""


class _Entity(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Failure(_Entity):
    """What a broken commit makes of a cluster: a Kustomization that is not ready, and why.

    Broken are commits with a file whose path matches `path` (a glob whose `*` spans folders) and
    that contains `text`: by default every commit that has a file. `kustomization` names the one
    that is not ready; without a name it is the last one.
    """

    reason: str = "HealthCheckFailed"
    message: str = "timeout waiting for: [Deployment/app/web status: 'InProgress']"
    path: str = "*"
    text: str = ""
    kustomization: str = ""


class Configuration(_Entity):
    """A Flux configuration of a cluster.

    repository         `owner/name`, or its URL in any form; reported as given, a name as a URL
    paths              of its kustomizations
    ordered            each kustomization depends on the one before
    releases           each kustomization applies a HelmRelease, which is as ready as itself
    tells_statuses     otherwise Azure knows only the state of the whole configuration
    delay, settle      seconds from a push to its sync, and from the sync to readiness
    behaviour          `follow` syncs the branch's head after `delay`, and complies after `settle`
                       `fail` follows too, but broken commits (see Failure) never comply
                       `flap` follows too, then complies and fails in turns of `period` seconds
                       `stall` syncs nothing after `since`, and goes on reporting
                       `suspended` likewise, because somebody has suspended it
                       `disconnected` syncs and reports nothing after `since`
                       `ahead` has `commit`, else the branch's newest head, before all others
    since              when the behaviour began; without it there was nothing before
    revision           `old` branch/sha, `new` branch@sha1:sha, `bare` sha1:sha
    reports_every      seconds between the reports of a cluster whose state does not change
    source_kind        anything but GitRepository follows no branch, as others' configurations do
    """

    name: str = "cluster-config"
    namespace: str = "flux-system"
    repository: str = ""
    branch: str = "main"
    paths: list[str] = Field(default_factory=lambda: ["./"])
    ordered: bool = True
    releases: bool = False
    tells_statuses: bool = True
    delay: float = Field(default=0, ge=0)
    settle: float = Field(default=0, ge=0)
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


class Cluster(_Entity):
    """An AKS cluster, or one anywhere that is connected by Azure Arc."""

    name: str = Field(min_length=1)
    kind: Literal["aks", "arc"] = "aks"
    subscription: str = SUBSCRIPTION
    resource_group: str = "clusters"
    location: str = "westeurope"
    configurations: list[Configuration] = Field(default_factory=list)

    @property
    def resource_type(self) -> str:
        """As written in resource ids."""
        aks = "Microsoft.ContainerService/managedClusters"
        return aks if self.kind == "aks" else "Microsoft.Kubernetes/connectedClusters"

    @property
    def id(self) -> str:
        """The whole resource id."""
        group = f"/subscriptions/{self.subscription}/resourceGroups/{self.resource_group}"
        return f"{group}/providers/{self.resource_type}/{self.name}"


def put(store: Store, cluster: Cluster) -> Cluster:
    """Add a cluster, or replace the one of its name. Behaviours without a beginning begin now."""
    begun = [
        one if one.since else one.model_copy(update={"since": store.now})
        for one in cluster.configurations
    ]
    kept = cluster.model_copy(update={"configurations": begun})
    store.clusters[cluster.name] = kept.model_dump(mode="json")
    return kept


def clusters(store: Store) -> list[Cluster]:
    """All of them, by name."""
    return [Cluster.model_validate(store.clusters[name]) for name in sorted(store.clusters)]


def change(store: Store, name: str, changes: Mapping[str, Any], configuration: str = "") -> Cluster:
    """Give fields of a cluster's configuration other values, from now on.

    Without the name of a configuration the cluster has only one. Raises UnknownNameError for what
    does not exist, and pydantic's ValidationError for a wrong value.
    """
    cluster = get(store, name)
    chosen = [one for one in cluster.configurations if configuration in {"", one.name}]
    if len(chosen) != 1:
        raise UnknownNameError(f"{name!r} has {len(chosen)} configurations {configuration!r}")
    old = chosen[0]
    since = {"since": store.now} if "behaviour" in changes else {}
    new = Configuration.model_validate({**old.model_dump(), **since, **changes})
    others = [new if one is old else one for one in cluster.configurations]
    return put(store, cluster.model_copy(update={"configurations": others}))


def get(store: Store, name: str) -> Cluster:
    """The cluster of that name. Raises UnknownNameError."""
    if name not in store.clusters:
        raise UnknownNameError(f"there is no cluster {name!r}")
    return Cluster.model_validate(store.clusters[name])


def remove(store: Store, name: str) -> None:
    """Delete a cluster with its configurations. Raises UnknownNameError."""
    if store.clusters.pop(name, None) is None:
        raise UnknownNameError(f"there is no cluster {name!r}")
