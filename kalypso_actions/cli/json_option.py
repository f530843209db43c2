"""The option `--json`, short for `--output json`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

_Json = Annotated[bool, typer.Option("--json", help="The same as --output json.")]


def with_json_option(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command with the option `--json`, if it has `--output`."""
    signature = inspect.signature(function, eval_str=True)
    if "output" not in signature.parameters:
        return function
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [each.replace(kind=keyword) for each in signature.parameters.values()]
    place = [each.name for each in parameters].index("output") + 1
    parameters.insert(place, inspect.Parameter("as_json", keyword, default=False, annotation=_Json))

    def command(*, as_json: bool, **options: Any) -> None:
        function(**(options | {"output": "json"} if as_json else options))

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command
