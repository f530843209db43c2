"""What a template reads and changes, found without executing it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Final

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS
from kalypso_go.gotemplate.builtins import BUILTINS
from kalypso_go.gotemplate.errors import Source
from kalypso_go.gotemplate.nodes import (
    Body,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    If,
    Node,
    Pipe,
    Range,
    String,
    TemplateCall,
    Variable,
    With,
)
from kalypso_go.gotemplate.parser import Names, parse_trees
from kalypso_go.gotemplate.values import Function


def root_fields(
    text: str, functions: Mapping[str, Function], refused: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the fields that a template reads from its data, with line and column, both from 1.

    A field is a tuple of names, such as `("Manifests", "repo")`.

    Inside `with` and `range`, dot is not the data, but `$` still is. Inside `define`, neither is:
    this skips definitions. Raises `TemplateError` if the text does not parse.
    """
    source = Source("template", text)
    names = Names({**BUILTINS, **functions}, refused)
    body = parse_trees(source, names, DEFAULT_LIMITS.parse_depth)[source.name]
    for node_names, position in _fields(body, is_root=True):
        yield node_names, source.line(position), source.column(position) + 1


def _fields(value: object, *, is_root: bool) -> Iterator[tuple[tuple[str, ...], int]]:
    match value:
        case Field(position, names) if is_root:
            yield names, position
        case Variable(position, ("$", *names)) if names:
            yield tuple(names), position
        case With(cases=cases, otherwise=otherwise):
            for case in cases:
                yield from _fields(case.pipe, is_root=is_root)
                yield from _fields(case.body, is_root=False)
            yield from _fields(otherwise, is_root=is_root)
        case Range(pipe=pipe, body=body, otherwise=otherwise):
            yield from _fields(pipe, is_root=is_root)
            yield from _fields(body, is_root=False)
            yield from _fields(otherwise, is_root=is_root)
        case tuple():
            for item in value:
                yield from _fields(item, is_root=is_root)
        case Node():
            for field in fields(value):
                yield from _fields(getattr(value, field.name), is_root=is_root)


EACH: Final = "[]"
"""In a path, each item of a list, or each value of a map."""


def required_fields(
    text: str,
    functions: Mapping[str, Function],
    refused: Mapping[str, str],
    guards: Collection[str],
) -> Iterator[tuple[tuple[str, ...], int, int, int]]:
    """Yield the fields that a template reads without a guard, as `root_fields` does.

    Before line and column comes the number of the first names that have a guard: `.A.B` in `{{ with
    .A }}` needs a value only where `.A` has one. `if`, `with`, a `range` with `else`, and the
    functions `guards` accept a field without a value; a field that a condition names has a guard in
    all branches. This follows dot and variables that stand for a field or for its items, `index`
    with constant keys, and definitions where a template calls them. Raises `TemplateError` if the
    text does not parse.
    """
    source = Source("template", text)
    names = Names({**BUILTINS, **functions}, refused)
    trees = parse_trees(source, names, DEFAULT_LIMITS.parse_depth)
    reads = _RequiredFields(trees, guards)
    for path, guarded, position in reads.of(trees[source.name], (), frozenset()):
        yield path, guarded, source.line(position), source.column(position) + 1


_FieldPath = tuple[str, ...]

_Read = tuple[_FieldPath, int, int]
"""A path, how many of its first names have a guard, and the position."""


