"""The kinds of a Kalypso control plane, as the stages see them.

Each comes from one document; `where` is that document's place. Which fields a document may have,
and which it must have, is the business of `fleet`, which makes these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kalypso_actions.errors import Location

FLUX_NAME_LABEL = "kustomize.toolkit.fluxcd.io/name"
FLUX_NAMESPACE_LABEL = "kustomize.toolkit.fluxcd.io/namespace"
"""Flux stamps its owner on everything it applies; templates and selectors upstream see that."""

PLATFORM_CONFIG_LABEL = "platform-config"
ENGINE_ANNOTATION = "kalypso.io/engine"
FIRST_ENVIRONMENT_ANNOTATION = "kalypso.io/first-environment"
NEXT_ENVIRONMENT_ANNOTATION = "kalypso.io/next-environment"
COMPLIANCE_ANNOTATION = "kalypso.io/compliance"

MAIN_BASE_REPO = "main"
"""The BaseRepo of this name drives tracking."""


@dataclass(frozen=True, slots=True)
class RepositoryPath:
    """A folder on a branch of a repository: the `repo`, `branch`, `path` of many kinds."""

    repo: str
    branch: str
    path: str


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment and the branch of the control plane that holds it."""

    name: str
    control_plane: RepositoryPath
    annotations: Mapping[str, str]
    where: Location
    next_environment_where: Location
    """The annotation that names the next environments; near it, where there is none."""

    @property
    def is_first(self) -> bool:
        """Whether it is annotated as one that new commits of main reach first."""
        return self.annotations.get(FIRST_ENVIRONMENT_ANNOTATION, "").strip() == "true"

    @property
    def next_environments(self) -> tuple[str, ...]:
        """The environments that a promotion goes on to: a comma-separated annotation."""
        names = self.annotations.get(NEXT_ENVIRONMENT_ANNOTATION, "").split(",")
        return tuple(name.strip() for name in names if name.strip())


@dataclass(frozen=True, slots=True)
class BaseRepo:
    """What an environment takes over from elsewhere, usually a promoted commit of main."""

    name: str
    source: RepositoryPath
    commit: str | None
    where: Location


@dataclass(frozen=True, slots=True)
class GitOpsRepo:
    """Where an environment's manifests are proposed."""

    name: str
    target: RepositoryPath
    where: Location


@dataclass(frozen=True, slots=True)
class ClusterType:
    """A set of clusters with equal configuration and the Templates they use by name."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    reconciler: str
    namespace_service: str
    config_type: str
    where: Location

    @property
    def reports_compliance(self) -> bool:
        """Whether its clusters report to Resource Graph, as they do unless annotated otherwise."""
        return self.annotations.get(COMPLIANCE_ANNOTATION, "").strip() != "none"


@dataclass(frozen=True, slots=True)
class LabelExpression:
    """One entry of `matchExpressions`, as written."""

    key: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A Kubernetes LabelSelector as written; `where` is its place in the policy."""

    match_labels: Mapping[str, str]
    match_expressions: tuple[LabelExpression, ...]
    where: Location


@dataclass(frozen=True, slots=True)
class SchedulingPolicy:
    """Which deployment targets go to which cluster types."""

    name: str
    workspace: str
    deployment_targets: LabelSelector
    cluster_types: LabelSelector
    where: Location


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """Platform configuration: texts by key; `lines` says where each key stands."""

    name: str
    labels: Mapping[str, str]
    data: Mapping[str, str]
    where: Location
    lines: Mapping[str, int] = field(default_factory=dict)

    def at(self, key: str) -> Location:
        """The place of one key of `data`."""
        return Location(
            self.where.repository, self.where.path, self.lines.get(key, self.where.line)
        )


@dataclass(frozen=True, slots=True)
class ConfigSchema:
    """A JSON Schema (its text) that merged configuration must satisfy."""

    name: str
    labels: Mapping[str, str]
    schema: str
    where: Location


@dataclass(frozen=True, slots=True)
class Template:
    """Manifests of one concern; a manifest is a text or, in the old form, an object."""

    name: str
    type: str
    content_type: str
    manifests: tuple[str | Mapping[str, object], ...]
    annotations: Mapping[str, str]
    where: Location
    manifest_lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadRegistration:
    """A repository whose Workloads take part, and the workspace that they get."""

    name: str
    source: RepositoryPath
    workspace: str
    where: Location


@dataclass(frozen=True, slots=True)
class DeploymentTarget:
    """One way a workload wants to be deployed, in one environment.

    `labels` are complete: the target's own, the Workload's over them, then `workload`,
    `workspace` and Flux's. `registration` is "" for one written by hand.
    """

    name: str
    environment: str
    workload: str
    workspace: str
    labels: Mapping[str, str]
    manifests: Mapping[str, str]
    config_schemas: tuple[str, ...]
    registration: str
    where: Location


@dataclass(frozen=True, slots=True)
class Workload:
    """What one document of a registered repository delivers, for all environments."""

    name: str
    targets: tuple[DeploymentTarget, ...]
    where: Location


@dataclass(frozen=True, slots=True)
class Assignment:
    """A deployment target on a cluster type, and every policy that asked for it."""

    target: DeploymentTarget
    cluster_type: ClusterType
    policies: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Where its files lie in the tree."""
        return f"{self.cluster_type.name}/{self.target.name}"


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything of one environment, each kind sorted by name, names unique within a kind."""

    environment: str
    base_repos: tuple[BaseRepo, ...] = ()
    gitops_repos: tuple[GitOpsRepo, ...] = ()
    cluster_types: tuple[ClusterType, ...] = ()
    policies: tuple[SchedulingPolicy, ...] = ()
    config_maps: tuple[ConfigMap, ...] = ()
    config_schemas: tuple[ConfigSchema, ...] = ()
    templates: tuple[Template, ...] = ()
    registrations: tuple[WorkloadRegistration, ...] = ()
    targets: tuple[DeploymentTarget, ...] = ()
