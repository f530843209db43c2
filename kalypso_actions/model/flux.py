"""A Flux configuration of a cluster, as Azure Resource Graph reports it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FluxCondition:
    """A condition of one Flux object."""

    type: str
    status: str
    reason: str
    message: str
    last_transition: datetime | None


@dataclass(frozen=True, slots=True)
class FluxReference:
    """The name and namespace of an object on the cluster."""

    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class FluxObject:
    """The state of one object that the configuration has made, such as a Kustomization.

    `applied_by` is the Kustomization that made it; None for an object of the configuration itself.
    """

    kind: str
    name: str
    compliance_state: str
    conditions: tuple[FluxCondition, ...]
    namespace: str = ""
    applied_by: FluxReference | None = None

    @property
    def reference(self) -> FluxReference:
        """What `applied_by` of the objects that it has applied says."""
        return FluxReference(self.name, self.namespace)


@dataclass(frozen=True, slots=True)
class FluxKustomization:
    """A kustomization that a configuration declares: its name there, its path in the repository."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class FluxConfiguration:
    """A row of Resource Graph.

    `id` is the whole resource id, the cluster's included. `synced_revision` is as reported
    (`branch/sha`, `branch@sha1:sha`, `sha1:sha`). States are Azure's words, unknown ones included.
    """

    id: str
    repository_url: str
    branch: str
    compliance_state: str
    provisioning_state: str
    suspended: bool
    synced_revision: str
    source_updated_at: datetime | None
    status_updated_at: datetime | None
    error_message: str
    kustomizations: tuple[FluxKustomization, ...]
    objects: tuple[FluxObject, ...]

    @property
    def name(self) -> str:
        """The last part of its resource id."""
        return self.id.rstrip("/").rpartition("/")[2]
