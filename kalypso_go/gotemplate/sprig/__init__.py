"""The functions of Masterminds/sprig 2.22.0 (`TxtFuncMap`) whose results are reproducible.

Each module holds the functions of one topic; the decorator `signature.function` registers a
function with its Go signature. `FUNCTIONS` holds all of them, `REFUSED` the reasons why others are
missing. sprig's date functions read the clock if their argument is not a date; here that is an
error.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kalypso_go.gotemplate.sprig import (  # noqa: F401 - importing registers the functions
    case,
    copying,
    crypto,
    dates,
    defaults,
    dicts,
    encoding,
    equality,
    lists,
    merging,
    numbers,
    paths,
    reflection,
    regex,
    semver,
    strings,
    to_json,
    url,
    words,
    wrapping,
)
from kalypso_go.gotemplate.sprig.refused import REFUSED
from kalypso_go.gotemplate.sprig.signature import DECLARED
from kalypso_go.gotemplate.values import Function

__all__ = ["FUNCTIONS", "REFUSED"]

FUNCTIONS: Mapping[str, Function] = MappingProxyType(DECLARED)
