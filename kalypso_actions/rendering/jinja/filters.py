"""Jinja2's filters and tests (`value is …`): each is bounded, or refused with a reason.

Where Jinja2's own filter returns a generator, ours returns a list: a generator prints as an
address in memory, is always true, and is empty the second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Any, Final

from jinja2 import pass_context
from jinja2.filters import FILTERS as DEFAULT_FILTERS
from jinja2.runtime import Context
from jinja2.tests import TESTS as JINJA_TESTS
from markupsafe import escape

from kalypso_actions.rendering.jinja.members import PIECE_COST, center, joined, percent, replace
from kalypso_actions.rendering.jinja.meter import (
    bounded_integer,
    current_meter,
    describe,
    refuse_undefined,
)

FOR_HTML: Final = "it is for HTML, and a manifest is not HTML"
NOT_REPRODUCIBLE: Final = "the same sources must always give the same manifests"

REFUSED_FILTERS: Final[Mapping[str, str]] = {
    "attr": "values here have keys and no attributes; write value[key]",
    "pprint": "it chooses its line breaks itself; write toYaml or tojson",
    "random": NOT_REPRODUCIBLE,
    "striptags": FOR_HTML,
    "urlize": FOR_HTML,
    "xmlattr": FOR_HTML,
}

Filter = Callable[..., Any]

_MAX_PRECISION: Final = 308
"""The number of digits of the largest float."""

_MAX_NAME: Final = 1000

_PARSING: Final = 8
"""The work for each character of a text that may be a number."""

_JSON_GROWTH: Final = 6
"""A character may become `\\u0000` in JSON."""

_URL_GROWTH: Final = 12
"""A character may become four `%00` in a URL."""


def _original(name: str, context: Context, *args: Any, **kwargs: Any) -> Any:
    """Call Jinja2's own filter as its compiler does."""
    function = DEFAULT_FILTERS[name]
    passed = getattr(function, "jinja_pass_arg", None)
    if passed is None:
        return function(*args, **kwargs)
    first = {
        "context": context,
        "eval_context": context.eval_ctx,
        "environment": context.environment,
    }[passed.name]
    return function(first, *args, **kwargs)


def _plain(name: str) -> Filter:
    """Keep a filter whose result is never larger than its arguments; refuse undefined values."""

    @pass_context
    def plain(context: Context, value: object, *args: Any, **kwargs: Any) -> object:
        refuse_undefined(value)
        if isinstance(value, str):
            current_meter().spend(_PARSING * len(value), f"the filter {name}")
        return bounded_integer(_original(name, context, value, *args, **kwargs))

    return plain


def _on_text(name: str) -> Filter:
    """Apply a filter to the text of a value; the result is hardly larger."""
    cost = _COSTS.get(name, 1)

    @pass_context
    def on_text(context: Context, value: object, *args: Any, **kwargs: Any) -> object:
        meter = current_meter()
        text = meter.text(value)
        meter.spend(cost * len(text), f"the filter {name}")
        return _original(name, context, text, *args, **kwargs)

    return on_text


_COSTS: Final[Mapping[str, int]] = {"title": 16, "wordcount": 8}
"""The work for each character, if it is more than 1: these filters split the text."""


def _on_items(name: str, *, ordered: bool = False) -> Filter:
    """Apply a filter to the elements of a value.

    `ordered`: the filter compares the elements with one another, so they must be data.
    """

    @pass_context
    def on_items(context: Context, value: object, *args: Any, **kwargs: Any) -> object:
        meter = current_meter()
        _refuse_long_names(*args, *kwargs.values())
        items = meter.items(value)
        if ordered:
            meter.spend(meter.measure(items) * _comparisons(items), f"the filter {name}")
        return _as_list(_original(name, context, items, *args, **kwargs))

    return on_items


def _refuse_long_names(*names: object) -> None:
    """Refuse long names of attributes: Jinja2 looks each part up in each element."""
    if any(isinstance(name, str) and len(name) > _MAX_NAME for name in names):
        raise ValueError(f"the name of an attribute has more than {_MAX_NAME} characters")


def _choosing(name: str) -> Filter:
    """Apply a filter to the elements of a value, as Jinja2 does: none and 0 have no elements."""
    on_items = _on_items(name)

    @pass_context
    def choosing(context: Context, value: object, *args: Any, **kwargs: Any) -> object:
        return on_items(context, value or [], *args, **kwargs)

    return choosing


def _as_list(result: object) -> object:
    return current_meter().items(result) if isinstance(result, Iterator) else result


def _text(value: object) -> str:
    return current_meter().text(value)


def _escape(value: object) -> str:
    text = _text(value)
    current_meter().reserve(len(text) * len("&#34;"), "an escaped text")
    return str(escape(text))


def _center(value: object, width: int = 80) -> str:
    return center(_text(value), width)


def _replace(value: object, old: object, new: object, count: int | None = None) -> str:
    limit = -1 if count is None else count
    return replace(_text(value), _text(old), _text(new), limit)


def _format(value: object, *args: object, **kwargs: object) -> str:
    if args and kwargs:
        raise TypeError("format takes positional or keyword arguments, not both")
    return percent(_text(value), kwargs or args)


@pass_context
def _join(context: Context, value: object, d: object = "", attribute: object = None) -> str:
    _refuse_long_names(attribute)
    items = current_meter().items(value)
    if attribute is not None:
        items = _original("map", context, items, attribute=attribute)
    return joined(_text(d), [_text(item) for item in items])


