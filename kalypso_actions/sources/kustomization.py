"""Parse `kustomization.yaml`: files and folders to read, or a build.

This package follows a kustomization that only lists `resources` (or `bases`, its old name). The
kustomize program must build a kustomization that changes or generates objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.sources.yaml_documents import ParsedFile, parse_yaml

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
class KustomizationItem:
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
    resources: tuple[KustomizationItem, ...] = ()
    build_fields: tuple[str, ...] = ()


def read_kustomization(
    whole: Location, content: bytes, max_values: int | None = None
) -> tuple[Kustomization | None, ParsedFile]:
    """Return the kustomization of a file, or None, with the file's problems.

    `max_values`: see `parse_yaml`.
    """
    parsed = parse_yaml(whole.repository, whole.path, content, max_values)
    if parsed.problems:
        return None, parsed
    if len(parsed.documents) != 1:
        count = "more than one" if parsed.documents else "no"
        return None, _refused(parsed, f"the file contains {count} kustomization", whole)
    document = parsed.documents[0]
    kind = document.body.get("kind", KIND)
    if kind not in (KIND, COMPONENT):
        message = f"the kind of a kustomization must be {KIND}, not {kind}"
        return None, _refused(parsed, message, document.at("kind"))
    if document.body.keys() <= {"apiVersion", "kind"}:
        return None, _refused(parsed, "the kustomization is empty", document.where)
    problems: list[Problem] = []
    resources = tuple(_resources(document, problems))
    fields = tuple(
        name
        for name, value in document.body.items()
        if name not in WITHOUT_EFFECT and value not in (None, "", [], {})
    )
    where = document.key_at(fields[0]) if fields else document.where
    kustomization = Kustomization(where, kind == COMPONENT, resources, fields)
    return kustomization, replace(parsed, problems=tuple(problems))


def _refused(parsed: ParsedFile, message: str, where: Location) -> ParsedFile:
    return replace(parsed, problems=(_invalid(message, where),))


def _invalid(message: str, where: Location) -> Problem:
    return Problem(message, where, code="kustomization-invalid")


def _resources(document: Document, problems: list[Problem]) -> Iterator[KustomizationItem]:
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
                yield KustomizationItem(entry, where)
            else:
                message = f"an entry of {name} must be the path of a file or folder"
                problems.append(_invalid(message, where))
