"""Parse JSON from outside as strictly as GitHub does; Python's parser is more lenient."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

MAX_DEPTH: Final = 100
"""The maximum number of levels of nested lists and objects."""


def loads(content: bytes) -> Any:
    """Parse JSON in UTF-8.

    Raises ValueError for `NaN` and infinities, for lone surrogates, which no file or response can
    contain, and for deep nesting.
    """
    text = content.decode("utf-8")
    try:
        value = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(value, 0)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _check_depth(value: Any, depth: int) -> None:
    if not isinstance(value, (dict, list)):
        return
    if depth == MAX_DEPTH:
        raise ValueError("nested too deep")
    for child in value.values() if isinstance(value, dict) else value:
        _check_depth(child, depth + 1)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")
