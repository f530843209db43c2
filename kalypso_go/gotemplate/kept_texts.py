"""Keep the texts of actions that depend on a single field of the data for later executions.

Many assignments share one configuration, so `{{ toYaml .ConfigData }}` gives each of them the same
text for the same work. A caller that shares a field between executions keeps its texts with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Final

from kalypso_go.gotemplate.execution import Evaluate, State
from kalypso_go.gotemplate.nodes import Dot, Field, Identifier, Node, Pipe, Variable
from kalypso_go.gotemplate.values import Function

DATA: Final = "."
"""Stands for dot if it is the data itself. No field has this name."""


def keeping(
    pipe: Pipe, evaluate: Evaluate, dot: str | None, kept_fields: Collection[str] | None
) -> Evaluate:
    """Return an evaluation that keeps the text of an action if it reads a single field of the data.

    That field must be one of `kept_fields`, unless this is None. `dot` is `DATA`, or the field on
    which dot depends; None if it depends on anything else. Reading a field costs less than keeping
    its text, so an action without a call stays as it is.
    The work counts for each execution. It may differ near a limit, or if the budget begins to
    measure small values; the action is then evaluated again.
    """
    name = only_field(pipe, dot)
    if name is None or (kept_fields is not None and name not in kept_fields):
        return evaluate
    if not any(isinstance(node, Identifier) for node in _nodes(pipe)):
        return evaluate
    measured, unmeasured = object(), object()

    def evaluate_once(state: State, dot: object) -> object:
        texts = state.kept.get(name)
        if texts is None:
            return evaluate(state, dot)
        budget = state.budget
        counted = budget.counts_calls
        key = measured if counted else unmeasured
        known = texts.get(key)
        if known is not None and budget.repeat(known[1]):
            return known[0]
        before = budget.work
        value = evaluate(state, dot)
        if type(value) is str and budget.counts_calls is counted:
            texts[key] = value, budget.work - before
        return value

    return evaluate_once


def only_field(pipe: Pipe, dot: str | None) -> str | None:
    """Return the field of the data on which a pipeline depends; None if it is not just one."""
    roots = set(_roots(pipe, dot))
    return roots.pop() if len(roots) == 1 else None


def changes_data(trees: object, functions: Mapping[str, Function]) -> bool:
    """Return whether a template calls a function that may change its arguments, and so the data."""
    return any(
        isinstance(node, Identifier) and functions[node.name].changes_arguments
        for node in _nodes(trees)
    )


def _roots(pipe: Pipe, dot: str | None) -> Iterator[str | None]:
    """Yield the field of each operand that reads the data; None for other data, as of variables."""
    for node in _nodes(pipe):
        if isinstance(node, Field):
            yield node.names[0] if dot == DATA else dot
        elif isinstance(node, Dot):
            yield None if dot == DATA else dot
        elif isinstance(node, Variable) or (isinstance(node, Pipe) and node.variables):
            yield None


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
        for field in fields(value):
            yield from _nodes(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
