"""Compare the documents of two fleets by their content, regardless of their places."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Final, Protocol

from kalypso_actions.errors import Location
from kalypso_actions.model.differences import DocumentChange
from kalypso_actions.model.kinds import Fleet

_PLACES: Final = ("where", "places", "lines")
"""The ends of the names of fields that contain places in files."""


class Document(Protocol):
    """A document of a control plane."""

    @property
    def name(self) -> str:
        """The name, unique among the documents of its kind."""

    @property
    def where(self) -> Location:
        """The place of the document."""


def content_of(value: object) -> Hashable:
    """Return the content of a document without its places; equal contents render equal files.

    The order of mappings counts, and so do types: 1, 1.0 and true are different.
    """
    if is_dataclass(value):
        return tuple(
            content_of(getattr(value, field.name))
            for field in fields(value)
            if not field.name.endswith(_PLACES)
        )
    if isinstance(value, Mapping):
        return tuple((key, content_of(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(content_of, value))
    return value if isinstance(value, str) else repr(value)


def document_changes(base: Fleet, head: Fleet) -> tuple[DocumentChange, ...]:
    """Return the documents of the control plane that only one fleet has, or that differ."""
    return (
        *_changes("BaseRepo", base.base_repos, head.base_repos),
        *_changes("ClusterType", base.cluster_types, head.cluster_types),
        *_changes("ConfigMap", base.config_maps, head.config_maps),
        *_changes("ConfigSchema", base.config_schemas, head.config_schemas),
        *_changes("GitOpsRepo", base.gitops_repos, head.gitops_repos),
        *_changes("SchedulingPolicy", base.policies, head.policies),
        *_changes("Template", base.templates, head.templates),
        *_changes("WorkloadRegistration", base.registrations, head.registrations),
    )


def differing_documents(
    base: Iterable[Document], head: Iterable[Document]
) -> Iterator[tuple[str, Document | None, Document | None]]:
    """Yield each document that only one side has or that differs: its name and both sides."""
    before = {document.name: document for document in base}
    after = {document.name: document for document in head}
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None or content_of(old) != content_of(new):
            yield name, old, new


def _changes(
    kind: str, base: Iterable[Document], head: Iterable[Document]
) -> Iterator[DocumentChange]:
    for name, old, new in differing_documents(base, head):
        if new is None:
            assert old is not None  # noqa: S101 - the name is of one of them
            yield DocumentChange(kind, name, "deleted", old.where)
        else:
            yield DocumentChange(kind, name, "modified" if old else "added", new.where)
