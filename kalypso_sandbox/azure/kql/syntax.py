"""The parts of a query, and the error for an invalid one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Value = Any
"""A cell: string, number, boolean, None, or a dynamic value (JSON)."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query; `line` counts from 1, `column` from 0, as in Azure's errors.

    `kind` is name, text, number, sign or end; texts and numbers have a value.
    """

    kind: str
    text: str
    value: Value
    line: int
    column: int


class QueryError(Exception):
    """Azure refuses the query; `details` is the content of its error."""

    def __init__(self, *details: dict[str, Value]) -> None:
        super().__init__("; ".join(str(detail) for detail in details))
        self.details = details

    @classmethod
    def at(cls, token: Token) -> QueryError:
        """Return the error for an unexpected token."""
        invalid = {
            "code": "InvalidQuery",
            "message": "Query is invalid. Please refer to the documentation for the Azure "
            "Resource Graph service and fix the error before retrying.",
        }
        place = {
            "code": "ParserFailure",
            "message": "ParserFailure",
            "line": token.line,
            "characterPositionInLine": token.column,
            "token": token.text,
        }
        return cls(invalid, place)


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal value in the query."""

    value: Value


@dataclass(frozen=True, slots=True)
class Path:
    """A column, or a property of its dynamic value: `properties.gitRepository.url`."""

    names: tuple[str, ...]
    token: Token


@dataclass(frozen=True, slots=True)
class Call:
    """`tostring` or `tolower` of one argument."""

    function: Literal["tostring", "tolower"]
    argument: Expression


Expression = Constant | Path | Call


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values and a comparison operator."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Junction:
    """All, or any, of several conditions."""

    word: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition = Comparison | Junction


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the rows that meet the condition."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Project:
    """Keep these columns; each has a name and an expression."""

    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Order:
    """Sort by these keys, the most significant first; each may be descending."""

    keys: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True, slots=True)
class Take:
    """Keep the first rows."""

    count: int


Operation = Where | Project | Order | Take


@dataclass(frozen=True, slots=True)
class Query:
    """A table's name in lower case, and the operations on its rows."""

    table: str
    operations: tuple[Operation, ...]
