"""The documents of an environment branch and of its base repositories → its Fleet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document

Noun = TypeVar("Noun")
Key = tuple[type, str]

_NOT_FROM_A_BASE = (kinds.BaseRepo,)


@dataclass(frozen=True, slots=True)
class Branch:
    """The documents of one branch.

    `owner` is the name of the Flux Kustomization that would apply them upstream: the environment
    for its own branch, `<environment>-<BaseRepo>` for a base repository.
    """

    owner: str
    documents: tuple[Document, ...]


def assemble(
    environment: str, own: Branch, bases: Sequence[Branch]
) -> tuple[kinds.Fleet, Diagnostics]:
    """The fleet of `environment`, without what registered repositories deliver.

    A document of the environment branch wins over one of the same kind and name in a base
    repository, with a warning that names both; the same twice in one branch, or in two base
    repositories, is a problem.
    """
    diagnostics = Diagnostics()
    merged: dict[Key, object] = {}
    for branch in bases:
        for key, noun in _nouns(branch, diagnostics).items():
            if isinstance(noun, _NOT_FROM_A_BASE):
                diagnostics.warnings.append(
                    Problem(
                        f"{_label(noun)} is left out: a base repository has none of its own",
                        _where(noun),
                    )
                )
            elif key in merged:
                diagnostics.problems.append(_twice(merged[key], noun))
            else:
                merged[key] = noun
    for key, noun in _nouns(own, diagnostics).items():
        if key in merged:
            diagnostics.warnings.append(
                Problem(
                    f"{_label(noun)} stands in {_place(merged[key])} too; "
                    "the environment branch wins",
                    _where(noun),
                )
            )
        merged[key] = noun
    assembled = _fleet(environment, merged.values())
    diagnostics.warnings += registrations_named_as_bases(
        assembled.registrations, assembled.base_repos
    )
    return assembled, diagnostics


def registrations_named_as_bases(
    registrations: Iterable[kinds.WorkloadRegistration], base_repos: Iterable[kinds.BaseRepo]
) -> Iterator[Problem]:
    """The upstream operator names what it fetches `<environment>-<name>`, for both kinds."""
    taken = {base.name: base for base in base_repos}
    for registration in registrations:
        base = taken.get(registration.name)
        if base:
            message = f"WorkloadRegistration {registration.name!r} has the name of the BaseRepo in "
            message += f"{base.where}: the upstream operator cannot fetch both"
            yield Problem(message, registration.where, "rename the registration")


def flux_labels(owner: str) -> Mapping[str, str]:
    """The labels that Flux stamps on everything it applies for a Kustomization."""
    return {kinds.FLUX_NAME_LABEL: owner, kinds.FLUX_NAMESPACE_LABEL: "flux-system"}


def _nouns(branch: Branch, diagnostics: Diagnostics) -> dict[Key, object]:
    """The nouns of one branch by kind and name, with Flux's labels."""
    found: dict[Key, object] = {}
    for document in branch.documents:
        noun = parse_document(document, diagnostics)
        if noun is None or isinstance(noun, kinds.Environment):
            continue
        if isinstance(noun, kinds.Workload):
            diagnostics.problems.append(
                Problem(
                    f"Workload {noun.name!r} stands in a control-plane branch",
                    noun.where,
                    "move it into a repository that a WorkloadRegistration names",
                )
            )
            continue
        if isinstance(noun, kinds.ClusterType | kinds.DeploymentTarget):
            noun = dataclasses.replace(noun, labels={**noun.labels, **flux_labels(branch.owner)})
        key = (type(noun), document.name)
        if key in found:
            diagnostics.problems.append(_twice(found[key], noun))
        else:
            found[key] = noun
    return found


def _fleet(environment: str, nouns: Iterable[object]) -> kinds.Fleet:
    everything = list(nouns)

    def of(kind: type[Noun]) -> tuple[Noun, ...]:
        return tuple(sorted((n for n in everything if isinstance(n, kind)), key=attrgetter("name")))

    targets = of(kinds.DeploymentTarget)
    return kinds.Fleet(
        environment=environment,
        base_repos=of(kinds.BaseRepo),
        gitops_repos=of(kinds.GitOpsRepo),
        cluster_types=of(kinds.ClusterType),
        policies=of(kinds.SchedulingPolicy),
        config_maps=of(kinds.ConfigMap),
        config_schemas=of(kinds.ConfigSchema),
        templates=of(kinds.Template),
        registrations=of(kinds.WorkloadRegistration),
        targets=tuple(target for target in targets if target.environment == environment),
    )


def _twice(first: object, second: object) -> Problem:
    return Problem(
        f"{_label(second)} is already defined in {_place(first)}",
        _where(second),
        "remove or rename one of the two",
    )


def _label(noun: object) -> str:
    return f"{type(noun).__name__} {getattr(noun, 'name', '')!r}"


def _where(noun: object) -> Location | None:
    where = getattr(noun, "where", None)
    return where if isinstance(where, Location) else None


def _place(noun: object) -> str:
    return str(_where(noun))
