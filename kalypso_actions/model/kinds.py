"""The kinds of a Kalypso control plane.

`fleet` builds and validates them, each from one document at the place `where`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from kalypso_actions.errors import Location
from kalypso_actions.model.documents import Reading, TextPlace
from kalypso_actions.model.layout import assignment_folder
from kalypso_actions.model.placements import SCHEDULER_ANNOTATION, PlacementState

FLUX_NAME_LABEL = "kustomize.toolkit.fluxcd.io/name"
FLUX_NAMESPACE_LABEL = "kustomize.toolkit.fluxcd.io/namespace"
"""Flux labels all objects that it applies; templates and selectors can use these labels."""

RESERVED_LABELS: Final = frozenset({"workload", "workspace", FLUX_NAME_LABEL, FLUX_NAMESPACE_LABEL})
"""The labels of targets that registrations set."""

PLATFORM_CONFIG_LABEL = "platform-config"
ENGINE_ANNOTATION = "kalypso.io/engine"
DOCUMENTS_FROM_ANNOTATION = "kalypso.io/documents-from"
FIRST_ENVIRONMENT_ANNOTATION = "kalypso.io/first-environment"
NEXT_ENVIRONMENT_ANNOTATION = "kalypso.io/next-environment"
COMPLIANCE_ANNOTATION = "kalypso.io/compliance"
MANIFESTS_ANNOTATION = "kalypso.io/manifests"
CLUSTERS_ANNOTATION = "kalypso.io/clusters"
IGNORE_ANNOTATION = "kalypso.io/ignore"
IGNORE_REASON_ANNOTATION = "kalypso.io/ignore-reason"
FOREIGN_ENVIRONMENTS_ANNOTATION = "kalypso.io/foreign-environments"

TEMPLATE_TYPES = ("reconciler", "namespace", "config")
"""The values that upstream's custom resource definition accepts as the type of a Template."""

MAIN_BASE_REPO = "main"
"""The BaseRepo of this name has the promoted commit of main."""


PATH_FAULTS: Final = frozenset({"folder-missing", "path-outside-repository"})
"""The codes of problems of a path that a document names."""

_NO_BRANCH: Final = re.compile(r"there is no (?:such )?branch|is not the name of a branch")


@dataclass(frozen=True, slots=True)
class RepositoryPath:
    """A folder on a branch of a repository: the `repo`, `branch`, `path` of many kinds.

    `places` has the places of these fields in the document.
    """

    repo: str
    branch: str
    path: str
    places: Mapping[str, Location] = field(default_factory=dict, compare=False, repr=False)

    def culprit(self, fault: str, where: Location) -> Location:
        """Return the place of the field that a fault of reading the folder is about, or `where`."""
        if self.lacks_branch(fault):
            return self.places.get("branch", where)
        is_path = fault.startswith(("the folder ", "the path "))
        return self.places.get("path" if is_path else "repo", where)

    def lacks_branch(self, fault: str) -> bool:
        """Whether a fault of reading the folder is that the branch does not exist."""
        return bool(_NO_BRANCH.search(fault))

    def located(self, reading: Reading) -> Reading:
        """Return the folder's documents, with problems of the path itself at the field."""
        problems = tuple(
            replace(item, where=self.places.get("path", item.where))
            if item.code in PATH_FAULTS and not (item.where and item.where.path)
            else item
            for item in reading.problems
        )
        return replace(reading, problems=problems)


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment and the branch of the control plane that holds it."""

    name: str
    control_plane: RepositoryPath
    annotations: Mapping[str, str]
    where: Location
    next_environment_where: Location
    """The place of the annotation for next environments, or a place near it."""
    scheduler_where: Location | None = None

    @property
    def scheduler(self) -> str:
        """The name of its scheduler; "" for the default."""
        return self.annotations.get(SCHEDULER_ANNOTATION, "").strip()

    @property
    def is_first(self) -> bool:
        """Whether an annotation marks it as an environment that new commits of main reach first."""
        return self.annotations.get(FIRST_ENVIRONMENT_ANNOTATION, "").strip() == "true"

    @property
    def next_environments(self) -> tuple[str, ...]:
        """The environments of the next promotion, from a comma-separated annotation."""
        return _names(self.annotations.get(NEXT_ENVIRONMENT_ANNOTATION, ""))


@dataclass(frozen=True, slots=True)
class BaseRepo:
    """A source of an environment, usually a promoted commit of main."""

    name: str
    source: RepositoryPath
    commit: str | None
    where: Location
    commit_where: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GitOpsRepo:
    """The target of an environment's manifests."""

    name: str
    target: RepositoryPath
    where: Location

    def at(self, spec_field: str) -> Location:
        """Return the place of a field of `spec`."""
        return self.target.places.get(spec_field, self.where)


