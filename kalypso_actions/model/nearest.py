"""Names that people probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(text: str, known: Iterable[str]) -> str:
    """Return the known text that is most similar; "" if none is."""
    return next(iter(difflib.get_close_matches(text, list(known), n=1)), "")
