"""The fields of each kind, and its value of `model.kinds`.

A field is required if upstream's custom resource definition requires it; a required text may be
empty. Values are not coerced: as in Kubernetes, a text field refuses a number. Editors show the
descriptions: `editor_schemas` turns these models into JSON Schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from kalypso_actions.errors import Location
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Path, Places, TextPlace
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.placements import PLACEMENT_ANNOTATION, SCHEDULER_ANNOTATION

KALYPSO_API = "scheduler.kalypso.io/v1alpha1"
CORE_API = "v1"

LABELS: Final[Path] = ("metadata", "labels")

Texts = dict[str, str]


def _null_is_empty(value: object) -> object:
    """Accept `labels:` without a value, as Kubernetes does."""
    return {} if value is None else value


def _null_label_is_empty(value: object) -> object:
    """Accept a label or annotation without a value, as Kubernetes does."""
    if isinstance(value, dict):
        return {key: "" if text is None else text for key, text in value.items()}
    return _null_is_empty(value)


def _text_or_object(value: object) -> object:
    if not isinstance(value, str | dict):
        raise PydanticCustomError("manifest_type", "must be a text or, in the old form, an object")
    return value


NullableTexts = Annotated[
    Texts,
    BeforeValidator(_null_is_empty),
    WithJsonSchema({"type": ["object", "null"], "additionalProperties": {"type": "string"}}),
]
Labels = Annotated[
    Texts,
    BeforeValidator(_null_label_is_empty),
    WithJsonSchema(
        {"type": ["object", "null"], "additionalProperties": {"type": ["string", "null"]}}
    ),
]
Manifest = Annotated[
    Any, BeforeValidator(_text_or_object), WithJsonSchema({"type": ["string", "object"]})
]


class StrictModel(BaseModel):
    """A strict model that ignores unknown fields; `parsing` warns about them."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, populate_by_name=True)


class Metadata(StrictModel):
    """The user-written part of Kubernetes' ObjectMeta."""

    name: str = Field(description="The name, unique in its kind.")
    namespace: str | None = None
    labels: Labels = Field(
        default_factory=dict,
        description="Policies select objects by their labels, and configuration applies by labels.",
    )
    annotations: Labels = Field(
        default_factory=dict, description="Kalypso reads those that begin with kalypso.io/."
    )
    finalizers: list[str] | None = None
    generate_name: str | None = Field(None, alias="generateName")
    creation_timestamp: Any = Field(None, alias="creationTimestamp")


class Resource(StrictModel):
    """The common fields of documents, and how a document becomes a value of `model.kinds`."""

    API_VERSION: ClassVar[str] = KALYPSO_API

    api_version: str = Field("", alias="apiVersion")
    kind: str
    metadata: Metadata
    status: Any = None

    def build(self, document: Document) -> object:
        """Return the value; the document gives the places."""
        raise NotImplementedError


class RepositorySpec(StrictModel):
    """`repo`, `branch`, `path`."""

    repo: str = Field(description="The URL of a repository.")
    branch: str = Field(description="A branch of the repository.")
    path: str = Field(description="A folder of the branch; . for its root.")

    def source(self, document: Document, *path: str) -> kinds.RepositoryPath:
        """Return the folder as a value; `path` is its place in the document."""
        places = {name: document.at(*path, name) for name in ("repo", "branch", "path")}
        return kinds.RepositoryPath(self.repo, self.branch, self.path, places)


class EnvironmentSpec(StrictModel):
    """Spec of an Environment."""

    control_plane: RepositorySpec = Field(
        alias="controlPlane", description="The branch of the control plane with the environment."
    )


def _commit_or_empty(text: str) -> str:
    if text and not is_commit_id(text):
        raise PydanticCustomError(
            "commit", "must be a full commit id, 40 hexadecimal digits in lower case"
        )
    return text


class BaseRepoSpec(RepositorySpec):
    """Spec of a BaseRepo."""

    commit: Annotated[str, AfterValidator(_commit_or_empty)] | None = Field(
        None, description="The promoted commit, which the chain writes; empty for the head."
    )


class ClusterTypeSpec(StrictModel):
    """Spec of a ClusterType; the old form has no `configType`."""

    reconciler: str = Field(description="The Template of reconciler.yaml.")
    namespace_service: str = Field(
        alias="namespaceService", description="The Template of namespace.yaml."
    )
    config_type: str = Field(
        "",
        alias="configType",
        description="The Template of the configuration; or configMap or envFile, which need none.",
    )