class _RequiredFields:
    """Finds the fields that a template reads without a guard.

    A path leads from the data to a value; it is None for a value that is not a field of the data.
    A field of the data itself always has a value, so a test of it guards no key below it.
    """

    def __init__(self, trees: Mapping[str, Body], guards: Collection[str]) -> None:
        self._trees = trees
        self._guards = guards
        self._variables: dict[str, _FieldPath | None] = {"$": ()}
        self._called: set[tuple[str, _FieldPath | None]] = set()

    def of(
        self, value: object, dot: _FieldPath | None, tested: frozenset[_FieldPath]
    ) -> Iterator[_Read]:
        """Yield each path that a node or a tuple of nodes reads, unless it is `tested`."""
        path = self._path(value, dot)
        match value:
            case If() | With() | Range():
                yield from self._of_branches(value, dot, tested)
            case Pipe(commands=commands, variables=variables):
                self._declare(value, dot)
                is_alias = variables and not value.assigns and path is not None
                unguarded = () if is_alias else self._after_guards(commands)
                yield from self.of(unguarded, dot, tested)
            case TemplateCall(name=name, pipe=pipe) if name in self._trees:
                yield from self._of_definition(name, self._path(pipe, dot), tested)
            case Command(arguments=arguments) if path is None:
                yield from self.of(arguments, dot, tested)
            case Command() | Field() | Variable() | Dot() | Chain() if path:
                guards = (len(each) for each in tested if path[: len(each)] == each)
                guarded = max((length for length in guards if length > 1), default=0)
                if guarded < len(path):
                    yield path, guarded, value.position
            case _:
                for part in _parts(value):
                    yield from self.of(part, dot, tested)

    def _of_branches(
        self, value: If | With | Range, dot: _FieldPath | None, tested: frozenset[_FieldPath]
    ) -> Iterator[_Read]:
        if isinstance(value, Range):
            if value.otherwise is None:
                yield from self.of(value.pipe.commands, dot, tested)
            path = self._path(value.pipe, dot)
            item = None if path is None else (*path, EACH)
            names = [variable.names[0] for variable in value.pipe.variables]
            self._variables |= dict.fromkeys(names[:-1]) | dict.fromkeys(names[-1:], item)
            of_item = tested if item is None else tested | {item}
            yield from self.of(value.body, item, of_item)
        else:
            tested |= {path for case in value.cases for path in self._tested(case.pipe, dot)}
            for case in value.cases:
                self._declare(case.pipe, dot)
                inner = dot if isinstance(value, If) else self._path(case.pipe, dot)
                yield from self.of(case.body, inner, tested)
        yield from self.of(value.otherwise, dot, tested)

    def _of_definition(
        self, name: str, path: _FieldPath | None, tested: frozenset[_FieldPath]
    ) -> Iterator[_Read]:
        """Yield the paths that a called definition reads; for each data once."""
        if (name, path) not in self._called:
            self._called.add((name, path))
            outer, self._variables = self._variables, {"$": path}
            yield from self.of(self._trees[name], path, tested)
            self._variables = outer

    def _declare(self, pipe: Pipe, dot: _FieldPath | None) -> None:
        path = None if pipe.assigns else self._path(pipe, dot)
        self._variables |= {variable.names[0]: path for variable in pipe.variables}

    def _after_guards(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        """Return the commands of a pipeline whose arguments no guard accepts."""
        guarded = [
            number
            for number, command in enumerate(commands, 1)
            if isinstance(command.arguments[0], Identifier)
            and command.arguments[0].name in self._guards
        ]
        return commands[guarded[-1] :] if guarded else commands

    def _path(self, value: object, dot: _FieldPath | None) -> _FieldPath | None:
        """Return the path of the field that a node stands for."""
        known: _FieldPath | None = None
        names: Iterable[str] = ()
        match value:
            case Dot():
                known = dot
            case Field(names=names):
                known = dot
            case Variable(names=(name, *names)):
                known = self._variables.get(name)
            case Chain(node=node, names=names):
                known = self._path(node, dot)
            case Pipe(commands=(Command(arguments=arguments),)) | Command(arguments=arguments):
                match arguments:
                    case (operand,):
                        known = self._path(operand, dot)
                    case (Identifier(name="index"), operand, *keys):
                        names = [key.text for key in keys if isinstance(key, String)]
                        known = self._path(operand, dot) if len(names) == len(keys) else None
        return None if known is None else (*known, *names)

    def _tested(self, value: object, dot: _FieldPath | None) -> Iterator[_FieldPath]:
        """Yield the paths that a condition names, also those with a key as a constant text."""
        path = self._path(value, dot)
        if path:
            yield path
        if isinstance(value, Command):
            keys = [item.text for item in value.arguments if isinstance(item, String)]
            for item in value.arguments:
                base = self._path(item, dot)
                yield from ((*base, key) for key in keys if base is not None)
        for part in _parts(value):
            yield from self._tested(part, dot)


def _parts(value: object) -> Iterable[object]:
    """Return the parts of a node, or the items of a tuple; texts and numbers have none."""
    if isinstance(value, Node):
        return [getattr(value, field.name) for field in fields(value)]
    return value if isinstance(value, tuple) else ()


def changes_data(tree: object, functions: Mapping[str, Function]) -> bool:
    """Return whether a template calls a function that may change its arguments, and so the data.

    `tree` is a node, or a tuple of nodes.
    """
    if isinstance(tree, Identifier):
        return functions[tree.name].changes_arguments
    if isinstance(tree, Node):
        tree = tuple(getattr(tree, field.name) for field in fields(tree))
    return isinstance(tree, tuple) and any(changes_data(part, functions) for part in tree)
