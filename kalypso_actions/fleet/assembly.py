"""Documents of an environment branch and of its base repositories → Fleet."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple

from kalypso_actions.errors import Diagnostics, Finding, Problem
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.model import kinds
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.documents import Document

Key = tuple[type, str]

_NOT_FROM_A_BASE = (kinds.BaseRepo,)


class _Defined(NamedTuple):
    """A resource, and the document that defines it."""

    resource: object
    document: Document


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
    repository: `overrides` reports it. Duplicates in one branch or in two base repositories are
    problems.
    """
    diagnostics = Diagnostics()
    merged: dict[Key, _Defined] = {}
    of_bases: list[Document] = []
    for branch in bases:
        for key, defined in _parse_branch(branch, diagnostics).items():
            document = defined.document
            of_bases.append(document)
            if isinstance(defined.resource, _NOT_FROM_A_BASE):
                diagnostics.warnings.append(
                    Problem(
                        f"{document} is ignored: a base repository has no bases",
                        document.where,
                        code="base-repo-nested",
                    )
                )
            elif key in merged:
                diagnostics.problems.append(duplicate(merged[key].document, document))
            else:
                merged[key] = defined
    of_own = _parse_branch(own, diagnostics)
    documents = (defined.document for defined in of_own.values())
    diagnostics.add_by_level(overrides(environment, documents, of_bases))
    merged |= of_own
    assembled = _fleet(environment, (defined.resource for defined in merged.values()))
    diagnostics.warnings += registrations_named_as_bases(
        assembled.registrations, assembled.base_repos
    )
    return assembled, diagnostics


MOST_REMOVED: Final = 20
"""Paths in the command that removes the files of main: as many as a line can show."""

OF_ENVIRONMENTS: Final = ("BaseRepo", "GitOpsRepo")
"""The kinds of documents that belong to the branch of an environment alone."""


def _lost_keys(replaced: Document, document: Document) -> list[str]:
    """Return the keys of a ConfigMap of main that the one that replaces it has not."""
    if document.kind != "ConfigMap":
        return []
    data = (item.body.get("data") for item in (replaced, document))
    before, after = (each if isinstance(each, dict) else {} for each in data)
    return [key for key in before if key not in after]


def overrides(
    environment: str, own: Iterable[Document], main: Iterable[Document]
) -> Iterator[Finding]:
    """Report the documents of main that an environment's branch defines, too.

    If one of the two branches has been merged into the other, one finding tells of all of them.
    """
    of_main = {(item.kind, item.name): item for item in main}
    of_own = {(item.kind, item.name): item for item in own}
    copies = [
        document
        for key, document in of_own.items()
        if key in of_main and of_main[key].where.path == document.where.path
    ]
    foreign = [item for item in of_main.values() if item.kind in OF_ENVIRONMENTS]
    if {item.kind for item in foreign} == {*OF_ENVIRONMENTS}:
        adds_repo = any((item.kind, item.name) not in of_own for item in foreign)
        yield _merged_into_main(foreign, copies, of_main, adds_repo=adds_repo)
        return
    if len(copies) > max(1, len(of_main) // 2):  # who overrides a few documents means it
        yield _merged_into_environment(environment, copies)
        return
    for key, document in of_own.items():
        if key in of_main:
            lost = _lost_keys(of_main[key], document)
            effect = f", without {abbreviated(lost)} of main" if lost else ""
            yield Finding(
                f"{document} is also defined in {of_main[key].where}; the environment branch wins"
                f"{effect}",
                document.where,
                "rename it to change single values: layers are merged" if lost else "",
                code="object-overridden",
                level="warning",
            )


def _merged_into_environment(environment: str, copies: Sequence[Document]) -> Finding:
    paths = list(dict.fromkeys(document.where.path for document in copies))
    return Finding(
        f"the branch of environment {environment!r} has {counted(len(copies), 'document')} of main "
        f"at the same paths, such as {_document(copies[-1])}: main has been merged into it, or it "
        f"was made from main. These win over main's: Templates and configuration of {environment} "
        "stay as they are, whatever is promoted",
        copies[0].where,
        "remove main's files on the environment's branch, also its Environments: git rm -r "
        f"--ignore-unmatch .environments {_arguments(paths)}; after a merge alone, git revert -m 1 "
        "COMMIT_OF_THE_MERGE does the same. A promotion, which cd makes, brings changes of main",
        "branch-merged",
        related=tuple(document.where for document in copies),
        level="warning",
    )


def _merged_into_main(
    foreign: Sequence[Document],
    copies: Sequence[Document],
    of_main: Mapping[tuple[str, str], Document],
    *,
    adds_repo: bool,
) -> Finding:
    """Return the finding of an environment's branch in main.

    It is an error for another environment, which would write to the tree of that one.
    """
    repo = next(item for item in foreign if item.kind == "GitOpsRepo")
    others = (of_main[item.kind, item.name] for item in copies)
    related = dict.fromkeys(document.where for document in (*foreign, *others))
    return Finding(
        f"main has the documents of an environment's branch, with {_document(repo)}: that branch "
        "has been merged into main. Every environment gets its policies, cluster types and "
        "configuration with the next promotion, and writes to its GitOps branch, too",
        repo.where,
        "undo the merge on main: git revert -m 1 COMMIT_OF_THE_MERGE; or remove the files there: "
        f"git rm {_arguments([*dict.fromkeys(item.path for item in related)])}",
        "branch-merged",
        related=tuple(related),
        level="error" if adds_repo else "warning",
    )


def _arguments(paths: Sequence[str]) -> str:
    """Return paths for the line of a command."""
    return shlex.join(paths[:MOST_REMOVED]) + (" …" if paths[MOST_REMOVED:] else "")


def _document(document: Document) -> str:
    return f"{document} ({document.where.path})"


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


def _parse_branch(branch: Branch, diagnostics: Diagnostics) -> dict[Key, _Defined]:
    """Return the resources of a branch by kind and name, with Flux's labels."""
    resources: dict[Key, _Defined] = {}
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
            diagnostics.problems.append(duplicate(resources[key].document, document))
        else:
            resources[key] = _Defined(resource, document)
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


def duplicate(first: Document, second: Document) -> Problem:
    """Return the problem of two documents of one kind and name."""
    where = first.at("metadata", "name")
    return Problem(
        f"{second} is already defined in {where}",
        second.at("metadata", "name"),
        "remove or rename one of the two",
        "object-duplicate",
        related=(where,),
    )
