"""How one thing stands that was checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "problem"]
"""`problem`: something fails. `warning`: something may fail, or could not be looked at."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what is so, and what to do about it; `place` is the repository that it is about.

    `page` is where to do it: a whole URL, or what comes behind the repository's (`pages`).
    """

    place: str
    state: State
    text: str
    advice: str = ""
    page: str = ""


def ok(place: str, text: str) -> Check:
    """All is well."""
    return Check(place, "ok", text)


def warning(place: str, text: str, advice: str, page: str = "") -> Check:
    """It may fail, or nobody knows."""
    return Check(place, "warning", text, advice, page)


def problem(place: str, text: str, advice: str, page: str = "") -> Check:
    """It fails."""
    return Check(place, "problem", text, advice, page)
