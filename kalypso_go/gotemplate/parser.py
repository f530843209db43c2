"""Parse a template by recursive descent: items → nodes.

text       = { plain text | action | definition }
definition = "{{" "define" name "}}" body "{{end}}"
body       = { plain text | action }
action     = "{{" ( control | pipeline ) "}}"
pipeline   = [ variable [ "," variable ] ( ":=" | "=" ) ] command { "|" command }
command    = operand { space operand }
operand    = term { field }
term       = constant | function | "." | field | variable | "(" pipeline ")"
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kalypso_go.gotemplate.errors import Source, TemplateError
from kalypso_go.gotemplate.lexer import Item, ItemKind, lex
from kalypso_go.gotemplate.nodes import (
    Action,
    Body,
    Bool,
    Break,
    Case,
    Chain,
    Command,
    Continue,
    Dot,
    Field,
    Identifier,
    If,
    Nil,
    Number,
    Operand,
    Pipe,
    Range,
    Statement,
    String,
    TemplateCall,
    Text,
    Variable,
    With,
)
from kalypso_go.gotemplate.numerals import (
    MAX_INT64,
    MAX_UINT64,
    MIN_INT64,
    parse_float,
    parse_int,
    parse_uint,
)
from kalypso_go.gotemplate.text import quote, unquote, unquote_char


@dataclass(frozen=True, slots=True)
class Names:
    """The functions that a template may call; `refused` maps absent functions to the reason."""

    functions: Collection[str]
    refused: Mapping[str, str]


def parse_trees(source: Source, names: Names, max_depth: int) -> dict[str, Body]:
    """Return the bodies that a text defines, by name; the text's own has the name of the source.

    Expressions and controls may nest `max_depth` levels. Raises `TemplateError`.
    """
    trees: dict[str, Body] = {}
    items = lex(source.text, frozenset(names.functions))
    _Parser(source, items, names, max_depth, trees).top()
    return trees


class _Parser:
    """Parses one definition; `top` parses the whole text.

    Each `define` and `block` has its own parser, with its own variables. All of them read the same
    stream, one after the other. `depth` counts the current nesting, up to `max_depth`.
    """

    def __init__(
        self,
        source: Source,
        stream: Iterator[Item],
        names: Names,
        max_depth: int,
        trees: dict[str, Body],
    ) -> None:
        self.source = source
        self.stream = stream
        self.names = names
        self.max_depth = max_depth
        self.trees = trees
        self.depth = self.loops = 0
        self.opened: list[Item] = []
        """The keywords of the blocks that are open, the innermost last."""
        self.items: list[Item] = []
        self.index = 0
        self.action: Item | None = None
        """The start of the current action, for errors on its later lines."""
        self.declared = ["$"]
        self.visible = Counter(self.declared)

    def inner(self) -> _Parser:
        """Return a parser for a definition at the current position."""
        parser = _Parser(self.source, self.stream, self.names, self.max_depth, self.trees)
        parser.depth = self.depth
        parser.opened = self.opened
        return parser

    def top(self) -> None:
        """Parse the whole text; only here is `{{define}}` allowed."""
        nodes: list[Statement] = []
        position = self.peek().position
        while self.peek().kind is not ItemKind.EOF:
            if self.peek().kind is ItemKind.LEFT_DELIMITER:
                start = self.index
                self.next()
                keyword = self.next_non_space()
                if keyword.kind is ItemKind.DEFINE:
                    self.opened.append(keyword)
                    self.inner().define()
                    self.opened.pop()
                    continue
                self.index = start
            node = self.text_or_action()
            if isinstance(node, _Closing):
                raise self.error(f"unexpected {node}")
            nodes.append(node)
        self.add(self.source.name, Body(position, tuple(nodes)))

    def define(self) -> None:
        """Parse `{{define "name"}} body {{end}}`, from the name on."""
        context = "define clause"
        name = self.unquoted(self.expect(context, ItemKind.STRING, ItemKind.RAW_STRING))
        self.expect(context, ItemKind.RIGHT_DELIMITER)
        body, closing = self.body()
        if closing.text != "{{end}}":
            raise self.error(f"unexpected {closing} in {context}")
        self.add(name, body)

    def add(self, name: str, body: Body) -> None:
        """Add a definition; an empty one neither replaces another nor conflicts with it."""
        definition = self.trees.get(name)
        if definition is None or definition.is_empty():
            self.trees[name] = body
        elif not body.is_empty():
            raise self.error(f"template: multiple definition of template {quote(name)}")

    def body(self) -> tuple[Body, _Closing]:
        """Parse up to `{{end}}` or `{{else}}`."""
        nodes: list[Statement] = []
        position = self.peek_non_space().position
        while self.peek_non_space().kind is not ItemKind.EOF:
            node = self.text_or_action()
            if isinstance(node, _Closing):
                return Body(position, tuple(nodes)), node
            nodes.append(node)
        error = self.error("unexpected EOF")
        if self.opened:
            error.opened = self.source.text.rfind("{{", 0, self.opened[-1].position)
        raise error

    def text_or_action(self) -> Statement | _Closing:
        item = self.next_non_space()
        if item.kind is ItemKind.TEXT:
            return Text(item.position, item.value)
        if item.kind is not ItemKind.LEFT_DELIMITER:
            raise self.unexpected(item, "input")
        self.action = item
        node = self.action_node()
        self.action = None
        return node

    def action_node(self) -> Statement | _Closing:
        """Parse an action after its left delimiter, including the right one."""
        item = self.next_non_space()
        control = _CONTROLS.get(item.kind)
        if control is not None:
            self.opened.append(item)
            node = control(self, item)
            self.opened.pop()
            return node
        self.index -= 1
        return Action(item.position, self.pipeline("command", ItemKind.RIGHT_DELIMITER))

    def end_control(self, _: Item) -> _Closing:
        self.expect("end", ItemKind.RIGHT_DELIMITER)
        return _Closing("{{end}}")

    def else_control(self, _: Item) -> _Closing:
        """Parse `{{else}}`, or the `{{else` of `{{else if` and `{{else with`."""
        keyword = self.peek_non_space().kind
        if keyword in (ItemKind.IF, ItemKind.WITH):
            return _Closing("{{else}}", keyword)
        self.expect("else", ItemKind.RIGHT_DELIMITER)
        return _Closing("{{else}}")

    def break_control(self, item: Item) -> Break:
        self.loop_control("{{break}}")
        return Break(item.position)

    def continue_control(self, item: Item) -> Continue:
        self.loop_control("{{continue}}")
        return Continue(item.position)

    def loop_control(self, text: str) -> None:
        item = self.next_non_space()
        if item.kind is not ItemKind.RIGHT_DELIMITER:
            raise self.unexpected(item, text)
        if not self.loops:
            raise self.error(f"{text} outside {{{{range}}}}")

    def if_control(self, _: Item) -> If:
        cases, otherwise = self.cases("if", ItemKind.IF)
        return If(cases[0].position, cases, otherwise)

    def with_control(self, _: Item) -> With:
        cases, otherwise = self.cases("with", ItemKind.WITH)
        return With(cases[0].position, cases, otherwise)

    def cases(self, context: str, keyword: ItemKind) -> tuple[tuple[Case, ...], Body | None]:
        """Parse from the first pipeline up to `{{end}}`, where the scope of its variables ends."""
        self.enter("nesting")
        outer = len(self.declared)
        cases: list[Case] = []
        otherwise = None
        while True:
            pipe = self.pipeline(context, ItemKind.RIGHT_DELIMITER)
            body, closing = self.body()
            cases.append(Case(pipe.position, pipe, body))
            if closing.keyword is not keyword:
                break
            self.next()
        if closing.text == "{{else}}":
            otherwise = self.last_body()
        self.forget(outer)
        self.depth -= 1
        return tuple(cases), otherwise

    def last_body(self) -> Body:
        body, closing = self.body()
        if closing.text != "{{end}}":
            raise self.error(f"expected end; found {closing}")
        return body

    def range_control(self, _: Item) -> Range:
        self.enter("nesting")
        outer = len(self.declared)
        pipe = self.pipeline("range", ItemKind.RIGHT_DELIMITER)
        self.loops += 1
        body, closing = self.body()
        self.loops -= 1
        otherwise = self.last_body() if closing.text == "{{else}}" else None
        self.forget(outer)
        self.depth -= 1
        return Range(pipe.position, pipe, body, otherwise)

    def block_control(self, _: Item) -> TemplateCall:
        """Parse `{{block "name" pipeline}} body {{end}}`: a definition and its call."""
        context = "block clause"
        item = self.next_non_space()
        name = self.template_name(item, context)
        pipe = self.pipeline(context, ItemKind.RIGHT_DELIMITER)
        self.enter("nesting")
        inner = self.inner()
        body, closing = inner.body()
        if closing.text != "{{end}}":
            raise self.error(f"unexpected {closing} in {context}")
        inner.add(name, body)
        self.depth -= 1
        return TemplateCall(item.position, name, pipe)

    def template_control(self, _: Item) -> TemplateCall:
        context = "template clause"
        item = self.next_non_space()
        name = self.template_name(item, context)
        if self.next_non_space().kind is ItemKind.RIGHT_DELIMITER:
            return TemplateCall(item.position, name, None)
        self.index -= 1
        return TemplateCall(item.position, name, self.pipeline(context, ItemKind.RIGHT_DELIMITER))

    def template_name(self, item: Item, context: str) -> str:
        if item.kind not in (ItemKind.STRING, ItemKind.RAW_STRING):
            raise self.unexpected(item, context)
        return self.unquoted(item)

    # The inside of actions

    def pipeline(self, context: str, end: ItemKind) -> Pipe:
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
        while self.peek_non_space().kind is ItemKind.VARIABLE:
            start = self.index
            item = self.next()
            sign = self.next_non_space()
            if sign.kind in (ItemKind.ASSIGN, ItemKind.DECLARE):
                declared.append(self.declare(item))
                return tuple(declared), sign.kind is ItemKind.ASSIGN
            if sign.kind is not ItemKind.CHARACTER or sign.value != ",":
                self.index = start
                break
            declared.append(self.declare(item))
            if context != "range" or len(declared) > 1:
                raise self.error(f"too many declarations in {context}")
            if self.peek_non_space().kind not in (
                ItemKind.VARIABLE,
                ItemKind.RIGHT_DELIMITER,
                ItemKind.RIGHT_PARENTHESIS,
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
            if item.kind is ItemKind.SPACE:
                continue
            if item.kind in (ItemKind.RIGHT_DELIMITER, ItemKind.RIGHT_PARENTHESIS):
                self.index -= 1
            elif item.kind is not ItemKind.PIPE:
                raise self.unexpected(item, "operand")
            break
        if not arguments:
            raise self.error("empty command")
        return Command(position, tuple(arguments))

    def operand(self) -> Operand | None:
        """Parse a term with the fields that follow it; None if there is none."""
        term = self.term()
        if term is None or self.peek().kind is not ItemKind.FIELD:
            return term
        position = self.peek().position
        names: list[str] = []
        while self.peek().kind is ItemKind.FIELD:
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
        pipe = self.pipeline("parenthesized pipeline", ItemKind.RIGHT_PARENTHESIS)
        self.depth -= 1
        return pipe

    def unquoted(self, item: Item) -> str:
        """Return the value of a quoted string."""
        try:
            return unquote(item.value)
        except ValueError as error:
            raise self.error(str(error)) from None

    # Items, and errors about them

    def next(self) -> Item:
        """Return the next item and consume it."""
        if self.index == len(self.items):
            item = next(self.stream, None)
            self.items.append(item or Item(ItemKind.EOF, len(self.source.text), "EOF"))
        self.index += 1
        return self.items[self.index - 1]

    def peek(self) -> Item:
        """Return the next item without consuming it."""
        item = self.next()
        self.index -= 1
        return item

    def next_non_space(self) -> Item:
        """Return the next item that is not a space, and consume it."""
        item = self.next()
        while item.kind is ItemKind.SPACE:
            item = self.next()
        return item

    def peek_non_space(self) -> Item:
        """Return the next item that is not a space; consume only the spaces before it."""
        item = self.next_non_space()
        self.index -= 1
        return item

    def expect(self, context: str, *kinds: ItemKind) -> Item:
        """Return the next item that is not a space; raise an error unless it is one of `kinds`."""
        item = self.next_non_space()
        if item.kind not in kinds:
            raise self.unexpected(item, context)
        return item

    def error(self, detail: str) -> TemplateError:
        """Return an error at the last item read."""
        position = self.items[-1].position
        line = self.source.line(position)
        return TemplateError(
            f"template: {self.source.name}:{line}: {detail}",
            name=self.source.name,
            line=line,
            column=self.source.column(position) + 1,
            detail=detail,
        )

    def unexpected(self, item: Item, context: str) -> TemplateError:
        """Return an error about an item that is not allowed here, or is an error itself."""
        if item.kind is not ItemKind.ERROR:
            return self.error(f"unexpected {item} in {context}")
        started = ""
        if self.action is not None:
            line = self.source.line(self.action.position)
            if line != self.source.line(item.position):
                begins = " started" if item.value.endswith(" action") else " in action started"
                started = f"{begins} at {self.source.name}:{line}"
        return self.error(f"{item}{started}")

    def enter(self, what: str) -> None:
        """Enter a nested level; the caller leaves it with `self.depth -= 1`."""
        if self.depth >= self.max_depth:
            raise self.error(f"max {what} depth exceeded ({self.max_depth})")
        self.depth += 1


@dataclass(frozen=True, slots=True)
class _Closing:
    """An `{{end}}` or `{{else}}`, which ends a body; `keyword` follows the `else`."""

    text: str
    keyword: ItemKind | None = None

    def __str__(self) -> str:
        return self.text


_CONTROLS: dict[ItemKind, Callable[[_Parser, Item], Statement | _Closing]] = {
    ItemKind.BLOCK: _Parser.block_control,
    ItemKind.BREAK: _Parser.break_control,
    ItemKind.CONTINUE: _Parser.continue_control,
    ItemKind.ELSE: _Parser.else_control,
    ItemKind.END: _Parser.end_control,
    ItemKind.IF: _Parser.if_control,
    ItemKind.RANGE: _Parser.range_control,
    ItemKind.TEMPLATE: _Parser.template_control,
    ItemKind.WITH: _Parser.with_control,
}


_TERMS: dict[ItemKind, Callable[[_Parser, Item], Operand]] = {
    ItemKind.BOOL: lambda _, item: Bool(item.position, item.value == "true"),
    ItemKind.CHARACTER_CONSTANT: _Parser.constant,
    ItemKind.COMPLEX: _Parser.constant,
    ItemKind.DOT: lambda _, item: Dot(item.position),
    ItemKind.FIELD: lambda _, item: Field(item.position, (item.value[1:],)),
    ItemKind.IDENTIFIER: _Parser.identifier,
    ItemKind.LEFT_PARENTHESIS: _Parser.parenthesized,
    ItemKind.NIL: lambda _, item: Nil(item.position),
    ItemKind.NUMBER: _Parser.constant,
    ItemKind.RAW_STRING: _Parser.string,
    ItemKind.STRING: _Parser.string,
    ItemKind.VARIABLE: _Parser.variable,
}


_Value = TypeVar("_Value", int, float)

_FLOAT = (
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)"
)
_COMPLEX = re.compile(f"({_FLOAT})([+-]{_FLOAT})i")


def _character_constant(position: int, text: str) -> Number:
    """Parse `'x'` to its code point; raise ValueError with Go's text."""
    code = unquote_char(text)
    return Number(position, text, code, code, float(code))


