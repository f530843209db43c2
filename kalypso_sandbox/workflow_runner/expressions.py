"""`${{ }}` in workflow files: the part that Kalypso's own workflows need.

An expression is a property of a context (`inputs.environment`, `github.event.before`), a string in
quotes, a comparison of two of these (`==`, `!=`), or several of these with an operator between
them. `||` gives the first value that is not empty; `&&` gives the last value, unless an earlier one
is empty.

https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from kalypso_actions.errors import KalypsoError

PLACE: Final = re.compile(r"\$\{\{(.*?)\}\}")
VALUE: Final = re.compile(r"(?P<path>[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*)|'(?P<text>[^']*)'")

Contexts = Mapping[str, Any]
"""The contexts of expressions: `github`, `inputs`, `vars`, `secrets`."""


def filled(text: str, contexts: Contexts) -> str:
    """Replace the expressions in `text` with their values; an absent value is "".

    Raises KalypsoError for an unsupported expression.
    """
    return PLACE.sub(lambda match: _value(match[1], contexts), text)


def _value(expression: str, contexts: Contexts) -> str:
    for alternative in expression.split("||"):
        values = [_operand(operand, expression, contexts) for operand in alternative.split("&&")]
        if all(values):
            return values[-1]
    return ""


def _operand(operand: str, expression: str, contexts: Contexts) -> str:
    """Return a value; for a comparison, `true`, or "", which counts as false on GitHub, too."""
    for operator in ("==", "!="):
        left, separator, right = operand.partition(f" {operator} ")
        if separator:
            values = [_operand(side, expression, contexts) for side in (left, right)]
            is_equal = values[0].lower() == values[1].lower()
            return "true" if is_equal == (operator == "==") else ""
    match = VALUE.fullmatch(operand.strip())
    if match is None or (match["path"] and match["path"].partition(".")[0] not in contexts):
        raise KalypsoError(
            f"the expression {expression.strip()!r} is not supported here",
            advice=f"begin with one of {', '.join(contexts)}",
        )
    return _as_text(_property(match["path"], contexts)) if match["path"] else match["text"]


def _property(path: str, contexts: Contexts) -> Any:
    value: Any = contexts
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _as_text(value: Any) -> str:
    """Convert a value as GitHub does."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
