"""The text of a ConfigMap's value → the same text, or the list or mapping that it spells."""

from __future__ import annotations

import re
from functools import lru_cache

from kalypso_actions.model.caches import SizedCache
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
