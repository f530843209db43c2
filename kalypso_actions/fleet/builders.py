"""Build the values of `model.kinds` from validated documents, one function for each kind.

Each function takes the document, for places, and its pydantic model.
"""

from __future__ import annotations

from typing import Final

from kalypso_actions.fleet import schemas
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Path, Places
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.placements import PLACEMENT_ANNOTATION, SCHEDULER_ANNOTATION

LABELS: Final[Path] = ("metadata", "labels")


def environment(document: Document, resource: schemas.EnvironmentResource) -> kinds.Environment:
    """Build an Environment."""
    return kinds.Environment(
        name=resource.metadata.name,
        control_plane=_repository_path(resource.spec.control_plane),
        annotations=resource.metadata.annotations,
        where=document.where,
        next_environment_where=document.at(
            "metadata", "annotations", kinds.NEXT_ENVIRONMENT_ANNOTATION
        ),
        scheduler_where=document.at("metadata", "annotations", SCHEDULER_ANNOTATION),
    )


def base_repo(document: Document, resource: schemas.BaseRepoResource) -> kinds.BaseRepo:
    """Build a BaseRepo; an empty `commit` becomes None."""
    return kinds.BaseRepo(
        name=resource.metadata.name,
        source=_repository_path(resource.spec),
        commit=resource.spec.commit or None,
        where=document.where,
        commit_where=document.at("spec", "commit"),
    )


def gitops_repo(document: Document, resource: schemas.GitOpsRepoResource) -> kinds.GitOpsRepo:
    """Build a GitOpsRepo."""
    return kinds.GitOpsRepo(
        name=resource.metadata.name,
        target=_repository_path(resource.spec),
        where=document.where,
    )


def cluster_type(document: Document, resource: schemas.ClusterTypeResource) -> kinds.ClusterType:
    """Build a ClusterType, without Flux's labels."""
    return kinds.ClusterType(
        name=resource.metadata.name,
        labels=resource.metadata.labels,
        annotations=resource.metadata.annotations,
        reconciler=resource.spec.reconciler,
        namespace_service=resource.spec.namespace_service,
        config_type=resource.spec.config_type,
        where=document.where,
        places={
            name: document.at("spec", name)
            for name in ("reconciler", "namespaceService", "configType")
        },
    )


def scheduling_policy(
    document: Document, resource: schemas.SchedulingPolicyResource
) -> kinds.SchedulingPolicy:
    """Build a SchedulingPolicy."""
    targets = resource.spec.deployment_target_selector
    cluster_types = resource.spec.cluster_type_selector
    return kinds.SchedulingPolicy(
        name=resource.metadata.name,
        workspace=targets.workspace or "",
        deployment_targets=_selector(document, "deploymentTargetSelector", targets.label_selector),
        cluster_types=_selector(document, "clusterTypeSelector", cluster_types.label_selector),
        where=document.where,
        workspace_where=document.at("spec", "deploymentTargetSelector", "workspace"),
        name_where=document.at("metadata", "name"),
        placement_where=document.at("metadata", "annotations", PLACEMENT_ANNOTATION),
        annotations=resource.metadata.annotations,
    )


def config_map(document: Document, resource: schemas.ConfigMapResource) -> kinds.ConfigMap:
    """Build a ConfigMap with the place of each key."""
    return kinds.ConfigMap(
        name=resource.metadata.name,
        labels=resource.metadata.labels,
        data=resource.data,
        where=document.where,
        places=Places(document.at, ("data",), resource.data),
        label_places=Places(document.key_at, LABELS, resource.metadata.labels),
        label_value_places=Places(document.at, LABELS, resource.metadata.labels),
    )


def config_schema(document: Document, resource: schemas.ConfigSchemaResource) -> kinds.ConfigSchema:
    """Build a ConfigSchema."""
    return kinds.ConfigSchema(
        name=resource.metadata.name,
        labels=resource.metadata.labels,
        schema=resource.spec.schema_text,
        where=document.where,
        schema_place=document.text_at("spec", "schema"),
        label_places=Places(document.key_at, LABELS, resource.metadata.labels),
        label_value_places=Places(document.at, LABELS, resource.metadata.labels),
    )


