"""A task that only people can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Identity:
    """GitHub's facts about the control plane; None for a clone, as nobody asked GitHub."""

    owner_id: int | None = None
    repository_id: int | None = None
    is_organization: bool | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task: pages by purpose, and lines to type."""

    title: str
    text: str
    links: Mapping[str, str]
    lines: tuple[str, ...] = ()
