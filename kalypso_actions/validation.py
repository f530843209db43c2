"""Every document of some branches held against each other, without rendering anything.

The branches are those of one control plane, or repositories of workloads: which is which, their
documents say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kalypso_actions import config_schemas, fleet, promotion, rendering, scheduling
from kalypso_actions.errors import Problem
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.platform_config import config_map_problems, config_map_warnings

Noun = TypeVar("Noun")


@dataclass(slots=True)
class _Branch:
    """One branch: its nouns, each with the document it came from."""

    reading: Reading
    nouns: list[tuple[Document, object]] = field(default_factory=list)

    def of(self, kind: type[Noun]) -> Iterator[Noun]:
        """The nouns of one kind."""
        return (noun for _, noun in self.nouns if isinstance(noun, kind))


def validate_branches(
    readings: Iterable[Reading], first_environments: Sequence[str] = ()
) -> fleet.Diagnostics:
    """Problems, warnings and notes of all documents, branch by branch, then across branches.

    `first_environments` are those that an input names.
    """
    diagnostics = fleet.Diagnostics()
    branches = [_parse(reading, diagnostics) for reading in readings]
    for branch in branches:
        for check in (_twice, _strays, _templates, _policies, _schemas):
            diagnostics.problems += check(branch)
        for config_map in branch.of(kinds.ConfigMap):
            diagnostics.problems += config_map_problems(config_map)
            diagnostics.warnings += config_map_warnings(config_map)
    environments = _environments(branches)
    diagnostics.problems += _next_environments(environments)
    diagnostics.problems += promotion.environment_circles(environments)
    diagnostics.notes += promotion.unreached_environments(first_environments, environments)
    _references(branches, diagnostics)
    diagnostics.warnings += _shadowed(branches)
    diagnostics.warnings += fleet.registrations_named_as_bases(
        (one for branch in branches for one in branch.of(kinds.WorkloadRegistration)),
        (one for branch in branches for one in branch.of(kinds.BaseRepo)),
    )
    return diagnostics


def _parse(reading: Reading, diagnostics: fleet.Diagnostics) -> _Branch:
    diagnostics.problems += reading.problems
    diagnostics.warnings += reading.warnings
    branch = _Branch(reading)
    for document in reading.documents:
        noun = fleet.parse_document(document, diagnostics)
        if noun is not None:
            branch.nouns.append((document, noun))
    return branch


def _twice(branch: _Branch) -> Iterator[Problem]:
    seen: dict[tuple[str, str], Document] = {}
    for document, _ in branch.nouns:
        first = seen.setdefault((document.kind, document.name), document)
        if first is not document:
            yield Problem(
                f"{document.kind} {document.name!r} is already defined in {first.where}",
                document.where,
                "remove or rename one of the two",
            )


def _strays(branch: _Branch) -> Iterator[Problem]:
    """A repository holds a control plane or workloads, never both."""
    workloads = list(branch.of(kinds.Workload))
    if len(workloads) == len(branch.nouns):
        return
    for workload in workloads:
        yield Problem(
            f"Workload {workload.name!r} stands in a control-plane branch",
            workload.where,
            "move it into a repository that a WorkloadRegistration names",
        )


def _templates(branch: _Branch) -> Iterator[Problem]:
    for template in branch.of(kinds.Template):
        yield from rendering.template_faults(template)


def _policies(branch: _Branch) -> Iterator[Problem]:
    for policy in branch.of(kinds.SchedulingPolicy):
        yield from scheduling.policy_faults(policy)


def _schemas(branch: _Branch) -> Iterator[Problem]:
    for schema in branch.of(kinds.ConfigSchema):
        fault = config_schemas.schema_error(schema.schema)
        if fault:
            yield Problem(f"ConfigSchema {schema.name!r}: {fault}", schema.where)
    seen: set[str] = set()
    targets = [*branch.of(kinds.DeploymentTarget)]
    for workload in branch.of(kinds.Workload):
        targets += workload.targets
    for target in targets:
        for text in target.config_schemas:
            fault = config_schemas.schema_error(text)
            if fault and text not in seen:
                seen.add(text)
                yield Problem(f"configSchemas of {target.name!r}: {fault}", target.where)


def _environments(branches: Sequence[_Branch]) -> dict[str, kinds.Environment]:
    """The Environments of main; the branch of an environment may have old copies of them."""
    mains = [branch for branch in branches if not any(branch.of(kinds.BaseRepo))]
    return {e.name: e for branch in mains or branches for e in branch.of(kinds.Environment)}


def _next_environments(environments: Mapping[str, kinds.Environment]) -> Iterator[Problem]:
    for environment in environments.values():
        for name in environment.next_environments:
            if name not in environments:
                yield Problem(
                    f"Environment {environment.name!r} names {name!r} as next, which is none",
                    environment.next_environment_where,
                    f"known environments: {', '.join(sorted(environments))}",
                )


def _shadowed(branches: Sequence[_Branch]) -> Iterator[Problem]:
    """What stands in an environment's branch, which has a BaseRepo, and in one without."""
    own = [any(branch.of(kinds.BaseRepo)) for branch in branches]
    shared = {
        (document.kind, document.name): document
        for branch, is_own in zip(branches, own, strict=True)
        for document, _ in branch.nouns
        if not is_own and document.kind != "Environment"
    }
    for branch, is_own in zip(branches, own, strict=True):
        for document, _ in branch.nouns if is_own else ():
            other = shared.get((document.kind, document.name))
            if other:
                yield Problem(
                    f"{document.kind} {document.name!r} stands in {other.where} too; the "
                    "environment branch wins",
                    document.where,
                )


def _references(branches: Sequence[_Branch], diagnostics: fleet.Diagnostics) -> None:
    """Templates that cluster types name; they stand in main, which may not have been given."""
    cluster_types = [c for branch in branches for c in branch.of(kinds.ClusterType)]
    templates = {t.name for branch in branches for t in branch.of(kinds.Template)}
    if not templates:
        if cluster_types:
            message = f"the Templates that {len(cluster_types)} ClusterTypes name are not checked"
            advice = "give the branch that holds them as well"
            diagnostics.warnings.append(Problem(message, cluster_types[0].where, advice))
        return
    for cluster_type in cluster_types:
        for field_name, name in (
            ("reconciler", cluster_type.reconciler),
            ("namespaceService", cluster_type.namespace_service),
            ("configType", cluster_type.config_type),
        ):
            builtin = field_name == "configType" and rendering.is_builtin_config(name)
            if name not in templates and not builtin:
                diagnostics.problems.append(
                    Problem(
                        f"ClusterType {cluster_type.name!r}: {field_name} names the Template "
                        f"{name!r}, which does not exist",
                        cluster_type.where,
                        "add the Template, or correct the name",
                    )
                )
