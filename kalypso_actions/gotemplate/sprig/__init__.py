"""The functions of Masterminds/sprig 2.22.0 (`TxtFuncMap`), as far as they are reproducible.

Each module holds the functions of one topic, its Go signature above each; `FUNCTIONS` is all of
them, `REFUSED` says why the others are missing. Where sprig reads the clock when a date function
is given no date, that is an error here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kalypso_actions.gotemplate.sprig import (
    case,
    copying,
    crypto,
    dates,
    defaults,
    dicts,
    encoding,
    equality,
    failing,
    lists,
    locations,
    merging,
    numbers,
    paths,
    reflection,
    regex,
    semver,
    strings,
    to_json,
    words,
    wrapping,
)
from kalypso_actions.gotemplate.sprig.refused import REFUSED
from kalypso_actions.gotemplate.sprig.signature import DECLARED
from kalypso_actions.gotemplate.values import Function

__all__ = ["FUNCTIONS", "REFUSED"]

_TOPICS = (
    case,
    copying,
    crypto,
    dates,
    defaults,
    dicts,
    encoding,
    equality,
    failing,
    lists,
    locations,
    merging,
    numbers,
    paths,
    reflection,
    regex,
    semver,
    strings,
    to_json,
    words,
    wrapping,
)
"""Importing them has declared their functions."""

FUNCTIONS: Mapping[str, Function] = MappingProxyType(DECLARED)
