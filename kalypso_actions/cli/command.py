"""A command: its inputs as options, its document printed once, its errors as a document.

A command is a class; `command_list` has the texts of its help:

    class DiffCommand(LocalCommand[DiffInputs, DiffDocument]):
        model, document, place = DiffInputs, DiffDocument, "diff:diff"
        printer = print_diff
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NoReturn,
    TypeVar,
    get_args,
    get_origin,
)

import typer
from annotated_types import Ge
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from rich.console import Console

from kalypso_actions.cli.process import import_command
from kalypso_actions.cli.streams import configure_logging, print_json, stdout
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.reading import checked_inputs
from kalypso_actions.inputs.values import (
    Option,
    OutputInputs,
    default_text,
    described,
    inputs_of,
    option_of,
)
from kalypso_actions.report.documents import OutputDocument

Given = dict[str, Any]
"""The values that the command line gives, by the names of the inputs."""

InputsT = TypeVar("InputsT", bound=OutputInputs)
DocumentT = TypeVar("DocumentT", bound=OutputDocument)
Complete = Callable[[typer.Context, str], list[str]]

SECOND = "_option"
"""The end of the parameter of an option that has the name of an argument."""


class Command(Generic[InputsT, DocumentT]):
    """A command of the command line.

    `place` is its function in `commands`, as module:name. `echoed` are the fields of the document
    that an error leaves, with the inputs that they repeat. `printer` prints the document for
    people, unless the command defines `show`. `inputs` are the checked ones.
    """

    model: type[InputsT]
    document: type[DocumentT]
    place: str
    echoed: ClassVar[Mapping[str, str]] = {}
    printer: ClassVar[Callable[[Console, Any], None]]
    inputs: InputsT

    def __call__(self, given: Given) -> NoReturn:
        """Run the command with its options, and exit."""
        self.log(calls=given.get("debug", False))
        document = self.compute_or_fail(given)
        self.print(document)
        raise typer.Exit(self.exit_code(document))

    def compute_or_fail(self, given: Given) -> DocumentT:
        """Compute; if programs read the output, print an error as the document, and exit.

        Raises KalypsoError.
        """
        try:
            join_names(given)
            return self.compute(given)
        except KalypsoError as error:
            if not self.print_error(given, error):
                raise
            raise typer.Exit(error.exit_code) from error

    def compute(self, given: Given) -> DocumentT:
        """Check the inputs, and return the document that they lead to. Raises KalypsoError."""
        self.inputs = checked_inputs(self.model, given)
        return self.run()

    def run(self) -> DocumentT:
        """Return the document of the inputs. Raises KalypsoError."""
        document: DocumentT = self.call(self.inputs)
        return document

    def call(self, *arguments: Any, **named: Any) -> Any:
        """Call the function at `place`; its imports wait until the help cannot need them."""
        module, _, name = self.place.partition(":")
        return getattr(import_command(f"kalypso_actions.commands.{module}"), name)(
            *arguments, **named
        )

    def show(self, document: DocumentT) -> None:
        """Print the document for people."""
        type(self).printer(stdout(), document)

    def exit_code(self, document: DocumentT) -> int:
        """Return the exit code."""
        return 1 if document.failed else 0

    def log(self, *, calls: bool) -> None:
        """Log what `--debug` asks for."""
        configure_logging(calls=calls)

    def print(self, document: DocumentT) -> None:
        """Print the document as `--output` says."""
        if self.inputs.output == "json":
            print_json(document)
        else:
            self.show(document)

    def print_error(self, given: Given, error: KalypsoError) -> bool:
        """Print an error for the programs that read the output; return whether any does."""
        if given["output"] != "json":
            return False
        print_json(self.failed(given, error))
        return True

    def failed(self, given: Given, error: KalypsoError) -> DocumentT:
        """Return the document of a run that an error ended: nothing was compared."""
        fields = {field: given.get(name, "") for field, name in self.echoed.items()}
        if "compared" in self.document.model_fields:
            fields["compared"] = False
        return self.document.model_validate({**fields, "problems": error.problems})


def function_of(model: type[OutputInputs], run: Callable[[Given], None]) -> Callable[..., None]:
    """Return a function for Typer, with a parameter for each input except secrets.

    `run` gets the values that were given, by the names of the inputs, and always `output`.
    """
    parameters = list(_parameters(model))
    names = {name: field.alias or name for name, field in inputs_of(model).items()}

    def function(*, as_json: bool, **options: Any) -> None:
        given = {names.get(key, key): value for key, value in options.items() if value is not None}
        given["output"] = "json" if as_json else given.get("output", "text")
        run(given)

    set_parameters(function, parameters)
    return function


def set_parameters(function: Callable[..., None], parameters: Sequence[Parameter]) -> None:
    """Set the parameters that Typer sees."""
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {each.name: each.annotation for each in parameters}


def output_parameters(field: FieldInfo) -> Iterator[Parameter]:
    """Yield the parameters `output` and `as_json`."""
    choices: Any = field.annotation
    yield _parameter("output", Annotated[choices | None, _option(field, {})], None)
    as_json = typer.Option("--json", help="The same as --output json.")
    yield _parameter("as_json", Annotated[bool, as_json], False)


def _parameters(model: type[OutputInputs]) -> Iterator[Parameter]:
    """Yield the parameters: arguments and required options first."""
    fields = inputs_of(model)
    ranks = {
        name: (not option_of(field).argument, not field.is_required())
        for name, field in fields.items()
    }
    for name in sorted(fields, key=lambda name: ranks[name]):
        field = fields[name]
        if name == "output":
            yield from output_parameters(field)
        elif field.annotation is not SecretStr:
            yield from _parameters_of(name, field, as_texts=model.as_texts)


def _parameters_of(name: str, field: FieldInfo, *, as_texts: bool) -> Iterator[Parameter]:
    """Yield the parameter of an input, and that of an option with the name of an argument."""
    line, required = option_of(field), field.is_required() and not as_texts
    kind, settings = _kind(field, as_texts=as_texts)
    optional = kind if required else kind | None
    default = Parameter.empty if required else None
    if line.argument:
        metavar = None if line.also_option else line.metavar
        argument = typer.Argument(
            metavar=metavar,
            help=line.text,
            show_default=False,
            autocompletion=_completion(line),
        )
        yield _parameter(name, Annotated[optional, argument], default)
    if line.also_option:
        option = _option(field, settings, line.also_option)
        yield _parameter(f"{name}{SECOND}", Annotated[optional, option], None)
    elif not line.argument:
        text = described(field, "commas") if required else ""  # Typer says that it is required
        yield _parameter(name, Annotated[optional, _option(field, settings, text)], default)


def _parameter(name: str, annotation: object, default: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(field: FieldInfo, *, as_texts: bool) -> tuple[Any, dict[str, Any]]:
    """Return the type of an option, and its other settings.

    The model checks most values, and reports all faults together. For a command that is no action,
    the parser of the options checks choices and numbers.
    """
    annotation = field.annotation
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    if annotation is bool:
        # An input that defaults to true takes a value, as in an action; the others are flags.
        return (str, {"metavar": "true|false"}) if field.default else (bool, {})
    if as_texts:
        text = "|".join(choices) or option_of(field).metavar or "TEXT"
        return list[str] if option_of(field).repeatable else str, {"metavar": text}
    if choices:
        return annotation, {}
    metavar: dict[str, Any] = {"metavar": option_of(field).metavar or None}
    if annotation is int:
        least = (bound.ge for bound in field.metadata if isinstance(bound, Ge))
        return int, metavar | {"min": next(least, None)}
    return list[str] if option_of(field).repeatable else str, metavar


def _option(field: FieldInfo, settings: Mapping[str, Any], text: str = "") -> object:
    line = option_of(field)
    names = (f"--{field.alias}", line.short) if line.short else (f"--{field.alias}",)
    return typer.Option(
        *names,
        help=text or f"{described(field, 'commas')}{_default(field)}",
        show_default=False,
        autocompletion=_completion(line),
        **settings,
    )


def _default(field: FieldInfo) -> str:
    """Return the end of an option's help: that it is required, or its default."""
    if field.is_required():
        return " [required]"
    default = default_text(field)
    return f" [default: {default}]" if default not in {"", "false"} else ""


def _completion(line: Option) -> Complete | None:
    if not line.completes:
        return None

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        # Only a shell that completes needs these imports.
        from kalypso_actions.cli import completion  # noqa: PLC0415

        names: list[str] = getattr(completion, f"complete_{line.completes}")(ctx, incomplete)
        return names

    return complete


def join_names(given: Given) -> None:
    """Take an input from its argument or its option. Raises UsageError for different ones."""
    for key in [key for key in given if key.endswith(SECOND)]:
        name, option = key.removesuffix(SECOND), given.pop(key)
        argument = given.setdefault(name, option)
        if option not in {"", argument}:
            given[name] = argument or option
            if argument:
                raise UsageError(f"two {name}s are named: {argument!r} and {option!r}")