@pass_context
def _indent(
    context: Context, value: object, width: int | str = 4, first: bool = False, blank: bool = False
) -> object:
    text = _text(value)
    step = len(width) if isinstance(width, str) else width
    size = len(text) + (len(text.splitlines()) + 1) * max(0, step)
    current_meter().reserve(size, "an indented text")
    return _original("indent", context, text, width, first, blank)


@pass_context
def _wordwrap(
    context: Context,
    value: object,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str | None = None,
    break_on_hyphens: bool = True,
) -> object:
    text = _text(value)
    meter = current_meter()
    meter.reserve(len(text) * (1 + len(wrapstring or "\n")), "a wrapped text")
    meter.spend(len(text) * PIECE_COST, "the filter wordwrap")
    # textwrap copies a long word once for each line that it fills.
    copies = sum(len(line) * (len(line) // max(1, width)) for line in text.splitlines())
    meter.spend(copies, "the filter wordwrap")
    return _original(
        "wordwrap", context, text, width, break_long_words, wrapstring, break_on_hyphens
    )


@pass_context
def _urlencode(context: Context, value: object) -> object:
    meter = current_meter()
    size = meter.measure(value)
    meter.reserve(size * _URL_GROWTH, "an encoded text")
    return _original("urlencode", context, value)


@pass_context
def _tojson(context: Context, value: object, indent: int | None = None) -> str:
    if not isinstance(indent, int | None):
        raise TypeError(f"the indentation is a number, not {describe(indent)}")
    meter = current_meter()
    size = meter.measure(value) * _JSON_GROWTH
    meter.reserve(size + (indent or 0) * _levels(value, 1), "JSON")
    return str(_original("tojson", context, value, indent))


def _levels(value: object, depth: int) -> int:
    """Return the sum of the levels of all elements, each of which indents JSON once."""
    match value:
        case dict():
            return depth + sum(_levels(item, depth + 1) for item in value.values())
        case list() | tuple():
            return depth + sum(_levels(item, depth + 1) for item in value)
        case _:
            return depth


@pass_context
def _round(context: Context, value: object, precision: int = 0, method: str = "common") -> object:
    refuse_undefined(value)
    if not isinstance(value, int | float):
        raise TypeError(f"{describe(value)} cannot be rounded")
    if abs(precision) > _MAX_PRECISION:
        raise ValueError(f"the precision is beyond {_MAX_PRECISION}")
    return _original("round", context, value, precision, method)


@pass_context
def _sum(
    context: Context, value: object, attribute: str | int | None = None, start: float = 0
) -> object:
    if not isinstance(start, int | float):
        raise TypeError(f"a sum starts with a number, not with {describe(start)}")
    _refuse_long_names(attribute)
    items = current_meter().items(value)
    return bounded_integer(_original("sum", context, items, attribute, start))


@pass_context
def _batch(context: Context, value: object, linecount: int, fill_with: object = None) -> object:
    if fill_with is not None:
        current_meter().iterate(linecount)
    return _on_items("batch")(context, value, linecount, fill_with)


@pass_context
def _slice(context: Context, value: object, slices: int, fill_with: object = None) -> object:
    current_meter().iterate(slices)
    return _on_items("slice")(context, value, slices, fill_with)


@pass_context
def _dictsort(context: Context, value: object, *args: Any, **kwargs: Any) -> object:
    refuse_undefined(value)
    if not isinstance(value, dict):
        raise TypeError(f"{describe(value)} has no keys to sort")
    meter = current_meter()
    meter.spend(meter.measure(value) * _comparisons(value), "the filter dictsort")
    return _original("dictsort", context, value, *args, **kwargs)


def _reverse(value: object) -> object:
    if isinstance(value, str):
        current_meter().spend(len(value), "the filter reverse")
        return value[::-1]
    return current_meter().items(value)[::-1]


def _items(value: object) -> list[object]:
    refuse_undefined(value)
    if not isinstance(value, dict):
        raise TypeError(f"{describe(value)} has no items")
    return current_meter().items(value.items())


def _list(value: object) -> list[object]:
    return current_meter().items(value)


def _comparisons(items: Sized) -> int:
    """Estimate how often sorting compares each element."""
    return len(items).bit_length()


FILTERS: Final[Mapping[str, Filter]] = {
    "default": DEFAULT_FILTERS["default"],
    "d": DEFAULT_FILTERS["default"],
    **{
        name: _plain(name)
        for name in ("abs", "count", "filesizeformat", "first", "float", "int", "last", "length")
    },
    **{
        name: _on_text(name)
        for name in ("capitalize", "lower", "title", "trim", "truncate", "upper", "wordcount")
    },
    **{name: _on_items(name, ordered=True) for name in ("groupby", "max", "min", "sort", "unique")},
    **{name: _choosing(name) for name in ("map", "reject", "rejectattr", "select", "selectattr")},
    "batch": _batch,
    "center": _center,
    "dictsort": _dictsort,
    "e": _escape,
    "escape": _escape,
    "forceescape": _escape,
    "format": _format,
    "indent": _indent,
    "items": _items,
    "join": _join,
    "list": _list,
    "replace": _replace,
    "reverse": _reverse,
    "round": _round,
    "safe": _text,
    "slice": _slice,
    "string": _text,
    "sum": _sum,
    "tojson": _tojson,
    "urlencode": _urlencode,
    "wordwrap": _wordwrap,
}
"""Every filter that a template may use. Jinja2's other filters are in `REFUSED_FILTERS`; those of a
later version are unknown names."""


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


def _test_on_text(name: str) -> Test:
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
    **{name: _test_on_text(name) for name in ("lower", "upper")},
    **{name: _ORIGINAL[name] for name in _OF_KIND},
}
"""Every test that a template may use."""
