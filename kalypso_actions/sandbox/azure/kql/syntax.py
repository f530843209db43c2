"""What a query consists of, and the error for one that is not understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Value = Any
"""A cell: text, number, truth value, None, or a dynamic value (JSON)."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a query; `line` counts from 1, `column` from 0, as in Azure's errors.

    `kind` is name, text, number, sign or end; texts and numbers have a value.
    """

    kind: str
    text: str
    value: Value
    line: int
    column: int


class QueryError(Exception):
    """Azure does not understand the query; `details` is what its error says beside the code."""

    def __init__(self, *details: dict[str, Value]) -> None:
        super().__init__("; ".join(str(detail) for detail in details))
        self.details = details

    @classmethod
    def at(cls, token: Token) -> QueryError:
        """A token that does not belong where it stands."""
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
    """A value written in the query."""

    value: Value


@dataclass(frozen=True, slots=True)
class Path:
    """A column, or a place in its dynamic value: `properties.gitRepository.url`."""

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
    """Two values and how they must stand to each other."""

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
    """Keep the rows that fulfil the condition."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Project:
    """Keep these columns, each a name and where its values come from."""

    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Order:
    """Sort by these, the first before the others; each with whether it descends."""

    keys: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True, slots=True)
class Take:
    """Keep so many rows."""

    count: int


Operation = Where | Project | Order | Take


@dataclass(frozen=True, slots=True)
class Query:
    """A table's name in lower case, and what is done with its rows."""

    table: str
    operations: tuple[Operation, ...]
