"""The text of a ConfigMap's value → the text itself, or the list or mapping that it spells."""

from __future__ import annotations

import re
from functools import lru_cache

from kalypso_actions import goyaml
from kalypso_actions.gotemplate.sprig.runes import SPACES

_SURELY_SCALAR = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+ -]*\Z")
"""Most values: no character in them could begin a list, a mapping, a tag or an anchor."""


def parse_value(text: str) -> object:
    """What upstream makes of a value: a list or dict where the text spells one, else the text.

    A text in single quotes is that text without them. Scalars stay exactly as they were written,
    and so does what is not YAML. The result is shared: whoever changes it copies it first.
    """
    return _parse(text)[0]


def bound_fault(text: str) -> str:
    """Why a value is too deep or too large to be read as what it spells; "" where it is not."""
    return _parse(text)[1]


@lru_cache(maxsize=65536)
def _parse(text: str) -> tuple[object, str]:
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
