"""The fields of each kind.

Required fields are those of upstream's custom resource definitions, where a required text may be
empty. Values are not coerced: like Kubernetes, a text field refuses a number.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

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


NullableTexts = Annotated[Texts, BeforeValidator(_null_is_empty)]
Manifest = Annotated[Any, BeforeValidator(_text_or_object)]


class StrictModel(BaseModel):
    """A strict model that ignores unknown fields; `parsing` warns of them."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, populate_by_name=True)


class Metadata(StrictModel):
    """The user-written part of Kubernetes' ObjectMeta."""

    name: str
    namespace: str | None = None
    labels: NullableTexts = Field(default_factory=dict)
    annotations: NullableTexts = Field(default_factory=dict)
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

    repo: str
    branch: str
    path: str


class EnvironmentSpec(StrictModel):
    """Spec of an Environment."""

    control_plane: RepositorySpec = Field(alias="controlPlane")


def _commit_or_empty(text: str) -> str:
    if text and not is_commit_id(text):
        raise PydanticCustomError(
            "commit", "must be a full commit id, 40 hexadecimal digits in lower case"
        )
    return text


class BaseRepoSpec(RepositorySpec):
    """Spec of a BaseRepo."""

    commit: Annotated[str, AfterValidator(_commit_or_empty)] | None = None


class ClusterTypeSpec(StrictModel):
    """Spec of a ClusterType; the old form has no `configType`."""

    reconciler: str
    namespace_service: str = Field(alias="namespaceService")
    config_type: str = Field("", alias="configType")


class LabelExpressionSpec(StrictModel):
    """An entry of `matchExpressions`."""

    key: str
    operator: str
    values: list[str] | None = None


class LabelSelectorSpec(StrictModel):
    """Kubernetes' LabelSelector."""

    match_labels: NullableTexts = Field(default_factory=dict, alias="matchLabels")
    match_expressions: list[LabelExpressionSpec] | None = Field(None, alias="matchExpressions")


class ClusterTypeSelectorSpec(StrictModel):
    """Which cluster types a policy selects."""

    label_selector: LabelSelectorSpec = Field(alias="labelSelector")


class DeploymentTargetSelectorSpec(ClusterTypeSelectorSpec):
    """Which deployment targets a policy selects."""

    workspace: str | None = None


class SchedulingPolicySpec(StrictModel):
    """Spec of a SchedulingPolicy."""

    deployment_target_selector: DeploymentTargetSelectorSpec = Field(
        alias="deploymentTargetSelector"
    )
    cluster_type_selector: ClusterTypeSelectorSpec = Field(alias="clusterTypeSelector")


class ConfigSchemaSpec(StrictModel):
    """Spec of a ConfigSchema."""

    schema_text: str = Field(alias="schema")


class TemplateSpec(StrictModel):
    """Spec of a Template."""

    type: str
    content_type: str | None = Field(None, alias="contentType")
    manifests: list[Manifest]


class WorkloadRegistrationSpec(StrictModel):
    """Spec of a WorkloadRegistration."""

    workload: RepositorySpec
    workspace: str | None = None


class TargetSpec(StrictModel):
    """The common fields of deployment targets."""

    environment: str
    manifests: Texts
    config_schemas: list[str] | None = Field(None, alias="configSchemas")


class WorkloadTargetSpec(TargetSpec):
    """An entry of a Workload's `deploymentTargets`."""

    name: str
    labels: NullableTexts = Field(default_factory=dict)


class WorkloadSpec(StrictModel):
    """Spec of a Workload."""

    deployment_targets: list[WorkloadTargetSpec] = Field(alias="deploymentTargets")
    config_schemas: list[str] | None = Field(None, alias="configSchemas")


class EnvironmentResource(Resource):
    """An Environment document."""

    spec: EnvironmentSpec


class BaseRepoResource(Resource):
    """A BaseRepo document."""

    spec: BaseRepoSpec


class GitOpsRepoResource(Resource):
    """A GitOpsRepo document."""

    spec: RepositorySpec


class ClusterTypeResource(Resource):
    """A ClusterType document."""

    spec: ClusterTypeSpec


class SchedulingPolicyResource(Resource):
    """A SchedulingPolicy document."""

    spec: SchedulingPolicySpec


class ConfigMapResource(Resource):
    """A ConfigMap document."""

    data: NullableTexts = Field(default_factory=dict)
    binary_data: NullableTexts = Field(default_factory=dict, alias="binaryData")
    immutable: bool | None = None


class ConfigSchemaResource(Resource):
    """A ConfigSchema document."""

    spec: ConfigSchemaSpec


class TemplateResource(Resource):
    """A Template document."""

    spec: TemplateSpec


class WorkloadRegistrationResource(Resource):
    """A WorkloadRegistration document."""

    spec: WorkloadRegistrationSpec


class WorkloadResource(Resource):
    """A Workload document."""

    spec: WorkloadSpec


class DeploymentTargetResource(Resource):
    """A hand-written DeploymentTarget document."""

    spec: TargetSpec