class LabelExpressionSpec(StrictModel):
    """An entry of `matchExpressions`."""

    key: str = Field(description="The key of a label.")
    operator: str = Field(json_schema_extra={"enum": ["In", "NotIn", "Exists", "DoesNotExist"]})
    values: list[str] | None = Field(None, description="At least one for In and NotIn, else none.")


class LabelSelectorSpec(StrictModel):
    """Kubernetes' LabelSelector."""

    match_labels: Labels = Field(
        default_factory=dict, alias="matchLabels", description="Labels that an object must have."
    )
    match_expressions: list[LabelExpressionSpec] | None = Field(
        None, alias="matchExpressions", description="Requirements that must all match."
    )

    def build(self, document: Document, field: str) -> kinds.LabelSelector:
        """Return the selector of a policy's `field` as a value."""
        path = ("spec", field, "labelSelector")
        places = {key: document.key_at(*path, "matchLabels", key) for key in self.match_labels}
        value_places = {
            (key, value): document.at(*path, "matchLabels", key)
            for key, value in self.match_labels.items()
        }
        for index, entry in enumerate(self.match_expressions or ()):
            here = (*path, "matchExpressions", index)
            places[entry.key] = document.at(*here)
            for number, value in enumerate(entry.values or ()):
                value_places[entry.key, value] = document.at(*here, "values", number)
        return kinds.LabelSelector(
            match_labels=self.match_labels,
            match_expressions=tuple(
                kinds.LabelExpression(entry.key, entry.operator, tuple(entry.values or ()))
                for entry in self.match_expressions or ()
            ),
            where=document.key_at(*path),
            places=places,
            value_places=value_places,
        )


class ClusterTypeSelectorSpec(StrictModel):
    """Which cluster types a policy selects."""

    label_selector: LabelSelectorSpec = Field(
        alias="labelSelector", description="An empty selector selects everything."
    )


class DeploymentTargetSelectorSpec(ClusterTypeSelectorSpec):
    """Which deployment targets a policy selects."""

    workspace: str | None = Field(None, description="Only targets of this workspace.")


class SchedulingPolicySpec(StrictModel):
    """Spec of a SchedulingPolicy."""

    deployment_target_selector: DeploymentTargetSelectorSpec = Field(
        alias="deploymentTargetSelector", description="The deployment targets to assign."
    )
    cluster_type_selector: ClusterTypeSelectorSpec = Field(
        alias="clusterTypeSelector", description="The cluster types to assign them to."
    )


class ConfigSchemaSpec(StrictModel):
    """Spec of a ConfigSchema."""

    schema_text: str = Field(
        alias="schema", description="A JSON Schema, as text, for the merged configuration."
    )


class TemplateSpec(StrictModel):
    """Spec of a Template."""

    type: str = Field(
        description="What it renders.", json_schema_extra={"enum": list(kinds.TEMPLATE_TYPES)}
    )
    content_type: str | None = Field(
        None, alias="contentType", description="sh for a shell script, else YAML."
    )
    manifests: list[Manifest] = Field(
        description="Go templates, or Jinja2 with the annotation kalypso.io/engine: jinja2."
    )


class WorkloadRegistrationSpec(StrictModel):
    """Spec of a WorkloadRegistration."""

    workload: RepositorySpec = Field(description="The folder with the application's Workloads.")
    workspace: str | None = Field(None, description="The workspace of its targets.")


class TargetSpec(StrictModel):
    """The common fields of deployment targets."""

    environment: str = Field(description="The name of the environment to deploy to.")
    manifests: Texts = Field(
        description="What Templates read as .Manifests: repo, branch and path of the manifests."
    )
    config_schemas: list[str] | None = Field(
        None, alias="configSchemas", description="JSON Schemas, as texts, for the configuration."
    )


class WorkloadTargetSpec(TargetSpec):
    """An entry of a Workload's `deploymentTargets`."""

    name: str = Field(description="The target is named <workload>-<name>.")
    labels: Labels = Field(
        default_factory=dict, description="Policies select the target by these labels."
    )


class WorkloadSpec(StrictModel):
    """Spec of a Workload."""

    deployment_targets: list[WorkloadTargetSpec] = Field(
        alias="deploymentTargets", description="Where the workload runs, by environment."
    )
    config_schemas: list[str] | None = Field(
        None, alias="configSchemas", description="JSON Schemas for all of its targets."
    )


