"""One layer of configuration over another, remembering who set what.

A value is a text, or what a text spells: lists and dicts of YAML scalars. No input is ever
changed: results share what is unchanged and copy what is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from kalypso_actions.errors import Location
from kalypso_actions.model.config import Path


def merge_values(old: object, new: object) -> object:
    """`new` over `old` by upstream's rules.

    Two mappings merge key by key. Of two lists, a mapping in the new one merges into every mapping
    of the result so far that has an equal `name` (two without a name are equal), else it is
    appended; everything else is appended. Otherwise the new value replaces the old one.
    """
    match old, new:
        case dict(), dict():
            return _merge_mappings(old, new)
        case list(), list():
            return _merge_lists(old, new)
        case _:
            return new


class Layers:
    """Configuration that grows by layers: values, and the origins of each."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.origins: dict[Path, tuple[Location, ...]] = {}

    def add(self, key: str, value: object, where: Location) -> None:
        """Merge `value`, written at `where`, into what `key` has so far."""
        if key not in self.values:
            self.values[key] = value
            self._set((key,), value, where)
            return
        old = self.values[key]
        self.values[key] = merge_values(old, value)
        self._follow((key,), old, value, where)

    def _follow(self, path: Path, old: object, new: object, where: Location) -> None:
        """Note `where` for every place below `path` that `new` sets over `old`."""
        match old, new:
            case dict(), dict():
                self._note(path, where)
                for key, value in new.items():
                    if key in old:
                        self._follow((*path, key), old[key], value, where)
                    else:
                        self._set((*path, key), value, where)
            case list(), list():
                self._note(path, where)
                self._follow_list(path, old, new, where)
            case _:
                if isinstance(old, dict | list):
                    self._forget_below(path)
                self._set(path, new, where)

    def _follow_list(
        self, path: Path, old: list[object], new: list[object], where: Location
    ) -> None:
        """Element by element: what one has set, the next may replace."""
        merged = list(old)
        for item in new:
            places = _places(merged, item)
            if not places:
                merged.append(item)
                self._set((*path, len(merged) - 1), item, where)
            for place in places:
                self._follow((*path, place), merged[place], item, where)
                merged[place] = merge_values(merged[place], item)

    def _forget_below(self, path: Path) -> None:
        """The value at `path` is another now: nothing below it is what it was."""
        below = [known for known in self.origins if known[: len(path)] == path and known != path]
        for known in below:
            del self.origins[known]

    def _set(self, path: Path, value: object, where: Location) -> None:
        self._note(path, where)
        for step, inner in _members(value):
            self._set((*path, step), inner, where)

    def _note(self, path: Path, where: Location) -> None:
        known = self.origins.get(path, ())
        if not known or known[-1] != where:
            self.origins[path] = (*known, where)


def _members(value: object) -> Iterator[tuple[Hashable, object]]:
    match value:
        case dict():
            yield from value.items()
        case list():
            yield from enumerate(value)


def _merge_mappings(old: dict[object, object], new: dict[object, object]) -> dict[object, object]:
    merged = dict(old)
    for key, value in new.items():
        merged[key] = merge_values(merged[key], value) if key in merged else value
    return merged


def _merge_lists(old: list[object], new: list[object]) -> list[object]:
    merged = list(old)
    for item in new:
        places = _places(merged, item)
        if not places:
            merged.append(item)
        for place in places:
            merged[place] = merge_values(merged[place], item)
    return merged


def _places(merged: list[object], item: object) -> list[int]:
    """Where `item` merges into; nowhere, if it is appended."""
    return [place for place, there in enumerate(merged) if _same_name(there, item)]


def _same_name(there: object, item: object) -> bool:
    """Whether two list elements are mappings of one name, compared as Go compares interfaces."""
    if not (isinstance(there, dict) and isinstance(item, dict)):
        return False
    return _same(there.get("name"), item.get("name"))


def _same(one: object, other: object) -> bool:
    """Equal in type and value: Python alone would take 1, 1.0 and true for equal."""
    if type(one) is not type(other):
        return False
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case _:
            return one == other
