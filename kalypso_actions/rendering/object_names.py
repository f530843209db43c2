"""The names of the objects in rendered files, as Kubernetes accepts them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kalypso_actions.model.kubernetes_names import SUBDOMAIN_LIMIT, object_name_fault
from kalypso_actions.rendering.outline import outline
from kalypso_actions.rendering.registration_budget import Spend

_LABEL: Final = rb"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME: Final = rb"(?=[-.a-z0-9]{1,%d}(?![-.a-z0-9]))%s(?:\.%s)*+" % (
    SUBDOMAIN_LIMIT,
    _LABEL,
    _LABEL,
)
_END: Final = rb"[^\S\n]*+(?:[\n#}]|\Z|, *+[\"']?[-.\w]++[\"']? *+:)"
"""The end of a plain name: of its line, or of its part of a mapping in braces."""

_REFUSED: Final = re.compile(
    rb"name(?<!\wname)[\"']?+ *+: *+(?!%s%s|\"%s\"|'%s')" % (_NAME, _END, _NAME, _NAME)
)
"""Matches what seems to be a name that `object_name_fault` refuses.

The pattern begins with the word itself: a word boundary before it would make the search several
times as slow.
"""

_OBJECT_NAME: Final = re.compile(r"(?:items\.\d+\.)?metadata\.name")

Place = tuple[str, int, str]
"""A file, the number of a document in it, and the path of a field."""


def refused_names(files: Mapping[str, bytes], spend: Spend) -> dict[Place, str]:
    """Return the names that are no DNS subdomain, which nearly all kinds require.

    This parses only the files that seem to have such a name; `spend` counts that.
    """
    suspicious = {name: file for name, file in files.items() if _REFUSED.search(file)}
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
