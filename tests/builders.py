"""Builders of values for tests, which name only the fields of interest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent

from kalypso_actions.errors import Location
from kalypso_actions.model.documents import Document, FileEntry, TextPlace
from kalypso_actions.model.kinds import (
    PLATFORM_CONFIG_LABEL,
    Assignment,
    ClusterType,
    ConfigMap,
    ConfigSchema,
    DeploymentTarget,
    Fleet,
    LabelExpression,
    LabelSelector,
    RepositoryPath,
    SchedulingPolicy,
    Template,
    WorkloadRegistration,
)
from kalypso_actions.sources.yaml_documents import parse_yaml

HERE = Location("test", "file.yaml", 1)


def documents(text: str, path: str = "file.yaml") -> tuple[Document, ...]:
    """Return the documents of an indented YAML text, which must have no faults."""
    parsed = parse_yaml("test", path, dedent(text).encode())
    assert not parsed.problems
    return parsed.documents


def cluster_type(
    name: str,
    *,
    reconciler: str = "reconciler",
    namespace_service: str = "namespace",
    config_type: str = "config",
    **labels: str,
) -> ClusterType:
    return ClusterType(
        name=name,
        labels=labels,
        annotations={},
        reconciler=reconciler,
        namespace_service=namespace_service,
        config_type=config_type,
        where=Location("test", f"{name}.yaml", 1),
    )


def target(
    name: str,
    *,
    workload: str = "app",
    workspace: str = "team",
    environment: str = "dev",
    manifests: Mapping[str, str] | None = None,
    config_schemas: Sequence[str] = (),
    **labels: str,
) -> DeploymentTarget:
    return DeploymentTarget(
        name=f"{workload}-{name}",
        environment=environment,
        workload=workload,
        workspace=workspace,
        labels={**labels, "workload": workload, "workspace": workspace},
        manifests=manifests
        or {"repo": "https://git.test/app", "branch": "dev", "path": f"./{name}"},
        config_schemas=tuple(config_schemas),
        registration="app",
        where=Location("test", f"{workload}.yaml", 1),
    )


def selector(*expressions: tuple[str, str, Sequence[str]], **labels: str) -> LabelSelector:
    return LabelSelector(
        match_labels=labels,
        match_expressions=tuple(
            LabelExpression(key, operator, tuple(values)) for key, operator, values in expressions
        ),
        where=HERE,
    )


def policy(
    name: str,
    *,
    targets: LabelSelector | None = None,
    cluster_types: LabelSelector | None = None,
    workspace: str = "",
) -> SchedulingPolicy:
    return SchedulingPolicy(
        name=name,
        workspace=workspace,
        deployment_targets=targets or selector(),
        cluster_types=cluster_types or selector(),
        where=HERE,
    )


def config_map(name: str, data: Mapping[str, str], **labels: str) -> ConfigMap:
    """Return platform configuration, unless `labels` say otherwise; `_` in them stands for `-`."""
    own = {PLATFORM_CONFIG_LABEL: "true"}
    own |= {key.replace("_", "-"): value for key, value in labels.items()}
    file = f"{name}.yaml"
    places = {key: Location("test", file, line) for line, key in enumerate(data, start=2)}
    return ConfigMap(name, own, data, Location("test", file, 1), places)


def config_schema(name: str, schema: str, **labels: str) -> ConfigSchema:
    return ConfigSchema(name, labels, schema, Location("test", f"{name}.yaml", 1))


def template(
    name: str,
    *manifests: str | Mapping[str, object],
    content_type: str = "",
    annotations: Mapping[str, str] | None = None,
) -> Template:
    return Template(
        name=name,
        type="reconciler",
        content_type=content_type,
        manifests=manifests,
        annotations=annotations or {},
        where=Location("test", f"{name}.yaml", 1),
        manifest_places=tuple(TextPlace(line) for line in range(8, 8 + len(manifests))),
    )


TEMPLATES = (
    template("reconciler", "name: {{ .DeploymentTargetName }}\n"),
    template("namespace", "namespace: {{ .Namespace }}\n"),
    template("config", "{{ toYaml .ConfigData }}\n"),
)
"""The Templates that `cluster_type` names by default."""


def registration(
    name: str, repo: str, *, path: str = ".", workspace: str = "team"
) -> WorkloadRegistration:
    return WorkloadRegistration(name, RepositoryPath(repo, "main", path), workspace, HERE)


def fleet(
    *,
    environment: str = "dev",
    cluster_types: Sequence[ClusterType] = (),
    targets: Sequence[DeploymentTarget] = (),
    policies: Sequence[SchedulingPolicy] = (),
    config_maps: Sequence[ConfigMap] = (),
    config_schemas: Sequence[ConfigSchema] = (),
    templates: Sequence[Template] = TEMPLATES,
) -> Fleet:
    return Fleet(
        environment=environment,
        cluster_types=tuple(cluster_types),
        targets=tuple(targets),
        policies=tuple(policies),
        config_maps=tuple(config_maps),
        config_schemas=tuple(config_schemas),
        templates=tuple(templates),
    )


def assignment(target_: DeploymentTarget, cluster_type_: ClusterType) -> Assignment:
    return Assignment(target_, cluster_type_, ("policy",))


def entry(path: str, object_id: str, mode: str = "100644") -> FileEntry:
    return FileEntry(path, mode, object_id, 0)
