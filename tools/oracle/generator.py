"""Random templates with data: nested nodes of every kind, with variables in their scopes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from tools.oracle import generated_data
from tools.oracle.expressions import Expressions, Scope
from tools.oracle.templates import Tree, tree

TEXTS = (
    "\n",
    "  ",
    "key: ",
    "a",
    "é",
    "- ",
    "😀\n",
    "{ ",
    "} }",
    "\t",
    "x\n\ny",
    "'",
    '"',
    "%v",
    "}}",
    "\r\n",
    "\u00a0\v",
    "{{`{{`}}",
)
ELEMENTS = {"ints": "int", "strs": "str", "strmap": "str", "count": "int"}
"""Types of the elements of an iterable, where known."""

WILD_SHARE = 0.3
BROKEN_SHARE = 0.08


@dataclass(frozen=True, slots=True)
class Sample:
    """A template and its data."""

    template: Tree
    data: dict[str, object]

    def request(self) -> dict[str, object]:
        """Return the request for the oracle."""
        return {"op": "template", "text": str(self.template), "data": self.data}


def generate(seed: int, number: int) -> Sample:
    """Generate the template of this number, always the same for the same seed."""
    source = random.Random(f"{seed}/{number}")
    data = generated_data.generate(source)
    expressions = Expressions(source, data, wild=source.random() < WILD_SHARE)
    template = _Statements(source, expressions).template()
    if source.random() < BROKEN_SHARE:
        template = tree("body", _broken(str(template), source))
    return Sample(template, data.request)


def _broken(text: str, source: random.Random) -> str:
    """Insert or remove characters at one position."""
    place = source.randrange(len(text) + 1)
    extra = source.choice(
        ["", "{{", "}}", "|", '"', "(", ")", "$", ".", " ", "end", "@", ",", ":="]
    )
    return text[:place] + extra + text[place + source.randint(0, 2) :]


_Maker = Callable[[Scope, int], tuple[Tree, Scope]]


class _Statements:
    """Makes bodies: texts, actions and control structures."""

    def __init__(self, source: random.Random, expressions: Expressions) -> None:
        self.source = source
        self.expressions = expressions
        self.names = 0

    def template(self) -> Tree:
        """Make definitions, usually first, and a body, which may call them."""
        defined: list[str] = []
        definitions: list[Tree] = []
        for _ in range(self.source.choice([0, 0, 0, 1, 2])):
            again = defined and self.source.random() < 0.05
            name = self.source.choice(defined) if again else self._name("t")
            scope = Scope(dot="any", data_is_root=False, templates=tuple(defined))
            head = self._open(f'define "{name}"')
            definitions.append(tree("item", head, self.body(scope, 1), self._end()))
            defined.append(name)
        scope = Scope(templates=tuple(defined))
        body = self.body(scope, self.source.randint(1, 3))
        if self.source.random() < 0.3:
            return tree("body", body, *definitions)
        return tree("body", *definitions, body)

    def body(self, scope: Scope, depth: int) -> Tree:
        """Make one to three items, each in the scope after the previous one."""
        parts: list[str | Tree] = []
        for _ in range(self.source.choice([1, 1, 2, 2, 3])):
            item, scope = self._item(scope, depth)
            parts.append(item)
        return tree("body", *parts)

    def _item(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        simple: list[_Maker] = [
            self._text, self._text, self._action, self._action, self._action, self._action,
            self._comment, self._declare,
        ]  # fmt: skip
        if scope.variables:
            simple.append(self._assign)
        if scope.in_loop:
            simple.append(self._leave)
        if scope.templates:
            simple.append(self._call_template)
        nested: list[_Maker] = [self._if, self._with, self._range, self._range, self._block]
        return self.source.choice(simple + nested if depth > 0 else simple)(scope, depth)

    def _text(self, scope: Scope, _depth: int) -> tuple[Tree, Scope]:
        return tree("item", self.source.choice(TEXTS)), scope

    def _action(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        return tree("item", self._open(self.expressions.pipeline("any", scope, depth))), scope

    def _comment(self, scope: Scope, _depth: int) -> tuple[Tree, Scope]:
        left, right = self.source.choice([("{{", "}}"), ("{{- ", " -}}"), ("{{- ", "}}")])
        return tree("item", f"{left}/* a\n{{{{ comment */{right}"), scope

    def _declare(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        type_ = self.expressions.resolve("any")
        name = self.source.choice(["$x", "$y", self._name("$v")])
        value = self.expressions.pipeline(type_, scope, depth)
        return tree("item", self._open(f"{name} := ", value)), scope.with_variable(name, type_)

    def _assign(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        name, type_ = self.source.choice(scope.variables)
        return tree(
            "item", self._open(f"{name} = ", self.expressions.pipeline(type_, scope, depth))
        ), scope

    def _leave(self, scope: Scope, _depth: int) -> tuple[Tree, Scope]:
        return tree("item", self._open(self.source.choice(["break", "continue"]))), scope

    def _call_template(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        name = self.source.choice(scope.templates)
        argument = tree("option", " ", self.expressions.pipeline("any", scope, depth))
        return tree("item", self._open(f'template "{name}"', argument)), scope

    def _if(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        parts: list[str | Tree] = [
            self._open("if ", self.expressions.pipeline("condition", scope, 1))
        ]
        parts.append(self.body(scope, depth - 1))
        if self.source.random() < 0.3:
            condition = self.expressions.pipeline("condition", scope, 1)
            parts.append(
                tree("option", self._open("else if ", condition), self.body(scope, depth - 1))
            )
        return tree("item", *parts, *self._else(scope, depth), self._end()), scope

    def _with(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        parts, inner = self._with_head("with ", scope)
        parts.append(self.body(inner, depth - 1))
        if self.source.random() < 0.2:
            others, inner = self._with_head("else with ", scope)
            parts.append(tree("option", *others, self.body(inner, depth - 1)))
        return tree("item", *parts, *self._else(scope, depth), self._end()), scope

    def _with_head(self, keyword: str, scope: Scope) -> tuple[list[str | Tree], Scope]:
        type_ = self.expressions.resolve("any")
        if self.source.random() < 0.15:
            type_ = self.source.choice(["semver", "time"])
        inner = replace(scope, dot=type_)
        declaration = ""
        if self.source.random() < 0.3:
            name = self._name("$w")
            declaration, inner = f"{name} := ", inner.with_variable(name, type_)
        return [self._open(keyword, declaration, self.expressions.pipeline(type_, scope, 1))], inner

    def _range(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        type_ = self.expressions.resolve("iterable")
        element = ELEMENTS.get(type_, "any")
        inner = replace(scope, dot=element, in_loop=True)
        declaration = ""
        form = self.source.random()
        if form < 0.3:
            name = self._name("$e")
            declaration, inner = f"{name} := ", inner.with_variable(name, element)
        elif form < 0.6 and (type_ not in {"count", "nothing"} or self.expressions.wild):
            key, name = self._name("$k"), self._name("$e")
            declaration = f"{key}, {name} := "
            inner = inner.with_variable(key, "int").with_variable(name, element)
        elif form < 0.65 and scope.variables:
            declaration = f"{self.source.choice(scope.variables)[0]} = "
        head = self._open("range ", declaration, self.expressions.pipeline(type_, scope, 1))
        body = self.body(inner, depth - 1)
        return tree("item", head, body, *self._else(scope, depth), self._end()), scope

    def _block(self, scope: Scope, depth: int) -> tuple[Tree, Scope]:
        inner = Scope(dot="any", data_is_root=False)
        argument = self.expressions.pipeline("any", scope, 1)
        head = self._open(f'block "{self._name("b")}" ', argument)
        return tree("item", head, self.body(inner, depth - 1), self._end()), scope

    def _else(self, scope: Scope, depth: int) -> list[str | Tree]:
        if self.source.random() < 0.6:
            return []
        return [tree("option", self._open("else"), self.body(scope, depth - 1))]

    def _open(self, *inner: str | Tree) -> Tree:
        """Make an action with random spaces and trim markers."""
        left = self.source.choice(["{{", "{{ ", "{{ ", "{{- "])
        right = self.source.choice(["}}", " }}", " }}", " -}}"])
        return tree("action", left, *inner, right)

    def _end(self) -> Tree:
        return self._open("end")

    def _name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"
