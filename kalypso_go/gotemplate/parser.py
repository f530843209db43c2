"""Parse texts, actions and definitions by recursive descent.

    text       = { plain text | action | definition }
    definition = "{{" "define" name "}}" body "{{end}}"
    body       = { plain text | action }
    action     = "{{" ( control | pipeline ) "}}"

`expressions` parses the inside of actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kalypso_go.gotemplate.cursor import Source
from kalypso_go.gotemplate.expressions import ExpressionParser, Names
from kalypso_go.gotemplate.lexer import Item, Kind, lex
from kalypso_go.gotemplate.nodes import (
    Action,
    Body,
    Break,
    Case,
    Continue,
    If,
    Range,
    Statement,
    TemplateCall,
    Text,
    With,
)
from kalypso_go.gotemplate.quoting import quote


def parse_trees(source: Source, names: Names, max_depth: int) -> dict[str, Body]:
    """Return the bodies that a text defines, by name; the text's own has the name of the source.

    Expressions and controls may nest `max_depth` levels. Raises `TemplateError`.
    """
    trees: dict[str, Body] = {}
    items = lex(source.text, frozenset(names.functions))
    _Parser(source, items, names, max_depth, trees).top()
    return trees


class _Closing:
    """An `{{end}}` or `{{else}}`, which ends a body; `keyword` follows the `else`."""

    def __init__(self, text: str, keyword: Kind | None = None) -> None:
        self.text = text
        self.keyword = keyword

    def __str__(self) -> str:
        return self.text


class _Parser(ExpressionParser):
    """Parses one definition; `top` parses the whole text.

    Each `define` and `block` has its own parser, with its own variables but the same items.
    """

    def __init__(
        self,
        source: Source,
        stream: Iterator[Item],
        names: Names,
        max_depth: int,
        trees: dict[str, Body],
    ) -> None:
        super().__init__(source, stream, names, max_depth)
        self.trees = trees
        self.loops = 0

    def inner(self) -> _Parser:
        """Return a parser for a definition at the current position."""
        parser = _Parser(self.source, self.stream, self.names, self.max_depth, self.trees)
        parser.depth = self.depth
        return parser

    def top(self) -> None:
        """Parse the whole text; only here is `{{define}}` allowed."""
        nodes: list[Statement] = []
        position = self.peek().position
        while self.peek().kind is not Kind.EOF:
            if self.peek().kind is Kind.LEFT_DELIMITER:
                start = self.index
                self.next()
                if self.next_non_space().kind is Kind.DEFINE:
                    self.inner().define()
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
        name = self.unquoted(self.expect(context, Kind.STRING, Kind.RAW_STRING))
        self.expect(context, Kind.RIGHT_DELIMITER)
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
        while self.peek_non_space().kind is not Kind.EOF:
            node = self.text_or_action()
            if isinstance(node, _Closing):
                return Body(position, tuple(nodes)), node
            nodes.append(node)
        raise self.error("unexpected EOF")

    def text_or_action(self) -> Statement | _Closing:
        item = self.next_non_space()
        if item.kind is Kind.TEXT:
            return Text(item.position, item.value)
        if item.kind is not Kind.LEFT_DELIMITER:
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
            return control(self, item)
        self.index -= 1
        return Action(item.position, self.pipeline("command", Kind.RIGHT_DELIMITER))

    def end_control(self, _: Item) -> _Closing:
        self.expect("end", Kind.RIGHT_DELIMITER)
        return _Closing("{{end}}")

    def else_control(self, _: Item) -> _Closing:
        """Parse `{{else}}`, or the `{{else` of `{{else if` and `{{else with`."""
        keyword = self.peek_non_space().kind
        if keyword in (Kind.IF, Kind.WITH):
            return _Closing("{{else}}", keyword)
        self.expect("else", Kind.RIGHT_DELIMITER)
        return _Closing("{{else}}")

    def break_control(self, item: Item) -> Break:
        self.loop_control("{{break}}")
        return Break(item.position)

    def continue_control(self, item: Item) -> Continue:
        self.loop_control("{{continue}}")
        return Continue(item.position)

    def loop_control(self, text: str) -> None:
        item = self.next_non_space()
        if item.kind is not Kind.RIGHT_DELIMITER:
            raise self.unexpected(item, text)
        if not self.loops:
            raise self.error(f"{text} outside {{{{range}}}}")

    def if_control(self, _: Item) -> If:
        cases, otherwise = self.cases("if", Kind.IF)
        return If(cases[0].position, cases, otherwise)

    def with_control(self, _: Item) -> With:
        cases, otherwise = self.cases("with", Kind.WITH)
        return With(cases[0].position, cases, otherwise)

    def cases(self, context: str, keyword: Kind) -> tuple[tuple[Case, ...], Body | None]:
        """Parse from the first pipeline up to `{{end}}`, where the scope of its variables ends."""
        self.enter("nesting")
        outer = len(self.declared)
        cases: list[Case] = []
        otherwise = None
        while True:
            pipe = self.pipeline(context, Kind.RIGHT_DELIMITER)
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
        pipe = self.pipeline("range", Kind.RIGHT_DELIMITER)
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
        pipe = self.pipeline(context, Kind.RIGHT_DELIMITER)
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
        if self.next_non_space().kind is Kind.RIGHT_DELIMITER:
            return TemplateCall(item.position, name, None)
        self.index -= 1
        return TemplateCall(item.position, name, self.pipeline(context, Kind.RIGHT_DELIMITER))

    def template_name(self, item: Item, context: str) -> str:
        if item.kind not in (Kind.STRING, Kind.RAW_STRING):
            raise self.unexpected(item, context)
        return self.unquoted(item)


_CONTROLS: dict[Kind, Callable[[_Parser, Item], Statement | _Closing]] = {
    Kind.BLOCK: _Parser.block_control,
    Kind.BREAK: _Parser.break_control,
    Kind.CONTINUE: _Parser.continue_control,
    Kind.ELSE: _Parser.else_control,
    Kind.END: _Parser.end_control,
    Kind.IF: _Parser.if_control,
    Kind.RANGE: _Parser.range_control,
    Kind.TEMPLATE: _Parser.template_control,
    Kind.WITH: _Parser.with_control,
}
