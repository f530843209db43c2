"""A task that only people can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """A task: pages by purpose, and lines to type."""

    title: str
    text: str
    links: Mapping[str, str]
    lines: tuple[str, ...] = ()
