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
class FluxObject:
    """The state of one object that the configuration has made, such as a Kustomization."""

    kind: str
    name: str
    compliance_state: str
    conditions: tuple[FluxCondition, ...]


@dataclass(frozen=True, slots=True)
class FluxConfiguration:
    """A row of Resource Graph.

    `id` is the whole resource id, the cluster's included. `synced_revision` is as reported
    (`branch/sha`, `branch@sha1:sha`, `sha1:sha`); `kustomization_paths` are relative to the
    repository's root. States are Azure's words, unknown ones included.
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
    kustomization_paths: tuple[str, ...]
    objects: tuple[FluxObject, ...]
