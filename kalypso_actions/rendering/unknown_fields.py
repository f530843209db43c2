"""Fields that Templates name but no assignment has, found in the Templates alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import FIELDS, JINJA_NAMES
from kalypso_actions.rendering.fields_read import fields_read, is_jinja

USUAL_KEYS: Final = frozenset({"repo", "branch", "path"})
"""The keys of `.Manifests` that reconcilers need."""


def unknown_fields(
    template: Template, manifest_keys: Collection[str] | None = None
) -> Iterator[Problem]:
    """Yield each unknown field of a Template, with the nearest known one.

    If the keys of the targets are known (`manifest_keys` is not None), this reports a key of
    `.Manifests` that resembles a usual key and that no target has. Maps may have any other key.
    """
    dot, known = ("", JINJA_NAMES) if is_jinja(template) else (".", FIELDS)
    for names, where in fields_read(template):
        fault = _fault(names, known, manifest_keys)
        if fault:
            name, meant = fault
            fields = ", ".join(f"{dot}{field}" for field in known)
            yield Problem(
                f"Template {template.name!r}: no assignment has the field {dot}{name}",
                where,
                f"did you mean {dot}{meant}?" if meant else f"fields: {fields}",
                "template-field-unknown",
            )


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