def template(document: Document, resource: schemas.TemplateResource) -> kinds.Template:
    """Build a Template with the first line of each manifest."""
    manifests = resource.spec.manifests
    return kinds.Template(
        name=resource.metadata.name,
        type=resource.spec.type,
        content_type=resource.spec.content_type or "",
        manifests=tuple(manifests),
        annotations=resource.metadata.annotations,
        where=document.where,
        manifest_places=tuple(
            document.text_at("spec", "manifests", index) for index in range(len(manifests))
        ),
        type_where=document.at("spec", "type"),
        content_type_where=document.at("spec", "contentType"),
    )


def workload_registration(
    document: Document, resource: schemas.WorkloadRegistrationResource
) -> kinds.WorkloadRegistration:
    """Build a WorkloadRegistration."""
    return kinds.WorkloadRegistration(
        name=resource.metadata.name,
        source=_repository_path(resource.spec.workload),
        workspace=resource.spec.workspace or "",
        where=document.where,
    )


def workload(document: Document, resource: schemas.WorkloadResource) -> kinds.Workload:
    """Build a Workload; its targets lack the workspace and labels of the registration.

    The schemas of a target are its own, then the Workload's.
    """
    name = resource.metadata.name
    return kinds.Workload(
        name=name,
        targets=tuple(
            kinds.DeploymentTarget(
                name=f"{name}-{target.name}",
                environment=target.environment,
                workload=name,
                workspace="",
                labels={**target.labels, **resource.metadata.labels},
                manifests=target.manifests,
                config_schemas=(
                    *(target.config_schemas or ()),
                    *(resource.spec.config_schemas or ()),
                ),
                registration="",
                where=document.at("spec", "deploymentTargets", index),
                environment_where=document.at("spec", "deploymentTargets", index, "environment"),
                places=Places(
                    document.at,
                    ("spec", "deploymentTargets", index, "manifests"),
                    target.manifests,
                ),
            )
            for index, target in enumerate(resource.spec.deployment_targets)
        ),
        where=document.where,
        annotations=resource.metadata.annotations,
    )


def deployment_target(
    document: Document, resource: schemas.DeploymentTargetResource
) -> kinds.DeploymentTarget:
    """Build a hand-written DeploymentTarget; its labels name workload and workspace."""
    labels = resource.metadata.labels
    return kinds.DeploymentTarget(
        name=resource.metadata.name,
        environment=resource.spec.environment,
        workload=labels.get("workload", ""),
        workspace=labels.get("workspace", ""),
        labels=labels,
        manifests=resource.spec.manifests,
        config_schemas=tuple(resource.spec.config_schemas or ()),
        registration="",
        where=document.where,
        environment_where=document.at("spec", "environment"),
    )


def _repository_path(spec: schemas.RepositorySpec) -> RepositoryPath:
    return RepositoryPath(spec.repo, spec.branch, spec.path)


def _selector(
    document: Document, field: str, spec: schemas.LabelSelectorSpec
) -> kinds.LabelSelector:
    path = ("spec", field, "labelSelector")
    return kinds.LabelSelector(
        match_labels=spec.match_labels,
        match_expressions=tuple(
            kinds.LabelExpression(entry.key, entry.operator, tuple(entry.values or ()))
            for entry in spec.match_expressions or ()
        ),
        where=document.key_at(*path),
        places={
            **{key: document.key_at(*path, "matchLabels", key) for key in spec.match_labels},
            **{
                entry.key: document.at(*path, "matchExpressions", index)
                for index, entry in enumerate(spec.match_expressions or ())
            },
        },
        value_places={
            **{
                (key, value): document.at(*path, "matchLabels", key)
                for key, value in spec.match_labels.items()
            },
            **{
                (entry.key, value): document.at(*path, "matchExpressions", index, "values", number)
                for index, entry in enumerate(spec.match_expressions or ())
                for number, value in enumerate(entry.values or ())
            },
        },
    )
