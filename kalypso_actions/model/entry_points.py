"""Implementations by name: our own, and the entry points of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TypeVar

from kalypso_actions.errors import UsageError

T = TypeVar("T")


def find_implementation(name: str, own: Mapping[str, T], group: str, missing: str) -> T:
    """Return an implementation of our `own`, or the one that a package registers in a group.

    Our own need no entry points: actions run this package without installing its entry points.
    Raises UsageError with the message `missing` and the names of all implementations.
    """
    if name in own:
        return own[name]
    installed = {point.name: point for point in entry_points(group=group)}
    if name not in installed:
        known = ", ".join(sorted({*own, *installed}))
        raise UsageError(missing, advice=f"installed: {known}")
    implementation: T = installed[name].load()
    return implementation
