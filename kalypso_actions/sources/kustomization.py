"""Parse `kustomization.yaml`: files and folders to read, or a build.

This package follows a kustomization that only lists `resources` (or `bases`, its old name). The
kustomize program must build a kustomization that changes or generates objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.sources.paths import printable
from kalypso_actions.sources.yaml_documents import parse_yaml

FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

KIND, COMPONENT = "Kustomization", "Component"

LISTS = ("resources", "bases", "components")
"""Fields that list files and folders with objects."""

# `namespace` has no effect, because every object moves to its environment's namespace.
WITHOUT_EFFECT = frozenset(
    {"apiVersion", "kind", "metadata", "resources", "bases", "namespace", "sortOptions"}
)

REMOTE = re.compile(r"[\w+.-]+:?://|git::|[^/]+@[^/]+:|github\.com[/:]|.*\?ref=")


@dataclass(frozen=True, slots=True)
class Resource:
    """An entry of a kustomization's list, and its place."""

    path: str
    where: Location

    @property
    def is_remote(self) -> bool:
        """Whether the entry names another repository or server."""
        return REMOTE.match(self.path) is not None


@dataclass(frozen=True, slots=True)
class Kustomization:
    """A kustomization; it must be built if it has `build_fields`, the first of them at `where`.

    A component changes the kustomizations that list it under `components`, and is built with them.
    """

    where: Location
    is_component: bool = False
    resources: tuple[Resource, ...] = ()
    build_fields: tuple[str, ...] = ()


def read_kustomization(
    repository: str, path: str, content: bytes, max_values: int | None = None
) -> tuple[Kustomization | None, tuple[Problem, ...], tuple[Problem, ...], int]:
    """Return the kustomization of a file, or None, with problems, warnings and number of values.

    `max_values`: see `parse_yaml`.
    """
    parsed = parse_yaml(repository, printable(path), content, max_values)
    problems = list(parsed.problems)
    whole = Location(repository, printable(path))
    if not problems and len(parsed.documents) != 1:
        count = "more than one" if parsed.documents else "no"
        message = f"the file contains {count} kustomization"
        problems.append(_invalid(message, whole))
    if problems:
        return None, tuple(problems), parsed.warnings, parsed.values
    document = parsed.documents[0]
    kind = document.body.get("kind", KIND)
    if kind not in (KIND, COMPONENT):
        message = f"the kind of a kustomization must be {KIND}, not {kind}"
        problem = _invalid(message, document.at("kind"))
        return None, (problem,), parsed.warnings, parsed.values
    if document.body.keys() <= {"apiVersion", "kind"}:
        problem = _invalid("the kustomization is empty", document.where)
        return None, (problem,), parsed.warnings, parsed.values
    resources = tuple(_resources(document, problems))
    fields = tuple(_build_fields(document.body))
    where = document.key_at(fields[0]) if fields else document.where
    return (
        Kustomization(where, kind == COMPONENT, resources, fields),
        tuple(problems),
        parsed.warnings,
        parsed.values,
    )


def _build_fields(body: Mapping[str, object]) -> Iterator[str]:
    for name, value in body.items():
        if name not in WITHOUT_EFFECT and value not in (None, "", [], {}):
            yield name


def _invalid(message: str, where: Location) -> Problem:
    return Problem(message, where, code="kustomization-invalid")


def _resources(document: Document, problems: list[Problem]) -> Iterator[Resource]:
    for name in LISTS:
        entries = document.body.get(name)
        if entries is None:
            continue
        if not isinstance(entries, list):
            problems.append(_invalid(f"{name} must be a list", document.at(name)))
            continue
        for index, entry in enumerate(entries):
            where = document.at(name, index)
            if isinstance(entry, str) and entry.strip():
                yield Resource(entry, where)
            else:
                message = f"an entry of {name} must be the path of a file or folder"
                problems.append(_invalid(message, where))
