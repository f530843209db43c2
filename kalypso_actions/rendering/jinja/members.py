"""Attributes and methods of values: `text.upper`, `mapping.items`, `loop.index`.

Each kind of value has a short list of members. No method changes a value from outside the template.
Methods and operators of texts have Python's results; each asks the meter before it builds or visits
anything large.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, cast

from jinja2 import Environment
from jinja2.runtime import LoopContext, Macro
from jinja2.sandbox import SandboxedFormatter
from jinja2.utils import Cycler, Namespace

from kalypso_actions.rendering.jinja.meter import current_meter, describe

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


PIECE_COST: Final = 32
"""The cost of each small text that a text is split into."""

_CONVERSION: Final = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?"
    r"(?:\.(?P<precision>\*|\d*))?[hlL]?(?P<verb>[diouxXeEfFgGcrsa%])"
)
_NUMBER: Final = re.compile(r"\d+")
_FORMATTED: Final = (str, int, float)
"""Types whose `format` takes a specification."""


def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """`str.replace`."""
    meter = current_meter()
    growth = text.count(old) * max(0, len(new) - len(old))
    meter.reserve(len(text) + growth, "a replaced text")
    return text.replace(old, new, count)


def join(separator: str, pieces: object) -> str:
    """`str.join`."""
    texts = current_meter().items(pieces)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"item {index} is {describe(text)}, only texts can be joined")
    return joined(separator, cast("list[str]", texts))


def joined(separator: str, texts: list[str]) -> str:
    """Join texts after asking the meter for the size of the result."""
    size = sum(map(len, texts)) + len(separator) * len(texts)
    current_meter().reserve(size, "a joined text")
    return separator.join(texts)


def percent(text: str, values: object) -> str:
    """Compute `text % values`, conversion by conversion."""
    current_meter().spend(PIECE_COST * len(text), "a formatted text")
    arguments = list(values) if isinstance(values, tuple) else [values]
    conversions = _Conversions(_FormattedSize(len(text)), arguments, values)
    _refuse_incomplete(text)
    result = _CONVERSION.sub(conversions.convert, text)
    if arguments and not isinstance(values, dict):
        raise TypeError("not all arguments converted during string formatting")
    return result


def _refuse_incomplete(text: str) -> None:
    rest = _CONVERSION.sub("", text)
    if "%" in rest:
        start = rest.index("%")
        raise ValueError(f"unsupported format {rest[start : start + 10]!r}")


class _FormattedSize:
    """The size of a text that is built piece by piece."""

    def __init__(self, size: int) -> None:
        self.meter = current_meter()
        self._size = size

    def fit(self, size: int) -> None:
        """Raise LimitError if a piece of `size` characters is too large."""
        self.meter.fit(self._size + size, "a formatted text")

    def add(self, piece: str) -> str:
        """Count a piece and return it. Raises LimitError."""
        self._size += len(piece)
        self.meter.spend(len(piece), "a formatted text")
        self.fit(0)
        return piece


class _Conversions:
    """The conversions of one `%`, which take the arguments one by one."""

    def __init__(self, size: _FormattedSize, arguments: list[object], values: object) -> None:
        self._size = size
        self._arguments = arguments
        self._values = values

    def convert(self, match: re.Match[str]) -> str:
        if match["verb"] == "%":
            return "%"
        width = self._number(match["width"])
        precision = max(0, self._number(match["precision"]))
        value = self._value(match["key"])
        if match["verb"] in "sra":
            text = self._size.meter.text(value)
            value = text if match["verb"] == "s" else value
        point = "" if match["precision"] is None else f".{precision}"
        self._size.fit(abs(width) + precision)
        return self._size.add(f"%{match['flags']}{width or ''}{point}{match['verb']}" % (value,))

    def _value(self, key: str | None) -> object:
        if key is None:
            if not self._arguments:
                raise TypeError("not enough arguments for format string")
            return self._arguments.pop(0)
        if not isinstance(self._values, Mapping):
            raise TypeError("format requires a mapping")
        return self._values[key]

    def _number(self, digits: str | None) -> int:
        if digits != "*":
            return int(digits or 0)
        number = self._value(None)
        if not isinstance(number, int):
            raise TypeError("* wants int")
        return number


class BoundedFormatter(SandboxedFormatter):
    """`str.format` in the sandbox, with bounds."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._size = _FormattedSize(0)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Convert data by `!s`, `!r` or `!a`. Raises TemplateRuntimeError for other values."""
        if conversion is not None:
            self._size.meter.text(value)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format one field; the numbers in its specification are its width and precision."""
        if not isinstance(value, _FORMATTED):
            if format_spec:
                raise TypeError(f"{describe(value)} takes no format {format_spec!r}")
            value = self._size.meter.text(value)
        self._size.fit(sum(int(number) for number in _NUMBER.findall(format_spec)))
        return self._size.add(format(value, format_spec))


def _padded(method: Callable[..., str]) -> Callable[..., str]:
    @wraps(method)
    def padded(text: str, width: int, *fill: str) -> str:
        current_meter().reserve(max(len(text), _as_size(width)), "a padded text")
        return method(text, width, *fill)

    return padded


def expandtabs(text: str, tabsize: int = 8) -> str:
    """`str.expandtabs`."""
    size = len(text) + text.count("\t") * _as_size(tabsize)
    current_meter().reserve(size, "a text with its tabs expanded")
    return text.expandtabs(tabsize)


def _as_size(number: object) -> int:
    """Return 0 for a value that is not a number; the method itself raises the error."""
    return max(0, number) if isinstance(number, int) else 0


def _in_pieces(method: Callable[..., list[str]]) -> Callable[..., list[str]]:
    @wraps(method)
    def pieces(text: str, *args: object, **kwargs: object) -> list[str]:
        current_meter().spend(len(text) * PIECE_COST, "splitting a text")
        return method(text, *args, **kwargs)

    return pieces


center = _padded(str.center)

_GROWING: Final[Mapping[str, Callable[..., object]]] = {
    "center": center,
    "expandtabs": expandtabs,
    "join": join,
    "ljust": _padded(str.ljust),
    "replace": replace,
    "rjust": _padded(str.rjust),
    "rsplit": _in_pieces(str.rsplit),
    "split": _in_pieces(str.split),
    "splitlines": _in_pieces(str.splitlines),
    "zfill": _padded(str.zfill),
}
"""Methods that ask the meter for the size of their result."""

_PLAIN: Final = frozenset(
    {
        *("capitalize", "casefold", "lower", "swapcase", "title", "upper"),
        *("lstrip", "removeprefix", "removesuffix", "rstrip", "strip"),
        *("count", "endswith", "find", "index", "rfind", "rindex", "startswith"),
        *("partition", "rpartition"),
        *("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower"),
        *("isnumeric", "isprintable", "isspace", "istitle", "isupper"),
    }
)
"""Methods whose result is hardly larger than the text."""

TEXT_METHODS: Final = frozenset({*_GROWING, *_PLAIN, "format", "format_map"})
"""The methods of a text. `encode`, `maketrans` and `translate` do not return texts."""


def call_text_method(
    environment: Environment, text: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> object:
    """Call one of TEXT_METHODS. Raises LimitError, and the errors of Python's method."""
    meter = current_meter()
    meter.spend(len(text), "a method of a text")
    if name == "format":
        return BoundedFormatter(environment).vformat(text, args, kwargs)
    if name == "format_map":
        (mapping,) = args
        return BoundedFormatter(environment).vformat(text, (), mapping)
    if name in _GROWING:
        return _GROWING[name](text, *args, **kwargs)
    for argument in args:
        meter.measure(argument)
    return getattr(text, name)(*args, **kwargs)
