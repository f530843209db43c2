"""Breaks of rules, each declared beside the test that must notice it.

    @breaks("a rollback needs nobody's word", turned(advance, "allow_rollback", "True"))
    def test_a_rollback_must_be_allowed(...):

`python -m tests.breaks` applies each break in a process of its own and runs the tests that declare it:
one of them must fail, and all of them must pass without the break. The target is a function that the
test imports, or the dotted name of another one. A name that no longer exists, an expression that the
function does not contain exactly once, and a replacement that nothing calls are errors.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, Protocol

import pytest

BREAKING: Final = "KALYPSO_BREAKS"
"""Environment variable of the runs that break rules."""

Target = Callable[..., object] | property | str
"""A function or property, or its dotted name, which is resolved when the break is applied."""


class MisfitError(Exception):
    """A break that cannot be applied, with the reason."""


class Change(Protocol):
    """One change of the product; `is_used` tells after the tests whether it was reached."""

    def apply(self) -> None:
        """Change the product in this process; raise MisfitError if that is impossible."""

    @property
    def is_used(self) -> bool:
        """Whether the tests reached the changed code."""


@dataclass(frozen=True, slots=True)
class Break:
    """A rule's name as it is when broken, and the changes that break it."""

    name: str
    changes: tuple[Change, ...]
    case: str = ""


def breaks(name: str, *changes: Change, case: str = "") -> pytest.MarkDecorator:
    """Return the mark of a test that must notice a break.

    `case` is a part of the ids of the cases that run; by default, all cases of the test run.
    """
    return pytest.mark.breaks(Break(name, changes, case))


@dataclass(slots=True)
class turned:  # noqa: N801 # it reads as a function
    """Replace an expression, which a function contains exactly once, by another one.

    Expressions are compared as syntax, so that line breaks and quotes do not matter.
    """

    target: Target
    old: str
    new: str
    is_used: bool = field(default=True, init=False)  # code has no place to tell

    def apply(self) -> None:
        """Compile the function anew, and put the new code into the function that everybody has."""
        function = function_of(self.target)
        path = Path(inspect.getfile(function))
        module = ast.parse(path.read_text("utf-8"))
        line = function.__code__.co_firstlineno
        definition = next(
            (
                node
                for node in ast.walk(module)
                if isinstance(node, ast.FunctionDef) and line in {node.lineno, *_lines(node)}
            ),
            None,
        )
        if definition is None:
            raise MisfitError(f"{function.__qualname__} has no source")
        turn = _Turn(self.old, self.new)
        turn.visit(definition)
        if turn.count != 1:
            raise MisfitError(
                f"{function.__qualname__} contains {self.old!r} {turn.count} times, not once"
            )
        if ast.dump(turn.old) == ast.dump(turn.new):
            raise MisfitError(f"{self.old!r} is not changed")
        compiled = compile(module, str(path), "exec", dont_inherit=True)
        function.__code__ = next(
            code
            for code in _codes(compiled)
            if code.co_qualname == function.__qualname__ and code.co_firstlineno == line
        )


class _Turn(ast.NodeTransformer):
    """Replaces each expression that equals the old one, and counts them."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = (ast.parse(text, mode="eval").body for text in (old, new))
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and ast.dump(node) == ast.dump(self.old):
            self.count += 1
            new = ast.parse(ast.unparse(self.new), mode="eval").body
            for part in ast.walk(new):
                ast.copy_location(part, node)
            return new
        visited: ast.AST = super().visit(node)
        return visited


def _lines(node: ast.FunctionDef) -> Iterator[int]:
    """Yield the lines of the decorators: a function's code begins at the first."""
    return (decorator.lineno for decorator in node.decorator_list)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@dataclass(slots=True)
class replaced:  # noqa: N801 # it reads as a function
    """Call another function in place of a function or method; it gets the real one first."""

    target: Target
    by: Callable[..., object]
    is_used: bool = field(default=False, init=False)

    def apply(self) -> None:
        """Put other code into the function that everybody has."""
        function = function_of(self.target)
        real = FunctionType(
            function.__code__,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        real.__kwdefaults__ = function.__kwdefaults__

        def called(*values: Any, **options: Any) -> object:
            self.is_used = True
            return self.by(real, *values, **options)

        key = next(_KEYS)
        CALLED[key] = called
        code = _calling(function.__code__.co_freevars, key, function.__qualname__)
        function.__code__ = code


def returning(target: Target, value: object) -> replaced:
    """Let a function or method return a constant."""
    return replaced(target, lambda _real, *_values, **_options: value)


def negated(target: Target) -> replaced:
    """Let a function or method return the opposite."""
    return replaced(target, lambda real, *values, **options: not real(*values, **options))


CALLED: Final[dict[int, Callable[..., object]]] = {}
"""What the code of replaced functions calls."""

_KEYS: Final = itertools.count()


def _calling(free: tuple[str, ...], key: int, name: str) -> CodeType:
    """Return the code of a function that calls another one, with these free variables."""
    names = ", ".join(free)
    source = "\n".join(
        [
            "def around():",
            *(f"    {name} = None" for name in free if name != "__class__"),
            *(["    __class__ = None"] if "__class__" in free else []),
            "    def call(*values, **options):",
            "        from tests.breaks import CALLED",
            f"        if False: return ({names},)" if free else "",
            f"        return CALLED[{key}](*values, **options)",
        ]
    )
    codes = _codes(compile(source, f"<break of {name}>", "exec"))
    return next(code for code in codes if code.co_name == "call")


@dataclass(slots=True)
class value:  # noqa: N801 # it reads as a function
    """Give a constant of a module another value, wherever it was imported."""

    target: str
    new: object
    is_used: bool = field(default=True, init=False)

    def apply(self) -> None:
        """Set the constant in all modules that have it."""
        place, _, name = self.target.rpartition(".")
        module = _resolved(place)
        if not isinstance(module, ModuleType) or not hasattr(module, name):
            raise MisfitError(f"there is no {self.target}")
        old = getattr(module, name)
        if old == self.new:
            raise MisfitError(f"{self.target} is {old!r} already")
        for other in list(sys.modules.values()):
            if other.__name__.startswith("kalypso_") and other.__dict__.get(name) is old:
                setattr(other, name, self.new)


def function_of(target: Target) -> FunctionType:
    """Return the function below decorators and descriptors; raise MisfitError without one."""
    found: Any = _resolved(target) if isinstance(target, str) else target
    for _ in range(9):
        if isinstance(found, FunctionType) and not hasattr(found, "__wrapped__"):
            return found
        if hasattr(found, "cache_clear"):
            found.cache_clear()
        if isinstance(found, property):
            found = found.fget
        elif isinstance(found, functools.cached_property):
            found = found.func
        else:
            found = getattr(found, "__func__", None) or getattr(found, "__wrapped__", None)
    raise MisfitError(f"{target} is no function")


def _resolved(target: str) -> object:
    """Return what a dotted name of a module's content means."""
    parts = target.split(".")
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        try:
            found: object = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            continue
        for part in parts[count:]:
            found = inspect.getattr_static(found, part, None)
        if found is None:
            break
        return found
    raise MisfitError(f"there is no {target}")
