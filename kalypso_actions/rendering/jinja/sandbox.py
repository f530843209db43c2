"""Jinja2's sandbox with bounds on what a template may reach, call and compute.

A template sees data (texts, numbers, booleans, none, lists, mappings, ranges) and objects of the
language (loops, macros, namespaces). Everything else has no attributes, cannot be called and
cannot be printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jinja2 import StrictUndefined, TemplateRuntimeError, Undefined, pass_context
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace

from kalypso_actions.rendering.jinja import syntax
from kalypso_actions.rendering.jinja.filters import FILTERS, NOT_REPRODUCIBLE, TESTS
from kalypso_actions.rendering.jinja.members import ABSENT, Function, member_of, percent
from kalypso_actions.rendering.jinja.meter import (
    ELEMENT_COST,
    MAX_INTEGER_BITS,
    bounded_integer,
    current_meter,
    describe,
)
from kalypso_go.gotemplate import LimitError


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of all manifests. It is immutable, and threads share it."""

    intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)

    def __init__(self, functions: Mapping[str, Callable[..., object]]) -> None:
        """Make `functions` available to templates, also as filters of the same names."""
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,
            keep_trailing_newline=True,
            optimized=False,  # compute constants while the meter runs, not at compile time
            finalize=_printed,
            cache_size=0,
        )
        self.filters = {**FILTERS, **_HIDDEN, **functions}
        self.tests = dict(TESTS)
        everywhere = {**_GLOBALS, **functions}
        self.globals = {name: Function(run) for name, run in everywhere.items()}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Evaluate `obj.attribute`: a member of its kind, else the value of that key."""
        if isinstance(obj, Undefined):
            return obj[attribute]
        member = member_of(self, obj, attribute)
        if member is ABSENT and isinstance(obj, Mapping):
            member = obj.get(attribute, ABSENT)
        return self._undefined_member(obj, attribute) if member is ABSENT else member

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Evaluate `obj[argument]`: the element or the value of that key, else a member."""
        if isinstance(obj, Undefined):
            return obj[argument]
        if not isinstance(argument, int | str):
            current_meter().measure(argument)
        if isinstance(obj, str | list | tuple | range | dict):
            try:
                return obj[argument]
            except (TypeError, LookupError):
                pass
        if not isinstance(argument, str):
            return self.undefined(f"{describe(obj)} has no element {argument!r}")
        member = member_of(self, obj, argument)
        return self._undefined_member(obj, argument) if member is ABSENT else member

    def _undefined_member(self, obj: object, name: str) -> Undefined:
        kind = "key" if isinstance(obj, Mapping) else "attribute"
        return self.undefined(f"{describe(obj)} has no {kind} {name!r}")

    def is_safe_callable(self, obj: Any) -> bool:
        """Allow functions and objects of the language."""
        return isinstance(obj, Function | Macro | LoopContext | Joiner | Undefined)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call, counting the depth of macros and recursive loops."""
        if isinstance(obj, Macro | LoopContext):
            with current_meter().call():
                return super().call(context, obj, *args, **kwargs)
        return super().call(context, obj, *args, **kwargs)

    def call_binop(self, _context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an arithmetic operator on numbers, or on texts and lists if Python can."""
        match operator, left, right:
            case _, int() | float(), int() | float():
                return self._calculate(operator, left, right)
            case "%", str(), _:
                return percent(left, right)
            case ("+", str(), str()) | ("+", list(), list()) | ("+", tuple(), tuple()):
                return _repeated(left, 1, right)
            case "*", str() | list() | tuple(), int():
                return _repeated(left, right)
            case "*", int(), str() | list() | tuple():
                return _repeated(right, left)
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return self.binop_table[operator](left, right)
        raise TypeError(f"{describe(left)} {operator} {describe(right)} cannot be computed")

    def _calculate(self, operator: str, left: Any, right: Any) -> object:
        bounded_integer(left)
        bounded_integer(right)
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            bits = (abs(left).bit_length() - 1) * right
            if bits > MAX_INTEGER_BITS:
                raise LimitError(f"an integer goes beyond the limit of {MAX_INTEGER_BITS} bits")
        return bounded_integer(self.binop_table[operator](left, right))

    def concat(self, pieces: Iterable[str], /) -> str:
        """Join the output of a macro, or of a `call`, `filter` or `set` block."""
        texts = list(pieces)
        current_meter().reserve(sum(map(len, texts)), "the text of a block")
        return "".join(texts)


@pass_context
def _printed(_context: Context, value: object) -> str:
    """Return the text of a value; `pass_context` keeps Jinja2 from calling this at compile time."""
    return current_meter().text(value)


def _unit(value: object) -> int:
    """Return the cost of each element of a text or list."""
    return 1 if isinstance(value, str) else ELEMENT_COST


def _repeated(left: Any, count: int, right: Any = ()) -> Any:
    """Compute `left + right` or, without `right`, `left * count`."""
    size = (len(left) * max(0, count) + len(right)) * _unit(left)
    current_meter().reserve(size, f"{describe(left)} put together")
    return left + right if right else left * count


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    current_meter().fit_iterations(len(numbers))
    return numbers


def _dict(*args: Any, **kwargs: object) -> dict[object, object]:
    current_meter().measure(args)
    return dict(*args, **kwargs)


def _namespace(*args: Any, **kwargs: object) -> Namespace:
    return Namespace(_dict(*args, **kwargs))


def _lipsum(*_args: object, **_kwargs: object) -> str:
    raise TemplateRuntimeError(f"lipsum does not exist here: {NOT_REPRODUCIBLE}")


_GLOBALS: Final[Mapping[str, Callable[..., object]]] = {
    "cycler": Cycler,
    "dict": _dict,
    "joiner": Joiner,
    "lipsum": _lipsum,
    "namespace": _namespace,
    "range": _range,
}


def _measured(value: object) -> object:
    current_meter().measure(value)
    return value


def _decided(value: object) -> object:
    """Return a condition; see `Decisions`."""
    decisions = current_meter().budget.decisions
    return value if decisions is None else decisions.decide(bool(value))


def _concat(values: Iterable[object]) -> str:
    meter = current_meter()
    texts = [meter.text(value) for value in values]
    meter.reserve(sum(map(len, texts)), "a text put together by ~")
    return "".join(texts)


def _slice(value: Any, start: Any, stop: Any, step: Any) -> object:
    if isinstance(value, Undefined):
        return value[start]
    if not isinstance(value, str | list | tuple | range):
        raise TypeError(f"{describe(value)} cannot be sliced")
    current_meter().spend(len(value) * _unit(value), "a slice")
    return value[start:stop:step]


def _spread(value: object) -> object:
    meter = current_meter()
    if isinstance(value, Mapping):
        meter.iterate(len(value))
        return value
    return meter.items(value)


_HIDDEN: Final[Mapping[str, Callable[..., object]]] = {
    syntax.CONCAT: _concat,
    syntax.ENTER_MACRO: lambda nodes: current_meter().enter_macro(nodes),
    syntax.ENTER_LOOP: lambda nodes: current_meter().enter_loop(nodes),
    syntax.SLICE: _slice,
    syntax.SPREAD: _spread,
    syntax.MEASURED: _measured,
    syntax.DECIDED: _decided,
}
"""The filters that `syntax` inserts into templates."""