@dataclass(frozen=True, slots=True)
class ClusterType:
    """A set of clusters with equal configuration, and the Templates that they use, by name.

    `places` has the places of the fields of `spec`.
    """

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    reconciler: str
    namespace_service: str
    config_type: str
    where: Location
    places: Mapping[str, Location] = field(default_factory=dict)

    def at(self, spec_field: str) -> Location:
        """Return the place of a field of `spec`."""
        return self.places.get(spec_field, self.where)

    @property
    def reports_compliance(self) -> bool:
        """Whether its clusters report compliance; an annotation can turn that off."""
        return self.annotations.get(COMPLIANCE_ANNOTATION, "").strip() != "none"

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names or ids of its clusters, which should report; separated by commas or spaces."""
        names = self.annotations.get(CLUSTERS_ANNOTATION, "").replace(",", " ").split()
        return tuple({name.lower(): name for name in names}.values())


@dataclass(frozen=True, slots=True)
class LabelExpression:
    """One entry of `matchExpressions`, as written."""

    key: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A Kubernetes LabelSelector as written; `where` is its place in the policy.

    `places` has the places of its requirements by label key, `value_places` the places of their
    values by key and value.
    """

    match_labels: Mapping[str, str]
    match_expressions: tuple[LabelExpression, ...]
    where: Location
    places: Mapping[str, Location] = field(default_factory=dict)
    value_places: Mapping[tuple[str, str], Location] = field(default_factory=dict)

    def at(self, key: str, value: str = "") -> Location:
        """Return the place of the requirement on a label, or of one of its values."""
        return self.value_places.get((key, value)) or self.places.get(key, self.where)


@dataclass(frozen=True, slots=True)
class SchedulingPolicy:
    """Assigns deployment targets to cluster types."""

    name: str
    workspace: str
    deployment_targets: LabelSelector
    cluster_types: LabelSelector
    where: Location
    workspace_where: Location | None = None
    name_where: Location | None = None
    placement_where: Location | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """Platform configuration: texts by key, with the place of each key."""

    name: str
    labels: Mapping[str, str]
    data: Mapping[str, str]
    where: Location
    places: Mapping[str, Location] = field(default_factory=dict)
    label_places: Mapping[str, Location] = field(default_factory=dict)
    label_value_places: Mapping[str, Location] = field(default_factory=dict)

    def at(self, key: str) -> Location:
        """Return the place of a key of `data`."""
        return self.places.get(key, self.where)


@dataclass(frozen=True, slots=True)
class ConfigSchema:
    """A JSON Schema, as text, for the merged configuration."""

    name: str
    labels: Mapping[str, str]
    schema: str
    where: Location
    label_places: Mapping[str, Location] = field(default_factory=dict)
    label_value_places: Mapping[str, Location] = field(default_factory=dict)
    schema_place: TextPlace | None = None

    def at(self, position: int) -> Location:
        """Return the place of a position in the text of the schema."""
        return _in_text(self.where, self.schema_place, self.schema, position)


def _in_text(where: Location, place: TextPlace | None, text: str, position: int) -> Location:
    """Return the place of a position in a text of a document at `where`."""
    if place is None:
        return where
    line = text.count("\n", 0, position) + 1
    line, column = place.at(line, position - text.rfind("\n", 0, position))
    return replace(where, line=line, column=column)


