"""Documents of an environment branch and of its base repositories → Fleet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document

Key = tuple[type, str]

_NOT_FROM_A_BASE = (kinds.BaseRepo,)


@dataclass(frozen=True, slots=True)
class Branch:
    """The documents of a branch.

    `owner` is the Flux Kustomization that applies them for the operator: the environment's name for
    its own branch, `<environment>-<BaseRepo>` for a base repository.
    """

    owner: str
    documents: tuple[Document, ...]


def assemble(
    environment: str, own: Branch, bases: Sequence[Branch]
) -> tuple[kinds.Fleet, Diagnostics]:
    """Assemble the fleet of `environment`, without the Workloads of registered repositories.

    A document of the environment branch overrides one of the same kind and name in a base
    repository, with a warning. Duplicates in one branch or in two base repositories are problems.
    """
    diagnostics = Diagnostics()
    merged: dict[Key, object] = {}
    for branch in bases:
        for key, resource in _parse_branch(branch, diagnostics).items():
            if isinstance(resource, _NOT_FROM_A_BASE):
                diagnostics.warnings.append(
                    Problem(
                        f"{_label(resource)} is ignored: a base repository has no bases",
                        _where(resource),
                        code="base-repo-nested",
                    )
                )
            elif key in merged:
                diagnostics.problems.append(_duplicate(merged[key], resource))
            else:
                merged[key] = resource
    for key, resource in _parse_branch(own, diagnostics).items():
        if key in merged:
            diagnostics.warnings.append(
                Problem(
                    f"{_label(resource)} is also defined in {_place(merged[key])}; "
                    "the environment branch wins",
                    _where(resource),
                    code="object-overridden",
                )
            )
        merged[key] = resource
    assembled = _fleet(environment, merged.values())
    diagnostics.warnings += registrations_named_as_bases(
        assembled.registrations, assembled.base_repos
    )
    return assembled, diagnostics


def registrations_named_as_bases(
    registrations: Iterable[kinds.WorkloadRegistration], base_repos: Iterable[kinds.BaseRepo]
) -> Iterator[Problem]:
    """Report equal names: the operator uses `<environment>-<name>` for both kinds."""
    bases = {base.name: base for base in base_repos}
    for registration in registrations:
        base = bases.get(registration.name)
        if base:
            message = f"WorkloadRegistration {registration.name!r} has the name of the BaseRepo in "
            message += f"{base.where}: the upstream operator cannot fetch both"
            advice = "rename the registration"
            yield Problem(message, registration.where, advice, "registration-named-as-base")


def flux_labels(owner: str) -> Mapping[str, str]:
    """Return the labels that Flux adds to all objects of a Kustomization."""
    return {kinds.FLUX_NAME_LABEL: owner, kinds.FLUX_NAMESPACE_LABEL: "flux-system"}


def _parse_branch(branch: Branch, diagnostics: Diagnostics) -> dict[Key, object]:
    """Return the resources of a branch by kind and name, with Flux's labels."""
    resources: dict[Key, object] = {}
    for document in branch.documents:
        resource = parse_document(document, diagnostics)
        if resource is None or isinstance(resource, kinds.Environment):
            continue
        if isinstance(resource, kinds.Workload):
            diagnostics.problems.append(
                Problem(
                    f"Workload {resource.name!r} is in a control-plane branch",
                    resource.where,
                    "move it into a repository that a WorkloadRegistration names",
                    "workload-misplaced",
                )
            )
            continue
        if isinstance(resource, kinds.ClusterType | kinds.DeploymentTarget):
            resource = dataclasses.replace(
                resource, labels={**resource.labels, **flux_labels(branch.owner)}
            )
        key = (type(resource), document.name)
        if key in resources:
            diagnostics.problems.append(_duplicate(resources[key], resource))
        else:
            resources[key] = resource
    return resources


def _fleet(environment: str, resources: Iterable[object]) -> kinds.Fleet:
    all_kinds = list(resources)

    def of(kind: type) -> tuple[Any, ...]:
        matching = (resource for resource in all_kinds if isinstance(resource, kind))
        return tuple(sorted(matching, key=attrgetter("name")))

    of_fields: dict[str, Any] = {name: of(kind) for kind, name in kinds.FLEET_FIELDS.items()}
    targets = of(kinds.DeploymentTarget)
    return kinds.Fleet(
        environment=environment,
        **of_fields,
        targets=tuple(target for target in targets if target.environment == environment),
        other_targets=tuple(target for target in targets if target.environment != environment),
    )


def _duplicate(first: object, second: object) -> Problem:
    return Problem(
        f"{_label(second)} is already defined in {_place(first)}",
        _where(second),
        "remove or rename one of the two",
        "object-duplicate",
    )


def _label(resource: object) -> str:
    return f"{type(resource).__name__} {getattr(resource, 'name', '')!r}"


def _where(resource: object) -> Location | None:
    where = getattr(resource, "where", None)
    return where if isinstance(where, Location) else None


def _place(resource: object) -> str:
    return str(_where(resource))
