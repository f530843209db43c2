"""A strict subset of the Kusto query language, for Kalypso's queries of Resource Graph.

    kql.execute(kql.parse("resources | where name =~ 'web' | take 5"), rows, columns).rows

Operators: `where` (==, !=, =~, contains, has, startswith, and, or, parentheses), `project`,
`order by`, `take`, `limit`; functions: `tostring`, `tolower`. This module refuses everything else,
as Azure refuses an invalid query, because a test with a misread query would prove nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

Value = Any
"""A cell: string, number, boolean, None, or a dynamic value (JSON)."""

Rows = Sequence[Mapping[str, Value]]

T = TypeVar("T")

TOKENS: Final = re.compile(
    r"""
      (?P<blank>\s+ | //[^\n]*)
    | (?P<text>'(?:[^'\\\r\n]|\\[^\r\n])*' | "(?:[^"\\\r\n]|\\[^\r\n])*")
    | (?P<number>\d{1,18})
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>==|=~|!=|[|(),.=\[\]])
    | (?P<stray>.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
ESCAPE: Final = re.compile(r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|(?P<letter>.))")
LETTERS: Final = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
TRUTHS: Final = {"true": True, "false": False}
DYNAMIC: Final = (dict, list, type(None))


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
class Expression:
    """A value of each row: of a column, a constant, a function or a condition.

    `reads` are the names of columns that it reads. `name` is that of its column after `project`;
    only a path and a function of a path have one of their own.
    """

    of: Callable[[Mapping[str, Value]], Value]
    reads: tuple[Token, ...] = ()
    name: str = ""
    is_path: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a query: rows → rows; `columns` are the new ones after `project`, else None."""

    word: str
    apply: Callable[[Rows], Rows]
    reads: tuple[Token, ...] = ()
    columns: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A table's name in lower case, and the operations on its rows."""

    table: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """Rows, and whether the query limits their number.

    `all_dynamic`: no column has a sortable type; pages need such a column.
    """

    rows: Rows
    limited: bool
    all_dynamic: bool


def execute(query: Query, rows: Rows, columns: Iterable[str]) -> Result:
    """Run a query over the rows of a table with these columns.

    Raises QueryError for an unknown column.
    """
    known = list(columns)
    for operation in query.operations:
        for token in operation.reads:
            if token.text not in known:
                raise QueryError.at(token)
        rows = operation.apply(rows)
        known = known if operation.columns is None else list(operation.columns)
    return Result(
        rows,
        limited=any(operation.word in {"take", "limit"} for operation in query.operations),
        all_dynamic=all(isinstance(cell, DYNAMIC) for row in rows for cell in row.values()),
    )


def parse(text: str) -> Query:
    """Parse a query. Raises QueryError for anything outside the supported subset.

    Names of tables ignore case; everything else is case-sensitive.
    """
    return _Parser(text).query()


class _Parser:
    """Turns tokens into a query, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._position = 0

    def query(self) -> Query:
        table = self._of_kind("name")
        operations: list[Operation] = []
        while self._next.kind != "end":
            self._expect("|")
            operations.append(self._operation())
        return Query(table.text.lower(), tuple(operations))

    def _operation(self) -> Operation:
        word = self._of_kind("name")
        match word.text:
            case "where":
                condition = self._junction("or")
                return Operation(
                    word.text,
                    lambda rows: [row for row in rows if condition.of(row)],
                    condition.reads,
                )
            case "project":
                columns = self._listed(self._column)
                return Operation(
                    word.text,
                    lambda rows: [{each.name: each.of(row) for each in columns} for row in rows],
                    tuple(token for each in columns for token in each.reads),
                    [each.name for each in columns],
                )
            case "order":
                self._expect("by")
                keys = self._listed(self._key)
                reads = tuple(token for expression, _ in keys for token in expression.reads)
                return Operation(word.text, partial(_sorted, keys), reads)
            case "take" | "limit":
                count = int(self._of_kind("number").value)
                return Operation(word.text, lambda rows: rows[:count])
        raise QueryError.at(word)

    def _junction(self, word: str) -> Expression:
        """Parse conditions between `or`, or between `and`, which binds more tightly."""
        parts = [self._junction("and") if word == "or" else self._comparison()]
        while self._accept(word):
            parts.append(self._junction("and") if word == "or" else self._comparison())
        if len(parts) == 1:
            return parts[0]
        holds = any if word == "or" else all
        reads = tuple(token for part in parts for token in part.reads)
        return Expression(lambda row: holds(part.of(row) for part in parts), reads)

    def _comparison(self) -> Expression:
        if self._accept("("):
            condition = self._junction("or")
            self._expect(")")
            return condition
        left = self._expression()
        operator = self._take()
        if operator.kind == "text" or operator.text not in OPERATORS:
            raise QueryError.at(operator)
        right, compare = self._expression(), OPERATORS[operator.text]
        reads = left.reads + right.reads
        return Expression(lambda row: compare(left.of(row), right.of(row)), reads)

    def _column(self) -> Expression:
        """Parse `name`, `name = expression`, or an expression that names its column."""
        following = self._tokens[min(self._position + 1, len(self._tokens) - 1)]
        if self._next.kind == "name" and following.text == "=":
            name = self._of_kind("name").text
            self._expect("=")
            return replace(self._expression(), name=name)
        expression = self._expression()
        if not expression.name:
            raise QueryError.at(self._next)
        return expression

    def _key(self) -> tuple[Expression, bool]:
        """Parse a sort key; the default direction is descending, unlike in SQL."""
        expression = self._expression()
        if self._accept("asc"):
            return expression, False
        self._accept("desc")
        return expression, True

    def _expression(self) -> Expression:
        token = self._take()
        if token.kind in {"text", "number"}:
            return Expression(lambda _: token.value)
        if token.kind != "name":
            raise QueryError.at(token)
        if self._accept("("):
            return self._call(token)
        if token.text in TRUTHS:
            return Expression(lambda _: TRUTHS[token.text])
        return self._path(token)

    def _call(self, function: Token) -> Expression:
        argument = self._expression()
        self._expect(")")
        if function.text not in FUNCTIONS:
            message = f"Unknown function: '{function.text}'."
            unknown = {"code": "UnknownFunction", "message": message}
            raise QueryError(QueryError.at(function).details[0], unknown)
        convert = FUNCTIONS[function.text]
        name = argument.name if argument.is_path else ""
        return Expression(lambda row: convert(argument.of(row)), argument.reads, name)

    def _path(self, token: Token) -> Expression:
        """Parse a column, or a property of its dynamic value: `properties.gitRepository.url`."""
        names = [token.text]
        while self._next.text in {".", "["} and self._next.kind == "sign":
            if self._accept("."):
                names.append(self._of_kind("name").text)
            else:
                self._expect("[")
                names.append(str(self._of_kind("text").value))
                self._expect("]")
        return Expression(partial(_at, names), (token,), "_".join(names), is_path=True)

    def _listed(self, item: Callable[[], T]) -> tuple[T, ...]:
        items = [item()]
        while self._accept(","):
            items.append(item())
        return tuple(items)

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _take(self) -> Token:
        token = self._next
        if token.kind == "end":
            raise QueryError.at(token)
        self._position += 1
        return token

    def _accept(self, word: str) -> bool:
        """Take the next token if it is this word or sign."""
        matches = self._next.text == word and self._next.kind in {"name", "sign"}
        self._position += matches
        return matches

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise QueryError.at(self._next)

    def _of_kind(self, kind: str) -> Token:
        token = self._take()
        if token.kind != kind:
            raise QueryError.at(token)
        return token


def _tokens(text: str) -> Iterator[Token]:
    """Yield all tokens, and an end token. Raises QueryError."""
    for match in TOKENS.finditer(text):
        kind = str(match.lastgroup)
        token = Token(kind, match[0], None, *_position(text, match.start()))
        if kind == "stray":
            raise QueryError.at(token)
        if kind == "text":
            yield replace(token, value=ESCAPE.sub(partial(_meaning, token), match[0][1:-1]))
        elif kind != "blank":
            yield replace(token, value=int(match[0])) if kind == "number" else token
    yield Token("end", "<EOF>", None, *_position(text, len(text)))


def _position(text: str, position: int) -> tuple[int, int]:
    """Return the line and column of a position."""
    return text.count("\n", 0, position) + 1, position - (text.rfind("\n", 0, position) + 1)


def _meaning(token: Token, escape: re.Match[str]) -> str:
    """Return the character of an escape sequence."""
    if escape["code"]:
        return chr(int(escape["code"], 16))
    if escape["letter"] not in LETTERS:
        raise QueryError.at(token)
    return LETTERS[escape["letter"]]


def _at(names: Sequence[str], value: Value) -> Value:
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

FUNCTIONS: Final[Mapping[str, Callable[[Value], str]]] = {
    "tostring": _text,
    "tolower": lambda value: _text(value).lower(),
}


def _sorted(keys: Sequence[tuple[Expression, bool]], rows: Rows) -> Rows:
    """Sort by each key; null values come first, or last in descending order."""
    for expression, descends in reversed(keys):
        rows = sorted(rows, key=lambda row: _rank(expression.of(row)), reverse=descends)
    return rows


def _rank(value: Value) -> tuple[bool, float, str]:
    number = float(value) if isinstance(value, int | float) else 0
    return value is not None, number, "" if isinstance(value, int | float) else _text(value)
