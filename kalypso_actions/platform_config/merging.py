"""Read the values of ConfigMaps, merge layers of them, and remember where each value was set.

A value is a text, or the list or dict of YAML scalars that the text spells. Merging changes no
input; a result shares its unchanged parts with the inputs.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from kalypso_actions.errors import Location
from kalypso_actions.model.caches import SizedCache
from kalypso_actions.model.config import Path
from kalypso_go import goyaml
from kalypso_go.gotemplate.text import SPACES

_SURELY_SCALAR = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+ -]*\Z")
"""Matches most values: no character in them can begin a list, a mapping, a tag or an anchor."""


_CACHED_LENGTH = 256


def parse_value(text: str) -> object:
    """Return the list or dict that a text spells, else the text, as upstream does.

    This removes single quotes around a text; scalars, and texts that are not YAML, stay as written.
    Callers share the result: copy it before changing it.
    """
    return _parse(text)[0]


def bound_fault(text: str) -> str:
    """Return why a value is too deep or too large to be read, or ""."""
    return _parse(text)[1]


_long_values: SizedCache[tuple[object, str]] = SizedCache(1 << 22)


def _parse(text: str) -> tuple[object, str]:
    if len(text) <= _CACHED_LENGTH:
        return _cached_parse(text)
    result = _long_values.get(text)
    if result is None:
        result = _parse_uncached(text)
        _long_values.put(text, result, len(text))
    return result


@lru_cache(maxsize=65536)
def _cached_parse(text: str) -> tuple[object, str]:
    return _parse_uncached(text)


def _parse_uncached(text: str) -> tuple[object, str]:
    if _SURELY_SCALAR.match(text):
        return text, ""
    trimmed = text.strip(SPACES)
    if trimmed.startswith("'") and trimmed.endswith("'"):
        return trimmed.strip("'"), ""
    try:
        parsed = goyaml.parse(text)
    except goyaml.YAMLBoundError as error:
        return text, str(error)
    except goyaml.YAMLError:
        return text, ""
    return (parsed if isinstance(parsed, list | dict) else text), ""


class Layers:
    """Configuration that grows by layers: values, and the origins of each.

    Layers merge by upstream's rules. Two mappings merge key by key. Of two lists, a mapping in the
    new one merges into every mapping of the result so far with an equal `name` (two without a name
    are equal); other elements are appended. Otherwise, the new value replaces the old one.
    """

    def __init__(
        self, values: Mapping[str, object] = MappingProxyType({}), *, with_origins: bool = True
    ) -> None:
        """Begin with `values` below all layers. Without origins, merging takes half the time."""
        self._with_origins = with_origins
        self.values: dict[str, object] = {**values}
        self.origins: dict[Path, tuple[Location, ...]] = {}

    def add(self, key: str, value: object, where: Location) -> None:
        """Merge `value`, written at `where`, into the value of `key`."""
        if key in self.values:
            self.values[key] = self._merge((key,), self.values[key], value, where)
        else:
            self.values[key] = value
            if self._with_origins:
                self._record((key,), value, where)

    def _merge(self, path: Path, old: object, new: object, where: Location) -> object:
        match old, new:
            case dict(), dict():
                self._add_origin(path, where)
                return self._merge_mappings(path, old, new, where)
            case list(), list():
                self._add_origin(path, where)
                return self._merge_lists(path, old, new, where)
            case _:
                if isinstance(old, dict | list):
                    self._forget_below(path)
                self._record(path, new, where)
                return new

    def _merge_mappings(
        self, path: Path, old: dict[Hashable, object], new: dict[Hashable, object], where: Location
    ) -> object:
        merged = dict(old)
        for key, value in new.items():
            if key in old:
                merged[key] = self._merge((*path, key), old[key], value, where)
            else:
                merged[key] = value
                self._record((*path, key), value, where)
        return merged

    def _merge_lists(
        self, path: Path, old: list[object], new: list[object], where: Location
    ) -> object:
        merged = list(old)
        for item in new:
            places = [place for place, element in enumerate(merged) if _same_name(element, item)]
            if not places:
                merged.append(item)
                self._record((*path, len(merged) - 1), item, where)
            for place in places:
                merged[place] = self._merge((*path, place), merged[place], item, where)
        return merged

    def _forget_below(self, path: Path) -> None:
        """Forget the origins of the elements of a value that is replaced."""
        below = [known for known in self.origins if known[: len(path)] == path and known != path]
        for known in below:
            del self.origins[known]

    def _record(self, path: Path, value: object, where: Location) -> None:
        """Add an origin to a value and all of its elements."""
        if not self._with_origins:
            return
        self._add_origin(path, where)
        for step, inner in _elements(value):
            self._record((*path, step), inner, where)

    def _add_origin(self, path: Path, where: Location) -> None:
        if not self._with_origins:
            return
        known = self.origins.get(path, ())
        if not known or known[-1] != where:
            self.origins[path] = (*known, where)


def _elements(value: object) -> Iterator[tuple[Hashable, object]]:
    match value:
        case dict():
            yield from value.items()
        case list():
            yield from enumerate(value)


def _same_name(element: object, item: object) -> bool:
    """Return whether two mappings have the same name, compared as Go compares interfaces."""
    if not (isinstance(element, dict) and isinstance(item, dict)):
        return False
    return _same(element.get("name"), item.get("name"))


def _same(left: object, right: object) -> bool:
    """Compare type and value: in Python, unlike in Go, 1, 1.0 and true are equal."""
    if type(left) is not type(right):
        return False
    match left, right:
        case dict(), dict():
            return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
        case list(), list():
            return len(left) == len(right) and all(map(_same, left, right))
        case _:
            return left == right
