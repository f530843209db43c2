"""Command line options made from a command's inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from rich.markup import escape

from kalypso_actions.cli.output import Output, Verbose

OWN_OPTIONS = frozenset({"output", "verbose"})

ENVIRONMENTS = frozenset({"environment", "next_environment"})
"""Options whose values a shell completes with the control plane's environments."""


def with_options(
    model: type[BaseModel], name: str, text: str, run: Callable[[dict[str, Any]], None]
) -> Callable[..., None]:
    """Return a function for Typer, with an option for each input except secrets.

    `run` gets the values by option name; the value of a missing option is None.
    """
    parameters = list(_parameters(model))

    def command(**options: Any) -> None:
        run({key.replace("_", "-"): value for key, value in options.items()})

    command.__name__ = name
    command.__doc__ = text
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameters(model: type[BaseModel]) -> Iterator[inspect.Parameter]:
    """Yield the options, the required ones first."""
    fields = sorted(model.model_fields.items(), key=lambda item: not item[1].is_required())
    for name, field in fields:
        if name not in OWN_OPTIONS and field.annotation is not SecretStr:
            complete = _complete_environment if name in ENVIRONMENTS else None
            yield _parameter(name, None, _option(field, complete))
    yield _parameter("output", "text", Output)
    yield _parameter("verbose", False, Verbose)


def _complete_environment(ctx: typer.Context, incomplete: str) -> list[str]:
    # Only a shell that completes needs these imports.
    from kalypso_actions.cli.completion import complete_environment  # noqa: PLC0415

    return complete_environment(ctx, incomplete)


def _parameter(name: str, default: object, annotation: object) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _option(field: FieldInfo, complete: Callable[[typer.Context, str], list[str]] | None) -> object:
    # An input that defaults to true takes a value, as in an action; the others are flags.
    flag = field.annotation is bool and not field.default
    is_choice = get_origin(field.annotation) is Literal
    choices = get_args(field.annotation) if is_choice else ()
    values = "true|false" if field.annotation is bool else "|".join(choices)
    option = typer.Option(
        f"--{field.alias}",
        help=escape(f"{field.description}{_default(field)}"),
        metavar=None if flag else values or "TEXT",
        show_default=False,
        autocompletion=complete,
    )
    return Annotated[bool | None if flag else str | None, option]


def _default(field: FieldInfo) -> str:
    """Return the end of an option's help: that it is required, or its default."""
    if field.is_required():
        return " [required]"
    default = field.default
    return f" [default: {default}]" if isinstance(default, str) and default else ""
