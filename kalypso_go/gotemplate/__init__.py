"""Go's text/template in pure Python.

    template = parse(text, name="template", functions=FUNCTIONS)
    output = template.execute(data)

A template passes through:

    text ── lexer ──> items ── parser, expressions ──> nodes ── compiler, pipelines ──> closures

Closures run on a state (`execution`): `printed_runs` prints texts and actions, `fields` and `calls`
evaluate fields and calls, `conversion` converts arguments to the types of parameters, `builtins`
holds Go's own functions, `printf` and `printer` implement Go's fmt, `kept_texts` keeps texts that
many executions share. `values` maps Go's types to Python's, `budget` limits an execution.

A parsed template is immutable: several threads may execute it at once, any number of times. Parsing
and execution raise `TemplateError` with Go's own text. The language is that of Go 1.26. The caller
passes all functions beyond Go's own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kalypso_go.gotemplate.budget import DEFAULT_LIMITS, Budget, LimitError, Limits
from kalypso_go.gotemplate.builtins import BUILTINS
from kalypso_go.gotemplate.compiler import Program, compile_trees
from kalypso_go.gotemplate.cursor import Source
from kalypso_go.gotemplate.errors import TemplateError
from kalypso_go.gotemplate.execution import NOTHING_KEPT, KeptTexts
from kalypso_go.gotemplate.expressions import Names
from kalypso_go.gotemplate.kept_texts import changes_data
from kalypso_go.gotemplate.parser import parse_trees
from kalypso_go.gotemplate.root_fields import RootField, root_fields
from kalypso_go.gotemplate.text import byte_length, normal
from kalypso_go.gotemplate.values import NO_VALUE, Function, FunctionError

__all__ = [
    "DEFAULT_LIMITS",
    "NOTHING_KEPT",
    "Budget",
    "Function",
    "FunctionError",
    "KeptTexts",
    "LimitError",
    "Limits",
    "RootField",
    "Template",
    "TemplateError",
    "parse",
    "root_fields",
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
        self,
        data: object,
        limits: Limits = DEFAULT_LIMITS,
        *,
        budget: Budget | None = None,
        kept: Mapping[str, KeptTexts] = NOTHING_KEPT,
    ) -> str:
        """Render the template with `data` as dot.

        Pass the `budget` of earlier executions to limit all of them together. `kept` maps each
        field that has the same value as in earlier executions to the texts of those executions.
        Raises `TemplateError` if Go rejects the template or the execution exceeds `limits`.
        """
        output: list[str] = []
        budget = budget or Budget(limits)
        try:
            budget.spend(len(self.text), "the template")
            dot = NO_VALUE if data is None else data
            self._main.run(dot, output, budget, 0, kept)
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
    kept_fields: Collection[str] | None = None,
) -> Template:
    """Parse and compile `text`.

    `functions` extend Go's own and replace those of the same name; `refused` maps the names of
    deliberately absent functions to the reason, which becomes part of the error. `kept_fields` are
    the fields of the data whose texts executions may keep; None stands for all fields.
    Raises `TemplateError` if the text does not parse or exceeds `limits`.
    """
    source = Source(name, text)
    if byte_length(text) > limits.template_bytes:
        limit = limits.template_bytes
        raise _error(name, f"the template goes beyond the limit of {limit} bytes")
    all_functions = {**BUILTINS, **(functions or {})}
    trees = parse_trees(source, Names(all_functions, refused or {}), limits.parse_depth)
    main = compile_trees(source, trees, all_functions, kept_fields)[name]
    return Template(source, main, changes_data=changes_data((*trees.values(),), all_functions))


def _error(name: str, detail: str) -> TemplateError:
    """Return an error that concerns the template as a whole."""
    return TemplateError(f"template: {name}: {detail}", name=name, detail=detail)
