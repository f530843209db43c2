"""The values that differ between merged configurations, with the assignments that have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.errors import Location
from kalypso_actions.model.config import MergedConfig, Path
from kalypso_actions.model.differences import AssignmentName, SetValue, ValueChange
from kalypso_actions.model.identity_cache import IdentityCache

Configured = tuple[AssignmentName, MergedConfig, MergedConfig]
"""An assignment of both plans, with its configuration in each."""

ValueDifference = tuple[Path, SetValue | None, SetValue | None]
"""A value's path, and the value before and after; None on a side without it."""

_MOST_PAIRS: Final = 1_000
"""The most pairs of configurations whose differences are remembered."""


def value_changes(configured: Iterable[Configured]) -> tuple[ValueChange, ...]:
    """Return the values that differ, each once for all assignments with the same difference."""
    differences = ValueDifferences()
    return grouped_values(
        (assignment, differences.of(before, after)) for assignment, before, after in configured
    )


def grouped_values(
    differing: Iterable[tuple[AssignmentName, Iterable[ValueDifference]]],
) -> tuple[ValueChange, ...]:
    """Return each difference once, with all assignments that have it."""
    rows: dict[Hashable, _Row] = {}
    for assignment, differences in differing:
        for difference in differences:
            key = repr(difference)  # distinguishes 1 from true, and lists are not hashable
            rows.setdefault(key, _Row(difference)).assignments.append(assignment)
    changes = (row.change for row in rows.values())
    return tuple(sorted(changes, key=lambda item: ([*map(str, item.path)], item.assignments)))


@dataclass(slots=True)
class _Row:
    difference: ValueDifference
    assignments: list[AssignmentName] = field(default_factory=list)

    @property
    def change(self) -> ValueChange:
        path, before, after = self.difference
        places = (side.where for side in (before, after) if side and side.where)
        return ValueChange(
            path,
            tuple(sorted(self.assignments)),
            before,
            after,
            frozenset(where.repository for where in places),
        )


class ValueDifferences:
    """Finds the values that differ; remembers some pairs, because assignments share them."""

    def __init__(self) -> None:
        self._known: IdentityCache[MergedConfig, Sequence[ValueDifference]] = IdentityCache(
            _MOST_PAIRS
        )

    def of(self, before: MergedConfig, after: MergedConfig) -> Sequence[ValueDifference]:
        """Return the values that differ, with the places that set them."""
        return self._known.result(lambda *pair: tuple(_differences(*pair)), before, after)


def _differences(before: MergedConfig, after: MergedConfig) -> Iterator[ValueDifference]:
    def differing(path: Path, old: object, new: object) -> Iterator[ValueDifference]:
        if isinstance(old, dict) and isinstance(new, dict):
            for key in dict.fromkeys((*old, *new)):
                inner = (*path, key)
                if key not in new:
                    yield inner, _set(before, inner, old[key]), None
                elif key not in old:
                    yield inner, None, _set(after, inner, new[key])
                elif not (isinstance(old[key], str) and old[key] == new[key]):  # most are equal
                    yield from differing(inner, old[key], new[key])
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            for index, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
                yield from differing((*path, index), old_item, new_item)
        elif repr(old) != repr(new):
            yield path, _set(before, path, old), _set(after, path, new)

    yield from differing((), before.values, after.values)


def _set(config: MergedConfig, path: Path, value: object) -> SetValue:
    return SetValue(value, _place(config, path))


def _place(config: MergedConfig, path: Path) -> Location | None:
    """Return the place of the layer that last set a value, or the value that contains it."""
    origins = config.origins_of(str(path[0]))
    places = (origins.get(path[:length]) for length in range(len(path), 0, -1))
    return next((known[-1] for known in places if known), None)
