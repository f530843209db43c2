"""The values that differ between merged configurations, with the assignments that have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from kalypso_actions.errors import Location
from kalypso_actions.model.config import MergedConfig, Path
from kalypso_actions.model.differences import AssignmentName, SetValue, ValueChange

Configured = tuple[AssignmentName, MergedConfig, MergedConfig]
"""An assignment of both plans, with its configuration in each."""

_Difference = tuple[Path, SetValue | None, SetValue | None]


def value_changes(configured: Iterable[Configured]) -> tuple[ValueChange, ...]:
    """Return the values that differ, each once for all assignments with the same difference."""
    differences: dict[tuple[int, int], list[_Difference]] = {}
    rows: dict[Hashable, _Row] = {}
    for assignment, before, after in configured:
        pair = id(before), id(after)  # plans share configurations, and keep them alive
        if pair not in differences:
            differences[pair] = list(_differences(before, after))
        for difference in differences[pair]:
            key = repr(difference)  # tells 1 from true, and hashes lists
            rows.setdefault(key, _Row(difference)).assignments.append(assignment)
    changes = (row.change for row in rows.values())
    return tuple(sorted(changes, key=lambda item: ([*map(str, item.path)], item.assignments)))


@dataclass(slots=True)
class _Row:
    difference: _Difference
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


def _differences(before: MergedConfig, after: MergedConfig) -> Iterator[_Difference]:
    def differing(path: Path, old: object, new: object) -> Iterator[_Difference]:
        if isinstance(old, dict) and isinstance(new, dict):
            for key in dict.fromkeys((*old, *new)):
                inner = (*path, key)
                if key not in new:
                    yield inner, _set(before, inner, old[key]), None
                elif key not in old:
                    yield inner, None, _set(after, inner, new[key])
                else:
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
    for length in range(len(path), 0, -1):
        origins = config.origins.get(path[:length])
        if origins:
            return origins[-1]
    return None
