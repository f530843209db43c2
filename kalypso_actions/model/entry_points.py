"""Implementations by name: built in, of this distribution, and of other packages.

    make_scheduler = find_implementation("prices", BUILT_IN, SCHEDULERS, "there is no scheduler")

This distribution registers entry points as any other package does. Of two entry points with the
same name, the one of this distribution counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from typing import Any, Final, TypeVar

from kalypso_actions.errors import KalypsoError, UsageError

DISTRIBUTION: Final = "kalypso-actions"

T = TypeVar("T")


def own_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of this distribution in a group, by name."""
    try:
        points = distribution(DISTRIBUTION).entry_points
    except PackageNotFoundError:
        return {}
    return {point.name: point for point in points.select(group=group)}


def installed_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of all installed packages in a group, by name."""
    return {point.name: point for point in entry_points(group=group)} | own_points(group)


def load_point(point: EntryPoint) -> Any:
    """Import the object of an entry point. Raises KalypsoError if that fails."""
    try:
        return point.load()
    except Exception as error:  # the code of another package
        message = f"{point.value} ({point.group}) cannot be imported: "
        message += f"{type(error).__name__}: {error}"
        advice = f"correct or remove the package that registers {point.name!r}"
        raise KalypsoError(message, advice=advice) from error


def find_implementation(name: str, built_in: Mapping[str, T], group: str, missing: str) -> T:
    """Return an implementation that is `built_in`, or that a package registers in a group.

    Raises UsageError with the message `missing` and the names of all implementations, and
    KalypsoError if the implementation cannot be imported.
    """
    if name in built_in:
        return built_in[name]
    point = own_points(group).get(name)
    if point is None:
        installed = installed_points(group)
        if name not in installed:
            known = ", ".join(sorted({*built_in, *installed}))
            raise UsageError(missing, advice=f"installed: {known}")
        point = installed[name]
    implementation: T = load_point(point)
    return implementation


DEFAULT_SCHEDULER: Final = "labels"

SCHEDULERS: Final = "kalypso_actions.schedulers"
"""The group of the entry points of schedulers."""


def is_own_scheduler(name: str) -> bool:
    """Whether a scheduler belongs to this distribution; "" is the default scheduler."""
    return name in {"", DEFAULT_SCHEDULER} or name in own_points(SCHEDULERS)
