"""The shape of JSON: its fields and their kinds, and the differences between two shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = Any
Shape = Mapping[str, frozenset[str]]
"""Place (`$.labels[].name`) -> the kinds of the values there."""

_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """`missing`: only in the recording; `added`: only in ours; `kind`: the kinds differ."""

    place: str
    what: Literal["missing", "added", "kind"]
    recorded: str = ""
    ours: str = ""

    def __str__(self) -> str:
        kinds = f" (recorded: {self.recorded}, ours: {self.ours})" if self.what == "kind" else ""
        return f"{self.what} {self.place}{kinds}"


def shape(value: Json) -> Shape:
    """Return the shape of a value; all items of a list share one place."""
    kinds: dict[str, frozenset[str]] = {}
    for place, kind in _places(value, "$"):
        kinds[place] = kinds.get(place, frozenset()) | {kind}
    return kinds


def _places(value: Json, place: str) -> Iterator[tuple[str, str]]:
    yield place, _KINDS.get(type(value), "number")
    if isinstance(value, dict):
        for name, content in value.items():
            yield from _places(content, f"{place}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _places(item, f"{place}[]")


def differences(recorded: Shape, ours: Shape) -> Iterator[Difference]:
    """Yield the differences between two shapes.

    Skip a place if the place above it exists in only one shape, has no items in one of them, or is
    not an object in both.
    """
    for place in sorted(recorded.keys() | ours.keys()):
        parent = place.removesuffix("[]") if place.endswith("[]") else place.rpartition(".")[0]
        if parent and not (parent in recorded and parent in ours):
            continue
        if place in recorded and place in ours:
            if recorded[place] != ours[place]:
                kinds = ("/".join(sorted(side[place])) for side in (recorded, ours))
                yield Difference(place, "kind", *kinds)
        elif place.endswith("[]") or not _both_objects(parent, recorded, ours):
            continue
        else:
            yield Difference(place, "missing" if place in recorded else "added")


def _both_objects(parent: str, recorded: Shape, ours: Shape) -> bool:
    return "object" in recorded[parent] and "object" in ours[parent]