@dataclass(frozen=True, slots=True)
class Template:
    """A template of manifests, which are texts or, in the old form, objects."""

    name: str
    type: str
    content_type: str
    manifests: tuple[str | Mapping[str, object], ...]
    annotations: Mapping[str, str]
    where: Location
    manifest_places: tuple[TextPlace, ...] = ()
    type_where: Location | None = None
    content_type_where: Location | None = None

    def at(self, index: int, line: int = 1, column: int = 0) -> Location:
        """Return the place of a line and column of a manifest, counted from 1; 0 is unknown."""
        if not self.manifest_places:
            return replace(self.where, column=0)
        line, column = self.manifest_places[index].at(line, column)
        return replace(self.where, line=line, column=column)


@dataclass(frozen=True, slots=True)
class WorkloadRegistration:
    """A repository of Workloads, and their workspace."""

    name: str
    source: RepositoryPath
    workspace: str
    where: Location
    workspace_where: Location | None = field(default=None, compare=False)
    """The place of `spec.workspace`, or of `spec` without one."""

    @property
    def source_where(self) -> Location:
        """The place of the repository's URL."""
        return self.source.places.get("repo", self.where)


@dataclass(frozen=True, slots=True)
class DeploymentTarget:
    """A deployment of a workload in one environment.

    `labels` are complete: the target's, overridden by the Workload's, then `workload`, `workspace`
    and Flux's. `registration` is "" for a hand-written target. `places` has the places of the keys
    of `manifests`, `written_labels` the values and places of labels that another value may replace.
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
    environment_where: Location | None = None
    places: Mapping[str, Location] = field(default_factory=dict)
    schema_places: tuple[TextPlace, ...] = field(default=(), compare=False)
    written_labels: Mapping[str, tuple[str, Location]] = field(default_factory=dict, compare=False)

    def at(self, key: str) -> Location:
        """Return the place of a key of `manifests`."""
        return self.places.get(key, self.where)

    def schema_at(self, text: str, position: int) -> Location:
        """Return the place of a position in the text of one of `config_schemas`."""
        index = self.config_schemas.index(text)
        place = self.schema_places[index] if index < len(self.schema_places) else None
        return _in_text(self.where, place, text, position)


@dataclass(frozen=True, slots=True)
class Workload:
    """A Workload of a registered repository, with its targets for all environments."""

    name: str
    targets: tuple[DeploymentTarget, ...]
    where: Location
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def foreign_environments(self) -> tuple[str, ...]:
        """The environments of other control planes that share it, from an annotation."""
        return _names(self.annotations.get(FOREIGN_ENVIRONMENTS_ANNOTATION, ""))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A deployment target on a cluster type, with all policies that assign it."""

    target: DeploymentTarget
    cluster_type: ClusterType
    policies: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The folder of its files in the tree."""
        return assignment_folder(self.cluster_type.name, self.target.name)


@dataclass(frozen=True, slots=True)
class Fleet:
    """The resources of an environment; each kind is sorted by name, with unique names.

    `other_targets` are hand-written for other environments.
    """

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
    other_targets: tuple[DeploymentTarget, ...] = ()
    placement: PlacementState = field(default_factory=PlacementState)


FLEET_FIELDS: Final[Mapping[type, str]] = {
    BaseRepo: "base_repos",
    ClusterType: "cluster_types",
    ConfigMap: "config_maps",
    ConfigSchema: "config_schemas",
    GitOpsRepo: "gitops_repos",
    SchedulingPolicy: "policies",
    Template: "templates",
    WorkloadRegistration: "registrations",
}
"""The fields of a fleet with all resources of a kind; targets are divided by environment."""


def _names(text: str) -> tuple[str, ...]:
    """Split a comma-separated annotation."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


RegistrationText = Literal["strict", "any"]

MAX_TARGETS: Final = 10_000
"""An application team writes its targets, and each of them may run on thousands of cluster types.
Large applications have some hundred; one target for each shop or site makes some thousand."""


class DeliveryRules(NamedTuple):
    """The rules for the Workloads of one registration.

    With the `text` any, texts that Templates must not print do not make a registration invalid.
    `max_targets` is the most deployment targets that it may deliver to an environment.
    """

    text: RegistrationText = "strict"
    max_targets: int = MAX_TARGETS


DELIVERY: Final = DeliveryRules()
"""The rules by default."""
