"""Random operands, calls and pipelines of a requested type, or a similar one."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from tools.oracle.generated_data import Data
from tools.oracle.literals import EXTREMES, LITERALS
from tools.oracle.signatures import CAREFUL, SIGNATURES, WHOLE
from tools.oracle.templates import Tree, tree

CHOICES: dict[str, tuple[str, ...]] = {
    "any": (
        *("str", "str", "str", "str", "int64", "int", "float", "bool", "bool", "list", "list"),
        *("map", "map", "strs", "ymap", "strmap", "nothing", "empty"),
    ),
    "number": ("int", "int", "float", "int64", "str", "bool"),
    "comparable": ("str", "int", "float", "bool", "int64", "nothing"),
    "ordered": ("str", "int", "float", "int64"),
    "sized": ("str", "list", "map", "strs", "ymap"),
    "condition": ("bool", "bool", "str", "int", "list", "map", "nothing", "any"),
    "iterable": ("list", "strs", "ints", "map", "strmap", "ymap", "count", "nothing"),
}
"""Types that stand for several others; repetition raises the probability."""

WIDER: dict[str, tuple[str, ...]] = {
    "str": ("str", "path"),
    "list": ("list", "strs", "ints"),
    "map": ("map",),
    "count": ("count",),
    "int": ("int", "count"),
}
"""Types that may replace a type."""

SPACES = ("  ", "\n", "\t", "\r\n ")
"""Unusual white space between arguments."""

INDEXED = (
    ["list", "index"],
    ["map", "key"],
    ["str", "index"],
    ["ymap", "key"],
    ["strmap", "key"],
    ["list", "index", "key"],
    ["map"],
    ["any", "any"],
)
"""Types of the arguments of `index`."""

CHAINS: dict[str, tuple[str, ...]] = {
    "semver": (".Major", ".Minor", ".Patch", ".Prerelease", ".Metadata", ".Original", ".String"),
    "time": (".Year", ".Month", ".Day", ".Weekday", ".YearDay", ".Hour", ".IsZero", ".Nope"),
    "map": (".a", ".b", ".nope", ".a.b"),
    "strmap": (".app", "._0", "._1", ".nope"),
    "ymap": (".level", ".n.x", ".nope", ".a.b"),
}
"""Fields after a value in parentheses, by its type."""

METHODS: dict[str, dict[str, str]] = {
    "semver": {
        **dict.fromkeys(["Compare", "Equal", "LessThan", "GreaterThan"], "semver"),
        **dict.fromkeys(["IncMajor", "IncMinor", "IncPatch", "String"], ""),
        **dict.fromkeys(["SetPrerelease", "SetMetadata"], "str"),
    },
    "time": {
        **dict.fromkeys(["Equal", "Before", "After", "Compare", "Sub"], "time"),
        **dict.fromkeys(["Month", "YearDay", "Weekday", "UTC", "String", "Date"], ""),
        "Format": "layout",
        "AddDate": "count index count",
        "Add": "int",
    },
}
"""Methods and the types of their arguments."""

COMPOUND: dict[str, tuple[str, ...]] = {
    "list": ('(list 1 "b" 2.5)', '(list "b" "a" "c")', "(list 3 1 2)", "(list)"),
    "map": ('(dict "a" 1 "b" "x")', '(dict "name" "n" "k1" (list 1 2))', "(dict)"),
    "strs": ('(splitList "," "b,a,c")',),
    "ints": ("(until 3)",),
    "strmap": ('(split "," "x,y")',),
    "ymap": ('(dict "a" 1 "n" (dict "x" 1))',),
    "int64": ("(int64 5)", "(int64 -2)"),
    "semver": ('(semver "1.2.3-rc1+b2")',),
    "time": ('(toDate "2006-01-02" "2020-02-29")',),
}
"""The simplest values of types without constants."""

VERBS = "vvvvTtdddsssqqxXoObcUeEfFgG%w"
"""Verbs of printf, without `p`, which would print addresses."""

CALLS_BY_RESULT: dict[str, list[str]] = {}
for _name, (_, _result) in SIGNATURES.items():
    CALLS_BY_RESULT.setdefault(_result, []).append(_name)


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables and dot with their types, and whether `$` is the data."""

    variables: tuple[tuple[str, str], ...] = ()
    dot: str = "root"
    data_is_root: bool = True
    in_loop: bool = False
    templates: tuple[str, ...] = ()

    def with_variable(self, name: str, type_: str) -> Scope:
        """Return the scope after a declaration."""
        return replace(self, variables=(*self.variables, (name, type_)))


