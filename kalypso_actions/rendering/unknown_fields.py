"""Fields that Templates name and no assignment has, found without an assignment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kalypso_actions import gotemplate
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import FIELDS, JINJA_NAMES
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED

JINJA: Final = "jinja2"
USUAL_KEYS: Final = frozenset({"repo", "branch", "path"})
"""The keys of `.Manifests` that reconcilers need."""


def unknown_fields(
    template: Template, manifest_keys: Collection[str] | None = None
) -> Iterator[Problem]:
    """Yield each unknown field of a Template, with the nearest known one.

    A key of `.Manifests` is reported if it resembles a usual key, and is none of `manifest_keys`,
    those of the targets; None if these are not known. Maps may have any other key.
    """
    is_jinja = template.annotations.get(ENGINE_ANNOTATION) == JINJA
    dot, known = ("", JINJA_NAMES) if is_jinja else (".", FIELDS)
    for index, source in enumerate(template.manifests):
        for text in _texts(source):
            for names, line in dict.fromkeys(_jinja_names(text) if is_jinja else _go_names(text)):
                fault = _fault(names, known, manifest_keys)
                if fault:
                    name, meant = fault
                    fields = ", ".join(f"{dot}{field}" for field in known)
                    yield Problem(
                        f"Template {template.name!r}: no assignment has the field {dot}{name}",
                        _place(template, index, line if isinstance(source, str) else 1),
                        f"did you mean {dot}{meant}?" if meant else f"fields: {fields}",
                        "template-field-unknown",
                    )


def _go_names(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the fields that a Go template reads from its data, each with its line."""
    try:
        fields = list(gotemplate.root_fields(text, FUNCTIONS, REFUSED))
    except gotemplate.TemplateError:
        return  # the fault is reported where the Template is compiled
    for field in fields:
        yield field.names, field.line


def _jinja_names(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    # Importing Jinja2 takes time, and most runs have no Template for it.
    from kalypso_actions.rendering.jinja.manifests import root_names  # noqa: PLC0415

    return root_names(text)


def _texts(source: object) -> Iterator[str]:
    """Yield the templates of a manifest: a text, or all texts of an object."""
    match source:
        case str():
            yield source
        case Mapping():
            for value in source.values():
                yield from _texts(value)


def _fault(
    names: tuple[str, ...], known: Sequence[str], keys: Collection[str] | None
) -> tuple[str, str] | None:
    """Return an unknown field, and the one that was probably meant."""
    first, *rest = names
    if first not in known:
        return first, nearest(first, known)
    if first == "Manifests" and rest and keys is not None and rest[0] not in {*USUAL_KEYS, *keys}:
        close = nearest(rest[0], USUAL_KEYS)
        return (f"Manifests.{rest[0]}", f"Manifests.{close}") if close else None
    return None


def _place(template: Template, index: int, line: int) -> Location:
    where = template.where
    first = template.manifest_lines[index] if template.manifest_lines else where.line
    return replace(where, line=first + line - 1, column=0)
