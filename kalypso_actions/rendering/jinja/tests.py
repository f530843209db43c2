"""Jinja2's tests (`value is …`): each is bounded, or refused with a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2.tests import TESTS as JINJA_TESTS

from kalypso_actions.rendering.jinja.filters import FOR_HTML
from kalypso_actions.rendering.jinja.meter import current_meter, describe, refuse_undefined

REFUSED_TESTS: Final[Mapping[str, str]] = {
    "callable": "a template's author knows what can be called",
    "escaped": FOR_HTML,
    "filter": "a template's author knows the filters",
    "sameas": "identity depends on how Python stores values; write == or `is true`",
    "test": "a template's author knows the tests",
}

Test = Callable[..., bool]

_ORIGINAL: Final[Mapping[str, Any]] = JINJA_TESTS


def _comparing(name: str) -> Test:
    """Measure both values first: comparing visits all of them."""

    def comparing(value: object, other: object) -> bool:
        meter = current_meter()
        meter.measure(value)
        meter.measure(other)
        return bool(_ORIGINAL[name](value, other))

    comparing.__qualname__ = name
    return comparing


def _on_number(name: str) -> Test:
    """Refuse other values: Python's `%` would format a text."""

    def on_number(value: object, *args: Any, **kwargs: Any) -> bool:
        refuse_undefined(value)
        if not isinstance(value, int | float):
            raise TypeError(f"{describe(value)} is not a number")
        return bool(_ORIGINAL[name](value, *args, **kwargs))

    on_number.__qualname__ = name
    return on_number


def _on_text(name: str) -> Test:
    def on_text(value: object) -> bool:
        meter = current_meter()
        text = meter.text(value)
        meter.spend(len(text), f"the test {name}")
        return bool(_ORIGINAL[name](text))

    on_text.__qualname__ = name
    return on_text


_COMPARISONS: Final = (
    *("==", "!=", "<", "<=", ">", ">="),
    *("eq", "equalto", "ne", "lt", "lessthan", "le", "gt", "greaterthan", "ge"),
    "in",
)
_OF_KIND: Final = (
    *("boolean", "false", "float", "integer", "none", "number", "string", "true"),
    *("iterable", "mapping", "sequence"),
    *("defined", "undefined"),
)

TESTS: Final[Mapping[str, Test]] = {
    **{name: _comparing(name) for name in _COMPARISONS},
    **{name: _on_number(name) for name in ("divisibleby", "even", "odd")},
    **{name: _on_text(name) for name in ("lower", "upper")},
    **{name: _ORIGINAL[name] for name in _OF_KIND},
}
"""Every test that a template may use."""
