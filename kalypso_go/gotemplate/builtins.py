"""Go's own functions; `calls` evaluates `and`, `or` and `call`, which have special rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kalypso_go.gotemplate import comparison
from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.escaping import escape_html, escape_js, escape_query
from kalypso_go.gotemplate.formatting import PLAIN
from kalypso_go.gotemplate.indexing import index, length, slice_
from kalypso_go.gotemplate.numerals import format_float
from kalypso_go.gotemplate.printer import Printer
from kalypso_go.gotemplate.printf import sprint, sprintf, sprintln
from kalypso_go.gotemplate.values import (
    ANY,
    BOOL,
    INT,
    NO_VALUE,
    REFLECT_VALUE,
    STRING,
    Function,
    GoStruct,
    Type,
)

_TEXTS = ("Error", "String")
"""Methods that return a value's text."""


def display(value: object, budget: Budget) -> str:
    """Return a value as an action prints it."""
    if isinstance(value, str):
        return value
    if value is NO_VALUE or value is None:
        return "<no value>"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return format_float(value, "g")
    printer = Printer(budget)
    printer.argument(_printable(value), "v", PLAIN)
    text = printer.text()
    budget.spend(len(text), "the printed text")
    return text


def _printable(value: object) -> object:
    """Return the value that an action prints; for a pointer, that is its target."""
    if value is None or value is NO_VALUE:
        return "<no value>"
    if isinstance(value, GoStruct) and value.pointer and value.methods.keys().isdisjoint(_TEXTS):
        return GoStruct(value.type, value.fields, value.methods, hidden=value.hidden)
    return value


def _print(budget: Budget, *values: object) -> str:
    _reserve(budget, "print", values)
    return sprint(values, budget)


def _println(budget: Budget, *values: object) -> str:
    _reserve(budget, "println", values)
    return sprintln(values, budget)


def _printf(budget: Budget, format_: str, *values: object) -> str:
    _reserve(budget, "printf", values, len(format_))
    return sprintf(format_, values, budget)


def _reserve(budget: Budget, name: str, values: Sequence[object], size: int = 0) -> None:
    for value in values:  # takes half the time of a sum
        if isinstance(value, str):
            size += len(value)
    budget.reserve(size, name)


def _escaper(name: str, escape: Callable[[str], str]) -> Callable[..., str]:
    def call(budget: Budget, *values: object) -> str:
        text = _print(budget, *map(_printable, values))
        escaped = escape(text)
        budget.reserve(len(escaped), name)
        return escaped

    return call


def _not(value: object) -> bool:
    return not value


def _special(*_: object) -> object:
    raise AssertionError("`calls` compiles this function specially")


AND = Function("and", _special, (REFLECT_VALUE, REFLECT_VALUE), variadic=True, result=REFLECT_VALUE)
OR = Function("or", _special, (REFLECT_VALUE, REFLECT_VALUE), variadic=True, result=REFLECT_VALUE)
CALL = Function(
    "call", _special, (REFLECT_VALUE, REFLECT_VALUE), variadic=True, result=REFLECT_VALUE
)


def _on_values(
    name: str, call: Callable[..., object], fixed: int, result: Type, *, variadic: bool = False
) -> Function:
    """Declare a function that takes values of every type unchanged."""
    parameters = (REFLECT_VALUE,) * (fixed + variadic)
    return Function(name, call, parameters, variadic, result)


def _on_any(name: str, call: Callable[..., object], *fixed: Type, cost: int = 1) -> Function:
    """Declare a function that turns any number of values into one text."""
    parameters = (*fixed, ANY)
    return Function(
        name, call, parameters, variadic=True, result=STRING, takes_budget=True, cost=cost
    )


BUILTINS: Mapping[str, Function] = {
    function.name: function
    for function in (
        AND,
        OR,
        CALL,
        _on_values("not", _not, 1, BOOL),
        _on_values("len", length, 1, INT),
        _on_values("index", index, 1, REFLECT_VALUE, variadic=True),
        _on_values("slice", slice_, 1, REFLECT_VALUE, variadic=True),
        _on_values("eq", comparison.eq, 1, BOOL, variadic=True),
        _on_values("ne", comparison.ne, 2, BOOL),
        _on_values("lt", comparison.lt, 2, BOOL),
        _on_values("le", comparison.le, 2, BOOL),
        _on_values("gt", comparison.gt, 2, BOOL),
        _on_values("ge", comparison.ge, 2, BOOL),
        _on_any("print", _print),
        _on_any("println", _println),
        _on_any("printf", _printf, STRING),
        _on_any("html", _escaper("html", escape_html), cost=4),
        _on_any("js", _escaper("js", escape_js), cost=16),
        _on_any("urlquery", _escaper("urlquery", escape_query), cost=4),
    )
}
"""Go's functions by name."""