def _complex_constant(position: int, text: str) -> Number:
    """Parse `1+2i`; raise ValueError with Go's text."""
    match = _COMPLEX.match(text)
    if match is None:
        raise ValueError("syntax error scanning complex number")
    return _simplified(position, text, complex(*map(_scanned_float, match.groups())))


def _number_constant(position: int, text: str) -> Number:
    """Parse `12`, `0x1F`, `1_000`, `1.5e3`, `2i` …; raise ValueError with Go's text."""
    if text.endswith("i"):
        imaginary = _attempt(parse_float, text[:-1])
        if imaginary is not None:
            return _simplified(position, text, complex(0, imaginary))
    integer, unsigned = _attempt(parse_int, text), _attempt(parse_uint, text)
    if integer == 0:
        unsigned = 0
    whole = unsigned if integer is None else integer
    if whole is not None:
        return Number(position, text, integer, unsigned, float(whole))
    floating = _attempt(parse_float, text)
    if floating is None:
        raise ValueError(f"illegal number syntax: {quote(text)}")
    if not re.search("[.eEpP]", text):
        raise ValueError(f"integer overflow: {quote(text)}")
    return _real(position, text, floating)


def _simplified(position: int, text: str, value: complex) -> Number:
    """Return a complex number; without an imaginary part, it is also a real number."""
    if value.imag != 0:
        return Number(position, text, complex=value)
    return _real(position, text, value.real, value)


