"""Templates that may exist in faulty documents."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.model.documents import Reading
from kalypso_actions.model.nearest import nearest


def template_may_exist(name: str, readings: Iterable[Reading]) -> bool:
    """Whether a Template may exist, in a faulty document or an unreadable file.

    Another problem reports the fault; a problem about a missing Template could be wrong.
    """
    return any(
        reading.problems
        or any(
            document.name == name and nearest(document.kind, ("Template",))
            for document in reading.documents
        )
        for reading in readings
    )
