"""Templates that may exist although no valid document has been read."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.model.documents import Reading
from kalypso_actions.model.nearest import nearest


def template_may_exist(name: str, readings: Iterable[Reading]) -> bool:
    """Whether a Template may exist: its document or kind is faulty, or a file cannot be read.

    The fault itself is reported; that the Template is missing may be wrong.
    """
    return any(
        reading.problems
        or any(
            document.name == name and nearest(document.kind, ("Template",))
            for document in reading.documents
        )
        for reading in readings
    )
