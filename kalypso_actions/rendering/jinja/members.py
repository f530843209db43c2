"""Attributes and methods of values: `text.upper`, `mapping.items`, `loop.index`.

Each kind of value has a short list of members. No method changes a value from outside the template,
and each asks the meter before it builds or visits anything large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import Environment
from jinja2.runtime import LoopContext, Macro
from jinja2.utils import Cycler, Namespace

from kalypso_actions.rendering.jinja.meter import current_meter
from kalypso_actions.rendering.jinja.text_methods import TEXT_METHODS, call_text_method

ABSENT: Final = object()

_LOOP_VALUES: Final = frozenset(
    {
        *("first", "last", "length", "index", "index0", "revindex", "revindex0"),
        *("depth", "depth0", "previtem", "nextitem"),
    }
)
_MACRO_VALUES: Final = frozenset({"arguments", "caller", "catch_kwargs", "catch_varargs", "name"})


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function that a template may call."""

    run: Callable[..., object]

    def __call__(self, *args: Any, **kwargs: Any) -> object:
        """Call `run`."""
        return self.run(*args, **kwargs)


def member_of(environment: Environment, value: object, name: str) -> object:
    """Return the attribute or method `name` of `value`, or `ABSENT`."""
    for kind, member in _MEMBERS:
        if isinstance(value, kind):
            return member(environment, value, name)
    return ABSENT


def _of_text(environment: Environment, text: str, name: str) -> object:
    if name not in TEXT_METHODS:
        return ABSENT

    def method(*args: Any, **kwargs: Any) -> object:
        return call_text_method(environment, text, name, args, kwargs)

    return Function(method)


def _of_mapping(_environment: Environment, mapping: dict[object, object], name: str) -> object:
    def get(key: object, default: object = None) -> object:
        current_meter().measure(key)
        return mapping.get(key, default)

    def view() -> object:
        return current_meter().items(getattr(mapping, name)())

    if name == "get":
        return Function(get)
    return Function(view) if name in {"items", "keys", "values"} else ABSENT


def _of_list(_environment: Environment, items: list[object], name: str) -> object:
    if name not in {"count", "index"}:
        return getattr(items, name) if name in getattr(items, "_fields", ()) else ABSENT

    def search(*args: object) -> object:
        current_meter().measure(items)
        current_meter().measure(args)
        return getattr(items, name)(*args)

    return Function(search)


def _of_loop(_environment: Environment, loop: LoopContext, name: str) -> object:
    if name in _LOOP_VALUES:
        return getattr(loop, name)
    if name not in {"changed", "cycle"}:
        return ABSENT

    def method(*args: object) -> object:
        current_meter().measure(args)
        return getattr(loop, name)(*args)

    return Function(method)


def _of_cycler(_environment: Environment, cycler: Cycler, name: str) -> object:
    if name == "current":
        return cycler.current
    return Function(getattr(cycler, name)) if name in {"next", "reset"} else ABSENT


def _of_namespace(_environment: Environment, namespace: Namespace, name: str) -> object:
    return ABSENT if name.startswith("_") else getattr(namespace, name, ABSENT)


def _of_macro(_environment: Environment, macro: Macro, name: str) -> object:
    return getattr(macro, name) if name in _MACRO_VALUES else ABSENT


_MEMBERS: Final[tuple[tuple[type | tuple[type, ...], Callable[..., object]], ...]] = (
    (str, _of_text),
    (dict, _of_mapping),
    ((list, tuple), _of_list),  # groupby returns named tuples
    (LoopContext, _of_loop),
    (Cycler, _of_cycler),
    (Namespace, _of_namespace),
    (Macro, _of_macro),
)
