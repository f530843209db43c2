"""Merged configuration of an assignment, with the origin of every value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kalypso_actions.errors import Location

Path = tuple[Hashable, ...]
"""Keys and list indexes, outermost first."""

Origins = Mapping[Path, tuple[Location, ...]]
"""The places that set the value at a path, in order; the last one wins."""


@dataclass(frozen=True)
class MergedConfig:
    """The configuration of an assignment.

    `values` are parsed and merged. `texts` are the plain texts for the built-in configuration of
    old control planes, where later layers replace earlier ones. `config_maps` names the layers in
    order. Assignments share the mappings: they must not be changed.

    `trace` finds the origins of one top-level key, or of all (None), on demand: few are needed.
    """

    values: Mapping[str, object]
    texts: Mapping[str, str]
    config_maps: tuple[str, ...]
    trace: Callable[[str | None], Origins] = field(default=lambda _: {}, repr=False, compare=False)

    @cached_property
    def origins(self) -> Origins:
        """The places that set each value."""
        return self.trace(None)

    def origins_of(self, key: str) -> Origins:
        """Return the places that set each value below a top-level key; trace each key once."""
        known = self._origins_by_key
        if key not in known:
            known[key] = self.trace(key)
        return known[key]

    @cached_property
    def _origins_by_key(self) -> dict[str, Origins]:
        return {}
