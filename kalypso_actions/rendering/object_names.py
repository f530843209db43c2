"""The names of the objects in rendered files, as Kubernetes accepts them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kalypso_actions.model.kubernetes_names import object_name_fault
from kalypso_actions.rendering.outline import outline
from kalypso_actions.rendering.registration_budget import Spend

_NAME: Final = re.compile(rb"name(?<!\wname)[\"']? *: *[\"']?([^\s,}\"']{0,260})")
"""Beginning with the word itself, it is found several times as fast as with `\b` before it."""

_OBJECT_NAME: Final = re.compile(r"(?:items\.\d+\.)?metadata\.name")

Place = tuple[str, int, str]
"""A file, the number of a document in it, and the path of a field."""


def refused_names(files: Mapping[str, bytes], spend: Spend) -> dict[Place, str]:
    """Return the names that are no DNS subdomain, which nearly all kinds require.

    Files are only parsed if they seem to have one. `spend` counts that.
    """
    suspicious = {name: file for name, file in files.items() if _has_refused_name(file)}
    if not suspicious:
        return {}
    entries = outline(suspicious, (), spend=spend).entries
    objects = {(entry.file, entry.document) for entry in entries if entry.field == "apiVersion"}
    return {
        (entry.file, entry.document, entry.field): entry.value
        for entry in entries
        if _OBJECT_NAME.fullmatch(entry.field) and object_name_fault(entry.value)
        if (entry.file, entry.document) in objects
    }


def _has_refused_name(file: bytes) -> bool:
    return any(object_name_fault(name.decode("latin-1")) for name in _NAME.findall(file))