def _real(position: int, text: str, real: float, value: complex | None = None) -> Number:
    integer = _as_integer(real, MIN_INT64, MAX_INT64)
    return Number(position, text, integer, _as_integer(real, 0, MAX_UINT64), real, value)


def _as_integer(value: float, least: int, greatest: int) -> int | None:
    if math.isfinite(value) and value == int(value) and least <= value <= greatest:
        return int(value)
    return None


def _attempt(parse: Callable[[str], _Value], text: str) -> _Value | None:
    try:
        return parse(text)
    except ValueError:
        return None


def _scanned_float(text: str) -> float:
    try:
        return parse_float(text)
    except ValueError as error:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: {error}") from None


_CONSTANTS: dict[ItemKind, Callable[[int, str], Number]] = {
    ItemKind.CHARACTER_CONSTANT: _character_constant,
    ItemKind.COMPLEX: _complex_constant,
    ItemKind.NUMBER: _number_constant,
}
_OPERANDS = frozenset(
    {
        *_CONSTANTS,
        ItemKind.BOOL,
        ItemKind.DOT,
        ItemKind.FIELD,
        ItemKind.IDENTIFIER,
        ItemKind.NIL,
        ItemKind.RAW_STRING,
        ItemKind.STRING,
        ItemKind.VARIABLE,
        ItemKind.LEFT_PARENTHESIS,
    }
)
