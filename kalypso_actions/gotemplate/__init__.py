"""Go's text/template in pure Python.

    template = parse(text, name="template", functions=FUNCTIONS)
    output = template.execute(data)

The way of a template:

    text ── lexer ──> items ── parser, expressions ──> nodes ── compiler, pipelines ──> closures

Closures run on a state (`execution`): `fields` and `calls` find values, `conversion` fits them to
parameters, `builtins` are Go's own functions, `printf` and `printer` Go's fmt. `values` tells how
Python's values stand for Go's, `budget` what bounds an execution.

A parsed template is immutable; it may be executed any number of times and by several threads at
once. Both steps raise `TemplateError` with Go's own text. The language is that of Go 1.26. The
package knows nothing of what is rendered: functions beyond Go's own are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.gotemplate.budget import DEFAULT_LIMITS, Budget, LimitError, Limits
from kalypso_actions.gotemplate.builtins import BUILTINS
from kalypso_actions.gotemplate.compiler import Program, compile_trees
from kalypso_actions.gotemplate.cursor import Source
from kalypso_actions.gotemplate.errors import TemplateError
from kalypso_actions.gotemplate.execution import State
from kalypso_actions.gotemplate.expressions import Names
from kalypso_actions.gotemplate.parser import parse_trees
from kalypso_actions.gotemplate.text import byte_length, normal
from kalypso_actions.gotemplate.values import NO_VALUE, Function, FunctionError

__all__ = [
    "DEFAULT_LIMITS",
    "Budget",
    "Function",
    "FunctionError",
    "LimitError",
    "Limits",
    "Template",
    "TemplateError",
    "parse",
]


class Template:
    """A parsed template: immutable, shared between threads."""

    __slots__ = ("_main", "name", "text")

    def __init__(self, source: Source, main: Program) -> None:
        """Use `parse`."""
        self.name = source.name
        self.text = source.text
        self._main = main

    def execute(self, data: object, limits: Limits = DEFAULT_LIMITS) -> str:
        """Render the template with `data` as dot.

        Raises `TemplateError` for what Go refuses and for what goes beyond `limits`.
        """
        output: list[str] = []
        budget = Budget(limits)
        try:
            budget.spend(len(self.text), "the template")
            dot = NO_VALUE if data is None else data
            self._main.run(State(output, budget, depth=0), dot)
        except LimitError as error:
            raise _error(self.name, str(error)) from None
        except RecursionError:
            # The limits leave room enough, unless the caller's own stack is nearly full.
            detail = "actions and values nest too deeply to be executed"
            raise _error(self.name, detail) from None
        return normal("".join(output))


def parse(
    text: str,
    *,
    name: str = "template",
    functions: Mapping[str, Function] | None = None,
    refused: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Template:
    """Parse and compile `text`.

    `functions` come on top of Go's own, and replace those of the same name; `refused` gives for
    each name that is deliberately absent the reason, which the error then tells.
    Raises `TemplateError` for a text that does not parse, or is beyond `limits`.
    """
    source = Source(name, text)
    if byte_length(text) > limits.template_bytes:
        limit = limits.template_bytes
        raise _error(name, f"the template goes beyond the limit of {limit} bytes")
    known = {**BUILTINS, **(functions or {})}
    trees = parse_trees(source, Names(known, refused or {}), limits.parse_depth)
    return Template(source, compile_trees(source, trees, known)[name])


def _error(name: str, detail: str) -> TemplateError:
    """An error of the template as a whole."""
    return TemplateError(f"template: {name}: {detail}", name=name, detail=detail)
