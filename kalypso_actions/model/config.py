"""Merged configuration of an assignment, with the origin of every value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from kalypso_actions.errors import Location

Path = tuple[Hashable, ...]
"""Keys and list indexes, from the outermost in."""

Origins = Mapping[Path, tuple[Location, ...]]
"""For the path of each resulting value: the places that set it, in order; the last one won."""


@dataclass(frozen=True, slots=True)
class MergedConfig:
    """What applies to an assignment.

    `values` are parsed and merged. `texts` are the plain texts of the built-in configuration of old
    control planes, where a later layer's text replaces an earlier one's. `config_maps` names the
    layers in order. It is shared between assignments: nobody changes it.
    """

    values: Mapping[str, object]
    texts: Mapping[str, str]
    origins: Origins
    config_maps: tuple[str, ...]
