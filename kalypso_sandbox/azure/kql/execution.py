"""A query and the rows of its table → the rows of Azure's answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kalypso_sandbox.azure.kql.syntax import (
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Order,
    Path,
    Project,
    Query,
    QueryError,
    Take,
    Value,
    Where,
)

DYNAMIC: Final = (dict, list, type(None))


@dataclass(frozen=True, slots=True)
class Result:
    """Rows, whether the query orders them, and whether it limits their number.

    `all_dynamic`: no column has a sortable type; pages need such a column.
    """

    rows: Sequence[Mapping[str, Value]]
    ordered: bool
    limited: bool
    all_dynamic: bool


def execute(query: Query, rows: Sequence[Mapping[str, Value]], columns: Iterable[str]) -> Result:
    """Run a query over the rows of a table with these columns.

    Raises QueryError for an unknown column.
    """
    known = list(columns)
    for operation in query.operations:
        for path in _paths(operation):
            if path.names[0] not in known:
                raise QueryError.at(path.token)
        match operation:
            case Where(condition):
                rows = [row for row in rows if _holds(condition, row)]
            case Project(projected):
                rows = [
                    {name: _value(expression, row) for name, expression in projected}
                    for row in rows
                ]
                known = [name for name, _ in projected]
            case Order(keys):
                rows = _sorted(rows, keys)
            case Take(count):
                rows = rows[:count]
    return Result(
        rows,
        ordered=any(isinstance(operation, Order) for operation in query.operations),
        limited=any(isinstance(operation, Take) for operation in query.operations),
        all_dynamic=all(isinstance(cell, DYNAMIC) for row in rows for cell in row.values()),
    )


def _paths(part: Any) -> Iterable[Path]:
    """Yield every column that an operation reads."""
    match part:
        case Path():
            yield part
        case Where(condition=one) | Call(argument=one):
            yield from _paths(one)
        case Comparison(left=left, right=right):
            yield from _paths([left, right])
        case Project(columns=pairs):
            yield from _paths([expression for _, expression in pairs])
        case Order(keys=pairs):
            yield from _paths([expression for expression, _ in pairs])
        case list() | tuple():
            for element in part:
                yield from _paths(element)
        case _:
            yield from _paths(list(getattr(part, "parts", ())))


def _holds(condition: Condition, row: Mapping[str, Value]) -> bool:
    if isinstance(condition, Comparison):
        left, right = _value(condition.left, row), _value(condition.right, row)
        return OPERATORS[condition.operator](left, right)
    parts = (_holds(part, row) for part in condition.parts)
    return all(parts) if condition.word == "and" else any(parts)


def _value(expression: Expression, row: Mapping[str, Value]) -> Value:
    match expression:
        case Constant(value):
            return value
        case Path(names):
            return _at(row, names)
        case Call(function, argument):
            text = _text(_value(argument, row))
            return text.lower() if function == "tolower" else text


def _at(value: Value, names: Sequence[str]) -> Value:
    """Return the value at a path, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: Value) -> str:
    """Convert a value as `tostring` does: None to "", and a dynamic value to its JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _equal(left: Value, right: Value) -> bool:
    """Return whether the types and the values are equal; None equals nothing."""
    return left is not None and type(left) is type(right) and bool(left == right)


def _has(left: Value, right: Value) -> bool:
    """Return whether a text contains a term as a whole word."""
    text, term = _text(left).lower(), _text(right).lower()
    start = text.find(term)
    while start >= 0:
        neighbours = (
            text[max(start - 1, 0) : start],
            text[start + len(term) : start + len(term) + 1],
        )
        if not any(neighbour.isalnum() for neighbour in neighbours):
            return True
        start = text.find(term, start + 1)
    return False


OPERATORS: Final[Mapping[str, Callable[[Value, Value], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "=~": lambda left, right: _text(left).lower() == _text(right).lower(),
    "contains": lambda left, right: _text(right).lower() in _text(left).lower(),
    "startswith": lambda left, right: _text(left).lower().startswith(_text(right).lower()),
    "has": _has,
}


def _sorted(
    rows: Sequence[Mapping[str, Value]], keys: Sequence[tuple[Expression, bool]]
) -> Sequence[Mapping[str, Value]]:
    """Sort by each key; null values come first, or last in descending order."""
    for expression, descends in reversed(keys):
        ranked = [(_rank(_value(expression, row)), row) for row in rows]
        rows = [row for _, row in sorted(ranked, key=lambda pair: pair[0], reverse=descends)]
    return rows


def _rank(value: Value) -> tuple[bool, float, str]:
    number = float(value) if isinstance(value, int | float) else 0
    return value is not None, number, "" if isinstance(value, int | float) else _text(value)