class EnvironmentResource(Resource):
    """An environment, and the branch of the control plane that has it."""

    spec: EnvironmentSpec

    def build(self, document: Document) -> kinds.Environment:
        """Build an Environment."""
        return kinds.Environment(
            name=self.metadata.name,
            control_plane=self.spec.control_plane.source(document, "spec", "controlPlane"),
            annotations=self.metadata.annotations,
            where=document.where,
            next_environment_where=document.at(
                "metadata", "annotations", kinds.NEXT_ENVIRONMENT_ANNOTATION
            ),
            scheduler_where=document.at("metadata", "annotations", SCHEDULER_ANNOTATION),
        )


class BaseRepoResource(Resource):
    """A source of an environment: the one named main has the promoted commit."""

    spec: BaseRepoSpec

    def build(self, document: Document) -> kinds.BaseRepo:
        """Build a BaseRepo; an empty `commit` becomes None."""
        return kinds.BaseRepo(
            name=self.metadata.name,
            source=self.spec.source(document, "spec"),
            commit=self.spec.commit or None,
            where=document.where,
            commit_where=document.at("spec", "commit"),
        )


class GitOpsRepoResource(Resource):
    """The repository and branch of the rendered manifests."""

    spec: RepositorySpec

    def build(self, document: Document) -> kinds.GitOpsRepo:
        """Build a GitOpsRepo."""
        return kinds.GitOpsRepo(
            name=self.metadata.name,
            target=self.spec.source(document, "spec"),
            where=document.where,
        )


class ClusterTypeResource(Resource):
    """Clusters with equal configuration, and the Templates that they use."""

    spec: ClusterTypeSpec

    def build(self, document: Document) -> kinds.ClusterType:
        """Build a ClusterType, without Flux's labels."""
        return kinds.ClusterType(
            name=self.metadata.name,
            labels=self.metadata.labels,
            annotations=self.metadata.annotations,
            reconciler=self.spec.reconciler,
            namespace_service=self.spec.namespace_service,
            config_type=self.spec.config_type,
            where=document.where,
            places={
                name: document.at("spec", name)
                for name in ("reconciler", "namespaceService", "configType")
            }
            | {"metadata.name": document.at("metadata", "name")},
        )


class SchedulingPolicyResource(Resource):
    """A policy, which assigns deployment targets to cluster types."""

    spec: SchedulingPolicySpec

    def build(self, document: Document) -> kinds.SchedulingPolicy:
        """Build a SchedulingPolicy."""
        targets = self.spec.deployment_target_selector
        cluster_types = self.spec.cluster_type_selector
        return kinds.SchedulingPolicy(
            name=self.metadata.name,
            workspace=targets.workspace or "",
            deployment_targets=targets.label_selector.build(document, "deploymentTargetSelector"),
            cluster_types=cluster_types.label_selector.build(document, "clusterTypeSelector"),
            where=document.where,
            workspace_where=document.at("spec", "deploymentTargetSelector", "workspace"),
            name_where=document.at("metadata", "name"),
            placement_where=document.at("metadata", "annotations", PLACEMENT_ANNOTATION),
            annotations=self.metadata.annotations,
        )


class ConfigMapResource(Resource):
    """Platform configuration for the cluster types and targets that have its labels."""

    API_VERSION: ClassVar[str] = CORE_API

    data: NullableTexts = Field(
        default_factory=dict,
        description="Configuration, with the label platform-config: 'true'; lists and mappings as "
        "texts.",
    )
    binary_data: NullableTexts = Field(default_factory=dict, alias="binaryData")
    immutable: bool | None = None

    def build(self, document: Document) -> kinds.ConfigMap:
        """Build a ConfigMap with the place of each key."""
        return kinds.ConfigMap(
            name=self.metadata.name,
            labels=self.metadata.labels,
            data=self.data,
            where=document.where,
            places=Places(document.at, ("data",), self.data),
            label_places=Places(document.key_at, LABELS, self.metadata.labels),
            label_value_places=Places(document.at, LABELS, self.metadata.labels),
        )


class ConfigSchemaResource(Resource):
    """A JSON Schema for the configuration where its labels apply."""

    spec: ConfigSchemaSpec

    def build(self, document: Document) -> kinds.ConfigSchema:
        """Build a ConfigSchema."""
        return kinds.ConfigSchema(
            name=self.metadata.name,
            labels=self.metadata.labels,
            schema=self.spec.schema_text,
            where=document.where,
            schema_place=document.text_at("spec", "schema"),
            label_places=Places(document.key_at, LABELS, self.metadata.labels),
            label_value_places=Places(document.at, LABELS, self.metadata.labels),
        )


