"""What a template's closures share: at compile time their definition, at run time a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.cursor import Source
from kalypso_actions.gotemplate.errors import TemplateError
from kalypso_actions.gotemplate.nodes import Node
from kalypso_actions.gotemplate.quoting import quote
from kalypso_actions.gotemplate.text import byte_length
from kalypso_actions.gotemplate.values import NO_VALUE


class State:
    """One execution of one definition: its variables, and what all definitions share.

    `node` is the one that errors name where only the execution can tell which it was. `elements`
    are the places of variables whose values a loop took out of a container of `interface {}`: Go
    remembers, and says so in errors.
    """

    __slots__ = ("budget", "depth", "elements", "node", "output", "variables")

    def __init__(self, output: list[str], budget: Budget, depth: int) -> None:
        self.output = output
        self.budget = budget
        self.depth = depth
        self.variables: list[object] = []
        self.elements: set[int] = set()
        self.node: Node | None = None


Evaluate = Callable[..., object]
"""Computes a value from the state and dot; a command takes as its third argument what comes
through the pipe before it, if there is one."""

Run = Callable[[State, object], None]
"""Writes what a part of a template renders, with the state and dot."""

Steps = tuple[Run, ...]
"""The parts of a body, in order."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled operand, command or pipeline.

    `last` is the node that Go's errors name once it is evaluated; None where that is
    `State.node`. `nullable` where the value may be a nil inside of an `interface {}`, which a
    pipeline takes for no value at all.
    """

    evaluate: Evaluate
    last: Node | None
    nullable: bool = True

    def unwrapped(self) -> Evaluate:
        """The value as a pipeline passes it on: `NO_VALUE` instead of nil."""
        if not self.nullable:
            return self.evaluate
        evaluate = self.evaluate

        def unwrap(state: State, dot: object) -> object:
            value = evaluate(state, dot)
            return NO_VALUE if value is None else value

        return unwrap


class BreakLoop(Exception):  # noqa: N818  # no error, a jump
    """`{{break}}`."""


class ContinueLoop(Exception):  # noqa: N818  # no error, a jump
    """`{{continue}}`."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The template that closures belong to, for what they tell in errors."""

    source: Source
    name: str

    def error(self, node: Node, detail: str) -> TemplateError:
        """An error of execution at a node, as Go words it."""
        source = self.source
        line, column = source.line(node.position), source.column(node.position)
        before = source.text[node.position - column : node.position]
        detail = f"executing {quote(self.name)} at <{node}>: {detail}"
        return TemplateError(
            f"template: {source.name}:{line}:{byte_length(before)}: {detail}",
            name=source.name,
            line=line,
            column=column + 1,
            detail=detail,
        )

    def late_error(self, state: State, last: Node | None, detail: str) -> TemplateError:
        """An error at the node evaluated last."""
        node = last or state.node
        if node is None:
            raise AssertionError("an operand without a last node names it while it is evaluated")
        return self.error(node, detail)

    def failing(self, node: Node, detail: str) -> Evaluate:
        """What fails as soon as it is evaluated."""

        def fail(*_: object) -> object:
            raise self.error(node, detail)

        return fail
