"""Parse the inside of actions: pipelines, commands, operands, terms.

pipeline   = [ variable [ "," variable ] ( ":=" | "=" ) ] command { "|" command }
command    = operand { space operand }
operand    = term { field }
term       = constant | name of a function | "." | field | variable | "(" pipeline ")"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from kalypso_go.gotemplate.constants import (
    character_constant,
    complex_constant,
    number_constant,
)
from kalypso_go.gotemplate.cursor import Cursor, Source
from kalypso_go.gotemplate.lexer import Item, Kind
from kalypso_go.gotemplate.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipe,
    String,
    Variable,
)
from kalypso_go.gotemplate.quoting import quote, unquote


@dataclass(frozen=True, slots=True)
class Names:
    """The functions that a template may call; `refused` maps absent functions to the reason."""

    functions: Collection[str]
    refused: Mapping[str, str]


_CONSTANTS: dict[Kind, Callable[[int, str], Number]] = {
    Kind.CHARACTER_CONSTANT: character_constant,
    Kind.COMPLEX: complex_constant,
    Kind.NUMBER: number_constant,
}
_OPERANDS = frozenset(
    {
        *_CONSTANTS,
        Kind.BOOL,
        Kind.DOT,
        Kind.FIELD,
        Kind.IDENTIFIER,
        Kind.NIL,
        Kind.RAW_STRING,
        Kind.STRING,
        Kind.VARIABLE,
        Kind.LEFT_PARENTHESIS,
    }
)


class ExpressionParser(Cursor):
    """Parses the inside of actions, and records the variables declared so far."""

    def __init__(
        self, source: Source, stream: Iterator[Item], names: Names, max_depth: int
    ) -> None:
        super().__init__(source, stream, max_depth)
        self.names = names
        self.declared = ["$"]
        self.visible = Counter(self.declared)

    def pipeline(self, context: str, end: Kind) -> Pipe:
        """Parse declarations or assignments, then commands, up to and including `end`."""
        position = self.peek_non_space().position
        variables, assigns = self.declarations(context)
        commands: list[Command] = []
        while (item := self.next_non_space()).kind is not end:
            if item.kind not in _OPERANDS:
                raise self.unexpected(item, context)
            self.index -= 1
            commands.append(self.command())
        if not commands:
            raise self.error(f"missing value for {context}")
        for stage, command in enumerate(commands[1:], start=2):
            if isinstance(command.arguments[0], Bool | Dot | Nil | Number | String):
                raise self.error(f"non executable command in pipeline stage {stage}")
        return Pipe(position, tuple(commands), variables, assigns)

    def declarations(self, context: str) -> tuple[tuple[Variable, ...], bool]:
        """Parse `$x :=`, `$x =` or, in a range, `$i, $x :=`; consume nothing if there is none."""
        declared: list[Variable] = []
        while self.peek_non_space().kind is Kind.VARIABLE:
            start = self.index
            item = self.next()
            sign = self.next_non_space()
            if sign.kind in (Kind.ASSIGN, Kind.DECLARE):
                declared.append(self.declare(item))
                return tuple(declared), sign.kind is Kind.ASSIGN
            if sign.kind is not Kind.CHARACTER or sign.value != ",":
                self.index = start
                break
            declared.append(self.declare(item))
            if context != "range" or len(declared) > 1:
                raise self.error(f"too many declarations in {context}")
            if self.peek_non_space().kind not in (
                Kind.VARIABLE,
                Kind.RIGHT_DELIMITER,
                Kind.RIGHT_PARENTHESIS,
            ):
                raise self.error("range can only initialize variables")
        return tuple(declared), False

    def declare(self, item: Item) -> Variable:
        """Declare a variable for the rest of the block."""
        self.declared.append(item.value)
        self.visible[item.value] += 1
        return Variable(item.position, (item.value,))

    def forget(self, count: int) -> None:
        """Forget all but the first `count` declarations at the end of a block."""
        self.visible.subtract(self.declared[count:])
        del self.declared[count:]

    def command(self) -> Command:
        """Parse operands up to a pipe, and consume it, or up to a closing sign, and leave it."""
        position = self.peek_non_space().position
        arguments: list[Operand] = []
        while True:
            self.peek_non_space()
            operand = self.operand()
            if operand is not None:
                arguments.append(operand)
            item = self.next()
            if item.kind is Kind.SPACE:
                continue
            if item.kind in (Kind.RIGHT_DELIMITER, Kind.RIGHT_PARENTHESIS):
                self.index -= 1
            elif item.kind is not Kind.PIPE:
                raise self.unexpected(item, "operand")
            break
        if not arguments:
            raise self.error("empty command")
        return Command(position, tuple(arguments))

    def operand(self) -> Operand | None:
        """Parse a term with the fields that follow it; None if there is none."""
        term = self.term()
        if term is None or self.peek().kind is not Kind.FIELD:
            return term
        position = self.peek().position
        names: list[str] = []
        while self.peek().kind is Kind.FIELD:
            names.append(self.next().value[1:])
        if isinstance(term, Field | Variable):
            return type(term)(position, (*term.names, *names))
        if isinstance(term, Identifier | Pipe):
            return Chain(position, term, tuple(names))
        raise self.error(f"unexpected . after term {quote(str(term))}")

    def term(self) -> Operand | None:
        """Parse a constant, name, field, variable or parenthesis; None if there is none."""
        item = self.next_non_space()
        reader = _TERMS.get(item.kind)
        if reader is None:
            self.index -= 1
            return None
        return reader(self, item)

    def identifier(self, item: Item) -> Identifier:
        """Parse the name of a function."""
        if item.value not in self.names.functions:
            reason = self.names.refused.get(item.value)
            because = f": {reason}" if reason else ""
            raise self.error(f"function {quote(item.value)} not defined{because}")
        return Identifier(item.position, item.value)

    def variable(self, item: Item) -> Variable:
        """Parse a variable that was declared before."""
        if not self.visible[item.value]:
            raise self.error(f"undefined variable {quote(item.value)}")
        return Variable(item.position, (item.value,))

    def constant(self, item: Item) -> Number:
        """Parse a number."""
        try:
            return _CONSTANTS[item.kind](item.position, item.value)
        except ValueError as error:
            raise self.error(str(error)) from None

    def string(self, item: Item) -> String:
        """Parse a string."""
        return String(item.position, item.value, self.unquoted(item))

    def parenthesized(self, _: Item) -> Pipe:
        """Parse a pipeline up to its closing parenthesis."""
        self.enter("expression")
        pipe = self.pipeline("parenthesized pipeline", Kind.RIGHT_PARENTHESIS)
        self.depth -= 1
        return pipe

    def unquoted(self, item: Item) -> str:
        """Return the value of a quoted string."""
        try:
            return unquote(item.value)
        except ValueError as error:
            raise self.error(str(error)) from None


_TERMS: dict[Kind, Callable[[ExpressionParser, Item], Operand]] = {
    Kind.BOOL: lambda _, item: Bool(item.position, item.value == "true"),
    Kind.CHARACTER_CONSTANT: ExpressionParser.constant,
    Kind.COMPLEX: ExpressionParser.constant,
    Kind.DOT: lambda _, item: Dot(item.position),
    Kind.FIELD: lambda _, item: Field(item.position, (item.value[1:],)),
    Kind.IDENTIFIER: ExpressionParser.identifier,
    Kind.LEFT_PARENTHESIS: ExpressionParser.parenthesized,
    Kind.NIL: lambda _, item: Nil(item.position),
    Kind.NUMBER: ExpressionParser.constant,
    Kind.RAW_STRING: ExpressionParser.string,
    Kind.STRING: ExpressionParser.string,
    Kind.VARIABLE: ExpressionParser.variable,
}
