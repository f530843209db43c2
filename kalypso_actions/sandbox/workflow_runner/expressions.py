"""`${{ }}` in workflow files, as far as Kalypso's own workflows use it.

An expression is the path of a value in a context (`inputs.environment`, `github.event.before`) or a
text in quotes; several of them with `||` between: the first that is not empty; with `&&` between:
the last, unless one before is empty.
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
"""`github`, `inputs`, `vars`, `secrets`: what expressions may name."""


def filled(text: str, contexts: Contexts) -> str:
    """`text` with the value of each expression in its place; a value that is absent is "".

    Raises KalypsoError for an expression of any other form.
    """
    return PLACE.sub(lambda place: _value(place[1], contexts), text)


def _value(expression: str, contexts: Contexts) -> str:
    for alternative in expression.split("||"):
        values = [_operand(one, expression, contexts) for one in alternative.split("&&")]
        if all(values):
            return values[-1]
    return ""


def _operand(operand: str, expression: str, contexts: Contexts) -> str:
    found = VALUE.fullmatch(operand.strip())
    if found is None or (found["path"] and found["path"].partition(".")[0] not in contexts):
        raise KalypsoError(
            f"the expression {expression.strip()!r} is not understood here",
            advice=f"write a path that begins with one of {', '.join(contexts)}",
        )
    return _written(_at(found["path"], contexts)) if found["path"] else found["text"]


def _at(path: str, contexts: Contexts) -> Any:
    value: Any = contexts
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _written(value: Any) -> str:
    """As GitHub writes it into a text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
