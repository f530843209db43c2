"""Go's text/template in pure Python.

    template = parse(text, name="template", functions=FUNCTIONS)
    output = template.execute(data)

The way of a template is the order of the files: `lexer` (text to items), `parser` (items to
`nodes`), `compiler` (nodes to Python closures), execution. A parsed template is immutable; it may
be executed any number of times and by several threads at once. Both steps raise `TemplateError`
with Go's own text. `values` tells how Python's values stand for Go's, `budget` what bounds them.

The language is that of Go 1.26. The package knows nothing of what is rendered: functions beyond
Go's own are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.gotemplate.budget import DEFAULT_LIMITS, Budget, LimitError, Limits
from kalypso_actions.gotemplate.errors import TemplateError
from kalypso_actions.gotemplate.values import Function, FunctionError

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

    def execute(self, data: object, limits: Limits = DEFAULT_LIMITS) -> str:
        """Render the template with `data` as dot.

        Raises `TemplateError` for what Go refuses and for what goes beyond `limits`.
        """
        raise TemplateError("template: not executable yet", name="")


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
    raise TemplateError("template: not parsable yet", name=name)
