"""JSON that comes from outside: as GitHub takes it, whatever Python's reader would take."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

MAX_DEPTH: Final = 100
"""Lists and objects in each other."""


def loads(content: bytes) -> Any:
    """What JSON in UTF-8 says.

    Raises ValueError for anything else: numbers that are none (`NaN`), halves of characters, which
    no file and no answer can hold, and what is nested too deep.
    """
    text = content.decode("utf-8")
    try:
        value = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deep") from None
    _check_depth(value, 0)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _check_depth(value: Any, depth: int) -> None:
    if not isinstance(value, (dict, list)):
        return
    if depth == MAX_DEPTH:
        raise ValueError("nested too deep")
    for one in value.values() if isinstance(value, dict) else value:
        _check_depth(one, depth + 1)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
