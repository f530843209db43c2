"""The fields that a Template reads from its data, found in the Template alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.errors import Location
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Template
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from kalypso_go import gotemplate

JINJA: Final = "jinja2"


def is_jinja(template: Template) -> bool:
    """Return whether a Template is written for Jinja2, by its annotation."""
    return template.annotations.get(ENGINE_ANNOTATION) == JINJA


def fields_read(template: Template) -> Iterator[tuple[tuple[str, ...], Location]]:
    """Yield each field that a Template reads, with the keys below it, and its place.

    A field is `("ConfigData", "REGION")`. A manifest that does not compile has none; the stage that
    compiles the Template reports its fault.
    """
    names_of = _jinja_names if is_jinja(template) else _go_names
    for index, source in enumerate(template.manifests):
        for text in _texts(source):
            seen = set()
            for names, line, column in names_of(text):
                if (names, line) not in seen:
                    seen.add((names, line))
                    is_text = isinstance(source, str)
                    yield names, template.at(index, line, column) if is_text else template.at(index)


def _go_names(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    try:
        fields = list(gotemplate.root_fields(text, FUNCTIONS, REFUSED))
    except gotemplate.TemplateError:
        return
    for field in fields:
        yield field.names, field.line, field.column


def _jinja_names(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    # Importing Jinja2 takes time, and most runs have no Template for it.
    from kalypso_actions.rendering.jinja.manifests import root_names  # noqa: PLC0415

    lines = text.splitlines()
    for names, line in root_names(text):
        match = re.search(rf"\b{re.escape(names[0])}\b", lines[line - 1])
        yield names, line, match.start() + 1 if match else 0


def _texts(source: object) -> Iterator[str]:
    """Yield the templates of a manifest: a text, or all texts of an object."""
    match source:
        case str():
            yield source
        case Mapping():
            for value in source.values():
                yield from _texts(value)