class Expressions:
    """Makes expressions; `wild` ones may have arguments of wrong types or extreme values."""

    def __init__(self, source: random.Random, data: Data, *, wild: bool) -> None:
        self.source = source
        self.data = data
        self.wild = wild

    def pipeline(self, type_: str, scope: Scope, depth: int) -> Tree:
        """Make an operand or a call, possibly with further stages."""
        type_ = self.resolve(type_)
        stages = [name for name in CALLS_BY_RESULT.get(type_, ()) if name not in CAREFUL]
        if depth > 0 and stages and self.source.random() < 0.4:
            name = self.source.choice(stages)
            *own, piped = self._parameters(name)
            first = self.pipeline(piped, scope, depth - 1)
            arguments = self._arguments(own, scope, depth - 1)
            return tree("pipeline", first, tree("piped", " | ", tree("stage", name), *arguments))
        if depth > 0 and self.source.random() < 0.8:
            return tree("pipeline", self.call(type_, scope, depth))
        return tree("pipeline", self.operand(type_, scope, depth))

    def operand(self, type_: str, scope: Scope, depth: int) -> Tree:
        """Make an argument: a constant, field, variable, dot, or a pipeline in parentheses."""
        if self.wild and self.source.random() < 0.1:
            type_ = self.source.choice([*CHOICES["any"], "semver", "count"])
        type_ = self.resolve(type_)
        if self.wild and type_ in EXTREMES and self.source.random() < 0.15:
            return tree("argument", self.source.choice(EXTREMES[type_]))
        if depth > 0 and self.source.random() < 0.35:
            return self._parenthesised(type_, scope, depth)
        names = self._names(type_, scope)
        if names and self.source.random() < 0.6:
            return tree("argument", self.source.choice(names))
        return self._constant(type_, scope, depth)

    def call(self, type_: str, scope: Scope, depth: int) -> Tree:
        """Make a call of a function that returns the type, or an operand if there is none."""
        names = CALLS_BY_RESULT.get(type_, [])
        if not names:
            return self.operand(type_, scope, depth - 1)
        return self._call(self.source.choice(names), scope, depth)

    def resolve(self, type_: str) -> str:
        """Choose one of the types that a type stands for."""
        while type_ in CHOICES:
            type_ = self.source.choice(CHOICES[type_])
        return self.source.choice(WIDER[type_]) if type_ in WIDER else type_

    def _call(self, name: str, scope: Scope, depth: int) -> Tree:
        parameters = self._parameters(name)
        if self.wild and name not in CAREFUL and self.source.random() < 0.05:
            parameters = parameters[1:] if self.source.random() < 0.5 else [*parameters, "any"]
        if name in CAREFUL:
            careful = Expressions(self.source, self.data, wild=False)
            return tree("call", name, *careful._arguments(parameters, Scope(), 0))
        return tree("call", name, *self._arguments(parameters, scope, depth - 1))

    def _parameters(self, name: str) -> list[str]:
        """Return the types of a call's arguments; types that must agree are chosen alike."""
        parameters = SIGNATURES[name][0].split()
        if parameters[0] in {"comparable", "ordered"} and self.source.random() < 0.8:
            return [self.resolve(parameters[0])] * len(parameters)
        if parameters == ["indexed"]:
            return self.source.choice(INDEXED)
        if parameters[0] == "any" and len(parameters) > 1:
            return parameters[: self.source.randint(1, len(parameters))] + (
                parameters[-1:] if name == "ternary" else []
            )
        return parameters

    def _arguments(self, types: list[str], scope: Scope, depth: int) -> list[str | Tree]:
        parts: list[str | Tree] = []
        for type_ in types:
            space = self.source.choice(SPACES) if self.source.random() < 0.03 else " "
            parts += [space, self.operand(type_, scope, depth)]
        return parts

    def _parenthesised(self, type_: str, scope: Scope, depth: int) -> Tree:
        if type_ in WHOLE and self.source.random() < 0.1:
            return tree("argument", self.source.choice(WHOLE[type_]))
        if self.source.random() < 0.05:
            return self._method(scope, depth)
        if self.source.random() < 0.15:
            owner = self.source.choice(list(CHAINS))
            inner = self.pipeline(owner, scope, depth - 1)
            return tree("argument", "(", inner, ")", self.source.choice(CHAINS[owner]))
        return tree("argument", "(", self.pipeline(type_, scope, depth - 1), ")")

    def _method(self, scope: Scope, depth: int) -> Tree:
        owner = self.source.choice(list(METHODS))
        name = self.source.choice(list(METHODS[owner]))
        parameters = METHODS[owner][name].split()
        value = self.pipeline(owner, scope, depth - 1)
        arguments = self._arguments(parameters, scope, depth - 1)
        return tree("argument", "((", value, f").{name}", *arguments, ")")

    def _names(self, type_: str, scope: Scope) -> list[str]:
        names = [name for name, variable_type in scope.variables if variable_type == type_]
        if scope.dot == type_:
            names.append(".")
        if scope.data_is_root:
            prefix = "" if scope.dot == "root" else "$"
            names += [
                prefix + text if text != "." else "$"
                for text, operand_type in self.data.operands
                if operand_type == type_ and (text != "." or self.wild)
            ]
        return names

    def _constant(self, type_: str, scope: Scope, depth: int) -> Tree:
        if type_ == "format":
            return tree("argument", self._format())
        if type_ in LITERALS:
            return tree("argument", self.source.choice(LITERALS[type_]))
        if type_ == "nothing":
            return tree("argument", '(index (dict "a" 1) "b")')
        if type_ == "empty":
            empty = ["(dict)", "(list)", '""', "0", "false", *(["nil"] if self.wild else [])]
            return tree("argument", self.source.choice(empty))
        if depth > 0 and type_ in CALLS_BY_RESULT:
            return tree("argument", "(", self.call(type_, scope, depth), ")")
        return tree("argument", self.source.choice(COMPOUND.get(type_, LITERALS["str"])))

    def _format(self) -> str:
        """Make a format of printf."""
        pieces = []
        for _ in range(self.source.randint(1, 3)):
            flags = "".join(self.source.sample("+-# 0", self.source.choice([0, 0, 0, 1, 2, 3])))
            width = self.source.choice(["", "", "", "5", "12", "1", "*", "[1]*"])
            precision = self.source.choice(["", "", "", ".2", ".0", ".", ".7", ".*", ".20"])
            verb = self.source.choice(["[2]", "[1]", *[""] * 20]) + self.source.choice(VERBS)
            pieces.append(f"%{flags}{width}{precision}{verb}")
        return '"' + self.source.choice([" ", ":", "é", ""]).join(pieces) + '"'
