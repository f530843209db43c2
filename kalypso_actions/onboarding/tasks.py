"""Something that only people can do, and what it takes to say where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """What GitHub says of the control plane; None where it was not asked."""

    owner_id: int | None = None
    repository_id: int | None = None
    is_organization: bool | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do: where (pages, by what they are for), and what to type there."""

    title: str
    text: str
    links: Mapping[str, str]
    lines: tuple[str, ...] = ()
