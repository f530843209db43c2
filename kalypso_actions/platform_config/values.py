"""The text of a ConfigMap's value → the text itself, or the list or mapping that it spells."""

from __future__ import annotations

import re
from functools import lru_cache

from kalypso_actions import goyaml

_GO_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's unicode.IsSpace says; Python's own strip() takes four control characters more."""

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
    trimmed = text.strip(_GO_SPACE)
    if trimmed.startswith("'") and trimmed.endswith("'"):
        return trimmed.strip("'"), ""
    try:
        parsed = goyaml.parse(text)
    except goyaml.YAMLBoundError as error:
        return text, str(error)
    except goyaml.YAMLError:
        return text, ""
    return (parsed if isinstance(parsed, list | dict) else text), ""
