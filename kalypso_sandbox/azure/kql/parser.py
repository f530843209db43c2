"""Tokens → a query, by recursive descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from kalypso_sandbox.azure.kql.lexer import tokens
from kalypso_sandbox.azure.kql.syntax import (
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Junction,
    Operation,
    Order,
    Path,
    Project,
    Query,
    QueryError,
    Take,
    Token,
    Where,
)

COMPARISONS: Final = frozenset({"==", "!=", "=~", "contains", "has", "startswith"})
TRUTHS: Final = {"true": True, "false": False}

T = TypeVar("T")


def parse(text: str) -> Query:
    """Parse a query. Raises QueryError for anything outside the supported subset.

    Names of tables ignore case; everything else is case-sensitive.
    """
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(tokens(text))
        self._position = 0

    def query(self) -> Query:
        table = self._name()
        operations: list[Operation] = []
        while self._next.kind != "end":
            self._expect("|")
            operations.append(self._operation())
        return Query(table.text.lower(), tuple(operations))

    def _operation(self) -> Operation:
        word = self._name()
        match word.text:
            case "where":
                return Where(self._any_of())
            case "project":
                return Project(self._listed(self._column))
            case "order":
                self._expect("by")
                return Order(self._listed(self._key))
            case "take" | "limit":
                return Take(int(self._of_kind("number").value))
        raise QueryError.at(word)

    def _any_of(self) -> Condition:
        return self._junction("or", self._all_of)

    def _all_of(self) -> Condition:
        return self._junction("and", self._comparison)

    def _junction(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._accept(word):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        return Junction("and" if word == "and" else "or", tuple(parts))

    def _comparison(self) -> Condition:
        if self._accept("("):
            condition = self._any_of()
            self._expect(")")
            return condition
        left = self._expression()
        operator = self._take()
        if operator.kind == "text" or operator.text not in COMPARISONS:
            raise QueryError.at(operator)
        return Comparison(operator.text, left, self._expression())

    def _column(self) -> tuple[str, Expression]:
        """Parse `name`, `name = expression`, or an expression that names its column."""
        is_assignment = self._next.kind == "name" and self._following.text == "="
        if is_assignment:
            name = self._name().text
            self._expect("=")
            return name, self._expression()
        expression = self._expression()
        path = expression.argument if isinstance(expression, Call) else expression
        if not isinstance(path, Path):
            raise QueryError.at(self._next)
        return "_".join(path.names), expression

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
            return Constant(token.value)
        if token.kind != "name":
            raise QueryError.at(token)
        if self._accept("("):
            return self._call(token)
        return Constant(TRUTHS[token.text]) if token.text in TRUTHS else self._path(token)

    def _call(self, function: Token) -> Call:
        argument = self._expression()
        self._expect(")")
        if function.text == "tostring":
            return Call("tostring", argument)
        if function.text == "tolower":
            return Call("tolower", argument)
        message = f"Unknown function: '{function.text}'."
        raise QueryError(
            QueryError.at(function).details[0], {"code": "UnknownFunction", "message": message}
        )

    def _path(self, token: Token) -> Path:
        names = [token.text]
        while self._next.text in {".", "["} and self._next.kind == "sign":
            if self._accept("."):
                names.append(self._name().text)
            else:
                self._expect("[")
                names.append(str(self._of_kind("text").value))
                self._expect("]")
        return Path(tuple(names), token)

    def _listed(self, item: Callable[[], T]) -> tuple[T, ...]:
        items = [item()]
        while self._accept(","):
            items.append(item())
        return tuple(items)

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    @property
    def _following(self) -> Token:
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

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

    def _name(self) -> Token:
        return self._of_kind("name")
