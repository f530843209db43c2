"""The fields of each kind.

A field is required if upstream's custom resource definition requires it; a required text may be
empty. Values are not coerced: as in Kubernetes, a text field refuses a number. Editors show the
descriptions: `editor_schemas` turns these models into JSON Schemas.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from kalypso_actions.model.kinds import TEMPLATE_TYPES
from kalypso_actions.model.object_ids import is_commit_id

KALYPSO_API = "scheduler.kalypso.io/v1alpha1"
CORE_API = "v1"

Texts = dict[str, str]


def _null_is_empty(value: object) -> object:
    """Accept `labels:` without a value, as Kubernetes does."""
    return {} if value is None else value


def _text_or_object(value: object) -> object:
    if not isinstance(value, str | dict):
        raise PydanticCustomError("manifest_type", "must be a text or, in the old form, an object")
    return value


NullableTexts = Annotated[
    Texts,
    BeforeValidator(_null_is_empty),
    WithJsonSchema({"type": ["object", "null"], "additionalProperties": {"type": "string"}}),
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
    labels: NullableTexts = Field(
        default_factory=dict,
        description="Policies select objects by their labels, and configuration applies by labels.",
    )
    annotations: NullableTexts = Field(
        default_factory=dict, description="Kalypso reads those that begin with kalypso.io/."
    )
    finalizers: list[str] | None = None
    generate_name: str | None = Field(None, alias="generateName")
    creation_timestamp: Any = Field(None, alias="creationTimestamp")


class Resource(StrictModel):
    """The common fields of documents."""

    api_version: str = Field("", alias="apiVersion")
    kind: str
    metadata: Metadata
    status: Any = None


class RepositorySpec(StrictModel):
    """`repo`, `branch`, `path`."""

    repo: str = Field(description="The URL of a repository.")
    branch: str = Field(description="A branch of the repository.")
    path: str = Field(description="A folder of the branch; . for its root.")


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

    match_labels: NullableTexts = Field(
        default_factory=dict, alias="matchLabels", description="Labels that an object must have."
    )
    match_expressions: list[LabelExpressionSpec] | None = Field(
        None, alias="matchExpressions", description="Requirements that must all match."
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
        description="What it renders.", json_schema_extra={"enum": list(TEMPLATE_TYPES)}
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
    labels: NullableTexts = Field(
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


class BaseRepoResource(Resource):
    """A source of an environment: the one named main has the promoted commit."""

    spec: BaseRepoSpec


class GitOpsRepoResource(Resource):
    """The repository and branch of the rendered manifests."""

    spec: RepositorySpec


class ClusterTypeResource(Resource):
    """Clusters with equal configuration, and the Templates that they use."""

    spec: ClusterTypeSpec


class SchedulingPolicyResource(Resource):
    """A policy, which assigns deployment targets to cluster types."""

    spec: SchedulingPolicySpec


class ConfigMapResource(Resource):
    """Platform configuration for the cluster types and targets that have its labels."""

    data: NullableTexts = Field(
        default_factory=dict,
        description="Configuration, with the label platform-config: 'true'; lists and mappings as "
        "texts.",
    )
    binary_data: NullableTexts = Field(default_factory=dict, alias="binaryData")
    immutable: bool | None = None


class ConfigSchemaResource(Resource):
    """A JSON Schema for the configuration where its labels apply."""

    spec: ConfigSchemaSpec


class TemplateResource(Resource):
    """A template of manifests, which cluster types name."""

    spec: TemplateSpec


class WorkloadRegistrationResource(Resource):
    """An application's repository, and its workspace."""

    spec: WorkloadRegistrationSpec


class WorkloadResource(Resource):
    """An application, with its deployment targets."""

    spec: WorkloadSpec


class DeploymentTargetResource(Resource):
    """A deployment target that is written by hand."""

    spec: TargetSpec
