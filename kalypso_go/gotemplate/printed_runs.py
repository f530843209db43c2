"""Print runs of texts and actions: everything in a body between two controls."""

from __future__ import annotations

from kalypso_go.gotemplate.builtins import display
from kalypso_go.gotemplate.execution import Definition, Evaluate, State, Steps
from kalypso_go.gotemplate.nodes import Action, Node, Text
from kalypso_go.gotemplate.text import byte_length
from kalypso_go.gotemplate.values import Function, FunctionError

_Part = tuple[str, int, Evaluate, Action]
"""The text before an action, its bytes, the action's evaluation, and its node.

A plain tuple, because a loop unpacks it faster than a named one.
"""


class PrintedRun:
    """A run of texts and actions, compiled to a single step.

    Each action and the text before it count together against the limit of the output.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.parts: list[_Part] = []
        self.text: Text | None = None
        """The text after the last action."""

    def add_action(self, node: Action, evaluate: Evaluate) -> None:
        """Add an action that prints the value of `evaluate`."""
        before = self.text.text if self.text else ""
        self.parts.append((before, byte_length(before), evaluate, node))
        self.text = None

    def steps(self) -> Steps:
        """Compile the run to one step; there is none if it is empty."""
        if not self.parts and not self.text:
            return ()
        parts, last = tuple(self.parts), self.text
        last_text = last.text if last else ""
        last_size = byte_length(last_text)
        display, exceeded = self._display, self._exceeded

        def write(state: State, dot: object) -> None:
            output, budget = state.output, state.budget
            written, limit = budget.output, budget.output_limit
            for before, size, evaluate, node in parts:
                text = evaluate(state, dot)
                if type(text) is not str:
                    text = display(state, node, text)
                output.append(before)
                output.append(text)
                written += size + (len(text) if text.isascii() else byte_length(text))
                if written > limit:
                    raise exceeded(state, node)
            if last:
                output.append(last_text)
                written += last_size
                if written > limit:
                    raise exceeded(state, last)
            budget.output = written

        return (write,)

    def _exceeded(self, state: State, node: Node) -> Exception:
        """Return the error for an output that is too long."""
        if isinstance(node, Text):
            node = Text(node.position, node.text[:20])
        limit = state.budget.output_limit
        return self.definition.error(node, f"the output goes beyond the limit of {limit} bytes")

    def _display(self, state: State, node: Action, value: object) -> str:
        """Return the text of a value that is not a string."""
        if isinstance(value, Function):
            raise self.definition.error(node, f"can't print {node} of type {value.type}")
        try:
            return display(value, state.budget)
        except FunctionError as error:
            raise self.definition.error(node, str(error)) from None
