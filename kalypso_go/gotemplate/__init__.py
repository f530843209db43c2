"""Go's text/template in pure Python, as Go 1.26 has it.

    template = parse("Hello {{ .Name | upper }}", functions=sprig.FUNCTIONS)
    template.execute({"Name": "you"})  # "Hello YOU"

A text passes the lexer (items), the parser (nodes) and the compiler (closures). A template is
immutable: several threads may execute it at once, any number of times. Parsing and execution raise
`TemplateError` with Go's own text; a `Budget` limits what an execution takes. The caller passes all
functions beyond Go's own, such as those of the package `sprig`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_go.gotemplate.analysis import (
    CONDITION,
    EACH,
    PRINT,
    Operand,
    Use,
    changes_data,
    required_fields,
    root_fields,
    uses,
)
from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget, Decisions, LimitError, Limits
from kalypso_go.gotemplate.builtins import BUILTINS
from kalypso_go.gotemplate.compiler import Program, compile_trees
from kalypso_go.gotemplate.errors import Source, TemplateError
from kalypso_go.gotemplate.parser import Names, parse_trees
from kalypso_go.gotemplate.text import byte_length, normal
from kalypso_go.gotemplate.values import NO_VALUE, Function, FunctionError

__all__ = [
    "CONDITION",
    "DEFAULT_LIMITS",
    "EACH",
    "PRINT",
    "Budget",
    "Decisions",
    "Function",
    "FunctionError",
    "LimitError",
    "Limits",
    "Operand",
    "Template",
    "TemplateError",
    "Use",
    "parse",
    "required_fields",
    "root_fields",
    "uses",
]


class Template:
    """A parsed template; it is immutable, so threads may share it."""

    __slots__ = ("_main", "changes_data", "name", "text")

    def __init__(self, source: Source, main: Program, *, changes_data: bool) -> None:
        """Call `parse` instead. `changes_data` means that an execution may change its data."""
        self.name = source.name
        self.changes_data = changes_data
        self.text = source.text
        self._main = main

    def execute(
        self, data: object, limits: Limits = DEFAULT_LIMITS, *, budget: Budget | None = None
    ) -> str:
        """Render the template with `data` as dot.

        Pass the `budget` of earlier executions to limit all of them together.
        Raises `TemplateError` if Go rejects the template or the execution exceeds `limits`.
        """
        output: list[str] = []
        budget = budget or Budget(limits)
        try:
            budget.spend(len(self.text), "the template")
            dot = NO_VALUE if data is None else data
            self._main.run(dot, output, budget, 0)
        except LimitError as error:
            raise _error(self.name, str(error)) from None
        except RecursionError:
            # The limits prevent this, unless the caller's stack is already nearly full.
            detail = "actions and values nest too deeply to be executed"
            raise _error(self.name, detail) from None
        text = "".join(output)
        return text if text.isascii() else normal(text)


def parse(
    text: str,
    *,
    name: str = "template",
    functions: Mapping[str, Function] | None = None,
    refused: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Template:
    """Parse and compile `text`.

    `functions` extend Go's own and replace those of the same name; `refused` maps the names of
    deliberately absent functions to the reason, which becomes part of the error.
    Raises `TemplateError` if the text does not parse or exceeds `limits`.
    """
    source = Source(name, text)
    if byte_length(text) > limits.template_bytes:
        limit = limits.template_bytes
        raise _error(name, f"the template goes beyond the limit of {limit} bytes")
    all_functions = {**BUILTINS, **(functions or {})}
    trees = parse_trees(source, Names(all_functions, refused or {}), limits.parse_depth)
    main = compile_trees(source, trees, all_functions)[name]
    return Template(source, main, changes_data=changes_data((*trees.values(),), all_functions))


def _error(name: str, detail: str) -> TemplateError:
    """Return an error that concerns the template as a whole."""
    return TemplateError(f"template: {name}: {detail}", name=name, detail=detail)
