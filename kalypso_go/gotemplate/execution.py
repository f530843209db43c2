"""The context of closures: at compile time their definition, at run time a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.errors import Source, TemplateError
from kalypso_go.gotemplate.nodes import Node
from kalypso_go.gotemplate.text import byte_length, quote
from kalypso_go.gotemplate.values import NO_VALUE

_NO_SLOTS: Final[frozenset[int]] = frozenset()


class State:
    """One execution of one definition: its variables, and the output and budget of the template.

    Errors name `node` where the last evaluated node is known only at run time. `elements` holds the
    slots of loop variables whose container has elements of type `interface {}`; Go's errors mention
    that type.
    """

    __slots__ = ("budget", "depth", "elements", "node", "output", "variables")

    def __init__(
        self, output: list[str], budget: Budget, depth: int, variables: list[object]
    ) -> None:
        self.output = output
        self.budget = budget
        self.depth = depth
        self.variables = variables
        self.elements: frozenset[int] = _NO_SLOTS
        self.node: Node | None = None


Evaluate = Callable[..., object]
"""Computes a value from the state and dot; a command in a pipeline takes the value of the previous
command as its third argument."""

Run = Callable[[State, object], None]
"""Renders a part of a template with the state and dot."""

Steps = tuple[Run, ...]
"""The parts of a body, in order."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled operand, command or pipeline.

    `last` is the node that Go's errors name after the evaluation; None means `State.node`.
    `nullable` means that the value may be a nil inside an `interface {}`, which a pipeline treats
    as no value.
    """

    evaluate: Evaluate
    last: Node | None
    nullable: bool = True

    def unwrapped(self) -> Evaluate:
        """Return the evaluation with `NO_VALUE` instead of nil, as a pipeline passes values on."""
        if not self.nullable:
            return self.evaluate
        evaluate = self.evaluate

        def unwrap(state: State, dot: object) -> object:
            value = evaluate(state, dot)
            return NO_VALUE if value is None else value

        return unwrap


class BreakLoop(Exception):  # noqa: N818  # a jump, not an error
    """`{{break}}`."""


class ContinueLoop(Exception):  # noqa: N818  # a jump, not an error
    """`{{continue}}`."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition that closures belong to; it creates their errors."""

    source: Source
    name: str

    def error(self, node: Node, detail: str) -> TemplateError:
        """Return an execution error at a node, with Go's text."""
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
        """Return an error at the node evaluated last."""
        node = last or state.node
        if node is None:
            raise AssertionError("an operand without a last node sets it while it is evaluated")
        return self.error(node, detail)

    def failing(self, node: Node, detail: str) -> Evaluate:
        """Return an evaluation that fails."""

        def fail(*_: object) -> object:
            raise self.error(node, detail)

        return fail