class TemplateResource(Resource):
    """A template of manifests, which cluster types name."""

    spec: TemplateSpec

    def build(self, document: Document) -> kinds.Template:
        """Build a Template with the first line of each manifest."""
        manifests = self.spec.manifests
        return kinds.Template(
            name=self.metadata.name,
            type=self.spec.type,
            content_type=self.spec.content_type or "",
            manifests=tuple(manifests),
            annotations=self.metadata.annotations,
            where=document.where,
            manifest_places=tuple(
                document.text_at("spec", "manifests", index) for index in range(len(manifests))
            ),
            type_where=document.at("spec", "type"),
            content_type_where=document.at("spec", "contentType"),
        )


class WorkloadRegistrationResource(Resource):
    """An application's repository, and its workspace."""

    spec: WorkloadRegistrationSpec

    def build(self, document: Document) -> kinds.WorkloadRegistration:
        """Build a WorkloadRegistration."""
        return kinds.WorkloadRegistration(
            name=self.metadata.name,
            source=self.spec.workload.source(document, "spec", "workload"),
            workspace=self.spec.workspace or "",
            where=document.where,
            workspace_where=document.at("spec", "workspace"),
        )


class WorkloadResource(Resource):
    """An application, with its deployment targets."""

    spec: WorkloadSpec

    def build(self, document: Document) -> kinds.Workload:
        """Build a Workload; its targets lack the workspace and labels of the registration.

        The schemas of a target are its own, then the Workload's.
        """
        name = self.metadata.name
        shared = _text_places(document, self.spec.config_schemas, "spec", "configSchemas")
        return kinds.Workload(
            name=name,
            targets=tuple(
                kinds.DeploymentTarget(
                    name=f"{name}-{target.name}",
                    environment=target.environment,
                    workload=name,
                    workspace="",
                    labels={**target.labels, **self.metadata.labels},
                    manifests=target.manifests,
                    config_schemas=(
                        *(target.config_schemas or ()),
                        *(self.spec.config_schemas or ()),
                    ),
                    registration="",
                    where=document.at("spec", "deploymentTargets", index),
                    environment_where=document.at(
                        "spec", "deploymentTargets", index, "environment"
                    ),
                    places=Places(
                        document.at,
                        ("spec", "deploymentTargets", index, "manifests"),
                        target.manifests,
                    ),
                    written_labels=_written_labels(
                        target.labels, self.metadata.labels, document, index
                    ),
                    schema_places=(
                        *_text_places(
                            document,
                            target.config_schemas,
                            *("spec", "deploymentTargets", index, "configSchemas"),
                        ),
                        *shared,
                    ),
                )
                for index, target in enumerate(self.spec.deployment_targets)
            ),
            where=document.where,
            annotations=self.metadata.annotations,
        )


def _written_labels(
    own: Mapping[str, str], shared: Mapping[str, str], document: Document, index: int
) -> dict[str, tuple[str, Location]]:
    """Return the labels of a target that its Workload or its registration may replace."""
    replaced = {key for key in own.keys() & shared.keys() if own[key] != shared[key]}
    of_target = {
        key: (own[key], document.at("spec", "deploymentTargets", index, "labels", key))
        for key in replaced | (own.keys() & kinds.RESERVED_LABELS)
    }
    of_workload = {
        key: (shared[key], document.at("metadata", "labels", key))
        for key in shared.keys() & kinds.RESERVED_LABELS
    }
    return of_target | of_workload


class DeploymentTargetResource(Resource):
    """A deployment target that is written by hand."""

    spec: TargetSpec

    def build(self, document: Document) -> kinds.DeploymentTarget:
        """Build a hand-written DeploymentTarget; its labels name workload and workspace."""
        labels = self.metadata.labels
        return kinds.DeploymentTarget(
            name=self.metadata.name,
            environment=self.spec.environment,
            workload=labels.get("workload", ""),
            workspace=labels.get("workspace", ""),
            labels=labels,
            manifests=self.spec.manifests,
            config_schemas=tuple(self.spec.config_schemas or ()),
            registration="",
            where=document.where,
            environment_where=document.at("spec", "environment"),
            places=Places(document.at, ("spec", "manifests"), self.spec.manifests),
            schema_places=_text_places(document, self.spec.config_schemas, "spec", "configSchemas"),
        )


def _text_places(
    document: Document, texts: list[str] | None, *path: str | int
) -> tuple[TextPlace, ...]:
    """Return the places of a list of texts."""
    return tuple(document.text_at(*path, index) for index in range(len(texts or ())))
