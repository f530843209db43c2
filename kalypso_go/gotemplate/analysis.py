"""What a template reads and changes, found without executing it."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final, TypeVar

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS
from kalypso_go.gotemplate.builtins import BUILTINS
from kalypso_go.gotemplate.errors import Source
from kalypso_go.gotemplate.nodes import (
    Action,
    Body,
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    If,
    Node,
    Number,
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


CONDITION: Final = "if"
"""The function of a use by `if`, `with`, or an operand of `and`, `or` and `not`."""

PRINT: Final = "print a value"
"""The function of a use by an action that prints a field, perhaps in quotes."""

_SAME_TEXT: Final = frozenset({"toString", "trim"})
"""The functions that leave most texts as they are."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A field of the data, the constant texts that an operand or its items are, or neither.

    A field with `texts` has the constant as its default. `is_set` means that it is never empty.
    """

    path: tuple[str, ...] | None = None
    texts: tuple[str, ...] = ()
    is_set: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether no field decides the operand."""
        return self.path is None and bool(self.texts)


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a function, or a condition, with its operands: the value of a pipeline is the last.

    `text` is that part of the template; `line` and `column` count from 1.
    """

    function: str
    operands: tuple[Operand, ...]
    text: str
    line: int
    column: int


def uses(text: str, functions: Mapping[str, Function], refused: Mapping[str, str]) -> Iterator[Use]:
    """Yield the calls of functions in a template, and the fields whose truth decides something.

    A field that the same condition compares, or that its branches read, is no condition: such a
    test asks whether the field is set. Raises `TemplateError` if the text does not parse.
    """
    source = Source("template", text)
    names = Names({**BUILTINS, **functions}, refused)
    trees = parse_trees(source, names, DEFAULT_LIMITS.parse_depth)
    for function, operands, node, position in _Uses(trees).calls(
        trees[source.name], (), frozenset()
    ):
        line, column = source.line(position), source.column(position) + 1
        yield Use(function, operands, str(node), line, column)


_Call = tuple[str, tuple[Operand, ...], object, int]


class _Uses(_RequiredFields):
    """Finds the operands of functions and conditions."""

    def __init__(self, trees: Mapping[str, Body]) -> None:
        super().__init__(trees, ())
        self._operands: dict[str, Operand] = {}
        self._assigned = {
            variable.names[0]
            for tree in trees.values()
            for pipe in _all(tree, Pipe)
            if pipe.assigns
            for variable in pipe.variables
        }

    def calls(
        self, value: object, dot: _FieldPath | None, excused: frozenset[_FieldPath]
    ) -> Iterator[_Call]:
        """Yield the calls in a node or a tuple of nodes, and conditions of fields not `excused`."""
        match value:
            case If() | With():
                yield from self._of_cases(value, dot, excused)
            case Action(pipe=pipe):
                yield from self.calls(pipe, dot, excused)
                printed = self._printed(pipe, dot)
                if printed.path:
                    yield PRINT, (printed,), pipe, pipe.position
            case Range(pipe=pipe, body=body, otherwise=otherwise):
                yield from self.calls(pipe.commands, dot, excused)
                path = self._path(pipe, dot)
                item = None if path is None else (*path, EACH)
                names = [variable.names[0] for variable in pipe.variables]
                self._variables |= dict.fromkeys(names[:-1]) | dict.fromkeys(names[-1:], item)
                for name in names:
                    self._operands.pop(name, None)
                yield from self.calls(body, item, excused)
                yield from self.calls(otherwise, dot, excused)
            case Pipe(commands=commands, variables=variables, assigns=assigns):
                self._declare(value, dot)
                result = yield from self._of_commands(commands, dot, excused)
                for variable in variables:
                    is_known = not assigns and variable.names[0] not in self._assigned
                    self._operands[variable.names[0]] = result if is_known else Operand()
            case TemplateCall(name=name, pipe=pipe) if name in self._trees:
                yield from self.calls(pipe, dot, excused)
                yield from self._of_called(name, self._path(pipe, dot), excused)
            case _:
                for part in _parts(value):
                    yield from self.calls(part, dot, excused)

    def _of_cases(
        self, value: If | With, dot: _FieldPath | None, excused: frozenset[_FieldPath]
    ) -> Iterator[_Call]:
        for case in value.cases:
            self._declare(case.pipe, dot)
            inner = dot if isinstance(value, If) else self._operand(case.pipe, dot).path
            read = self._read(case.body, inner) | self._read(value.otherwise, dot)
            known = excused | read | self._compared(case.pipe, dot)
            yield from self._conditions(case.pipe, dot, known)
            yield from self.calls(case.pipe, dot, known)
            yield from self.calls(case.body, inner, excused)
        yield from self.calls(value.otherwise, dot, excused)

    def _of_called(
        self, name: str, path: _FieldPath | None, excused: frozenset[_FieldPath]
    ) -> Iterator[_Call]:
        if (name, path) not in self._called:
            self._called.add((name, path))
            outer, self._variables = self._variables, {"$": path}
            yield from self.calls(self._trees[name], path, excused)
            self._variables = outer

    def _printed(self, pipe: Pipe, dot: _FieldPath | None) -> Operand:
        """Return the field that an action prints as Go writes it; none for another value."""
        commands = pipe.commands
        quotes = [
            command
            for command in commands
            if isinstance(command.arguments[0], Identifier)
            and command.arguments[0].name in {"quote", "squote"}
        ]
        if pipe.variables or len(quotes) > 1 or (quotes and quotes[0] is not commands[-1]):
            return Operand()
        if quotes and len(quotes[0].arguments) == 2:
            return self._operand(quotes[0].arguments[1], dot)
        plain = commands[:-1] if quotes else commands
        return _returned(self._of_commands(plain, dot, frozenset())) if plain else Operand()

    def _of_commands(
        self, commands: Iterable[Command], dot: _FieldPath | None, excused: frozenset[_FieldPath]
    ) -> Generator[_Call, None, Operand]:
        """Yield the calls of a pipeline, and return its value."""
        result: Operand | None = None
        before: list[Command] = []
        for command in commands:
            before.append(command)
            first, *arguments = command.arguments
            yield from self.calls(command.arguments, dot, excused)
            if not isinstance(first, Identifier):
                result = self._operand(first, dot)
                continue
            operands = [self._operand(argument, dot) for argument in arguments]
            operands += [] if result is None else [result]
            whole = " | ".join(map(str, before))
            yield first.name, tuple(operands), whole, command.position
            if first.name in {"and", "not"}:
                tested = operands if first.name == "not" else operands[:-1]
                yield from _truths(tested, excused, whole, command.position)
            result = self._result(first.name, operands, command, dot)
        return result or Operand()

    def _result(
        self, name: str, operands: list[Operand], command: Command, dot: _FieldPath | None
    ) -> Operand:
        if name == "default" and len(operands) == 2:
            constant, given = operands
            is_set = given.is_set or (constant.is_constant and constant.is_set)
            texts = constant.texts if constant.is_constant else ()
            return given if given.is_constant else Operand(given.path, texts, is_set)
        if name == "list" and operands and all(item.is_constant for item in operands):
            return Operand(None, tuple(text for item in operands for text in item.texts), True)
        if name in _SAME_TEXT and len(operands) == 1:
            return operands[0]
        return Operand(self._path(command, dot)) if name == "index" else Operand()

    def _operand(self, node: object, dot: _FieldPath | None) -> Operand:
        match node:
            case String(text=text):
                return Operand(None, (text,), bool(text))
            case Number(text=text):
                return Operand(None, (text,), bool(node.floating or node.integer))
            case Bool(value=value):
                return Operand(None, (str(node),), value)
            case Variable(names=(name,)) if name in self._operands:
                return self._operands[name]
            case Pipe(commands=commands):
                return _returned(self._of_commands(commands, dot, frozenset()))
        return Operand(self._path(node, dot))

    def _conditions(
        self, pipe: Pipe, dot: _FieldPath | None, excused: frozenset[_FieldPath]
    ) -> Iterator[_Call]:
        """Yield the fields whose truth decides a condition, except below `and` and `not`."""
        *_, last = pipe.commands
        first = last.arguments[0]
        name = first.name if isinstance(first, Identifier) else ""
        operands = [self._operand(pipe, dot)]
        if name in {"and", "or"}:
            operands = [self._operand(argument, dot) for argument in last.arguments[1:]]
            operands = operands[-1:] if name == "and" else operands
            for argument in last.arguments[1:]:
                if isinstance(argument, Pipe):
                    yield from self._conditions(argument, dot, excused)
        if name != "not":
            yield from _truths(operands, excused, pipe, pipe.position)

    def _read(self, body: object, dot: _FieldPath | None) -> frozenset[_FieldPath]:
        """Return the fields that a body prints or passes to functions, with those above them."""
        variables = dict(self._variables)
        paths = {path for path, *_ in self.of(body, dot, frozenset())}
        self._variables = variables
        return frozenset(path[:length] for path in paths for length in range(1, len(path) + 1))

    def _compared(self, pipe: Pipe, dot: _FieldPath | None) -> frozenset[_FieldPath]:
        """Return the fields that functions of a condition read, other than its logic."""
        commands = _all(pipe, Command)
        return frozenset(
            path
            for command in commands
            if isinstance(command.arguments[0], Identifier)
            and command.arguments[0].name not in _LOGIC
            for argument in command.arguments[1:]
            for path in (self._path(argument, dot),)
            if path
        )


def _returned(calls: Generator[_Call, None, Operand]) -> Operand:
    """Return what a generator returns."""
    while True:
        try:
            next(calls)
        except StopIteration as stop:
            result: Operand = stop.value
            return result


_LOGIC: Final = frozenset({"and", "or", "not", "default", "index", *_SAME_TEXT})


def _truths(
    operands: Iterable[Operand], excused: frozenset[_FieldPath], node: object, position: int
) -> Iterator[_Call]:
    for operand in operands:
        if operand.path and operand.path not in excused:
            yield CONDITION, (operand,), node, position


_Kind = TypeVar("_Kind", bound=Node)


def _all(value: object, kind: type[_Kind]) -> Iterator[_Kind]:
    """Yield all nodes of a kind in a node."""
    if isinstance(value, kind):
        yield value
    for part in _parts(value):
        yield from _all(part, kind)


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
