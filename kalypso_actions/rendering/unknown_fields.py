"""Fields that Go templates name and no assignment has, found without an assignment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from kalypso_actions import gotemplate
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import FIELDS
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED

USUAL_KEYS: Final = frozenset({"repo", "branch", "path"})
"""The keys of `.Manifests` that reconcilers need."""


def unknown_fields(
    template: Template, manifest_keys: Collection[str] | None = None
) -> Iterator[Problem]:
    """Yield each unknown field of a Template, with the nearest known one.

    A key of `.Manifests` is reported if it resembles a usual key, and is none of `manifest_keys`,
    those of the targets; None if these are not known. Maps may have any other key.
    """
    if template.annotations.get(ENGINE_ANNOTATION):
        return
    for index, source in enumerate(template.manifests):
        for text in _texts(source):
            try:
                fields = list(gotemplate.root_fields(text, FUNCTIONS, REFUSED))
            except gotemplate.TemplateError:
                continue  # the fault is reported where the Template is compiled
            for field in fields:
                fault = _fault(field.names, manifest_keys)
                if fault:
                    name, meant = fault
                    yield Problem(
                        f"Template {template.name!r}: no assignment has the field {name}",
                        _place(template, index, field if isinstance(source, str) else None),
                        f"did you mean {meant}?" if meant else f"fields: {_known()}",
                        "template-field-unknown",
                    )


def _texts(source: object) -> Iterator[str]:
    """Yield the templates of a manifest: a text, or all texts of an object."""
    match source:
        case str():
            yield source
        case Mapping():
            for value in source.values():
                yield from _texts(value)


def _fault(names: tuple[str, ...], keys: Collection[str] | None) -> tuple[str, str] | None:
    """Return an unknown field, and the one that was probably meant."""
    first, *rest = names
    if first not in FIELDS:
        close = nearest(first, FIELDS)
        return f".{first}", f".{close}" if close else ""
    if first == "Manifests" and rest and keys is not None and rest[0] not in {*USUAL_KEYS, *keys}:
        close = nearest(rest[0], USUAL_KEYS)
        return (f".Manifests.{rest[0]}", f".Manifests.{close}") if close else None
    return None


def _place(template: Template, index: int, field: gotemplate.RootField | None) -> Location:
    where = template.where
    line = template.manifest_lines[index] if template.manifest_lines else where.line
    line += field.line - 1 if field else 0
    return Location(where.repository, where.path, line, 0, where.branch, where.commit)


def _known() -> str:
    return ", ".join(f".{name}" for name in FIELDS)
