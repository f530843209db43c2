"""Commands by entry points: `kalypso placement`, and those of other packages.

`kalypso --help` lists them all, so a command's module is imported only when it is called.
"""

from __future__ import annotations

import ast
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from typing import Any, Final

import typer

from kalypso_actions.cli.command_list import help_end, in_typer_form
from kalypso_actions.cli.process import import_command
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.entry_points import installed_points, load_point, own_points
from kalypso_actions.runner import escape_workflow_commands

GROUP: Final = "kalypso_actions.commands"
"""The group of the entry points of commands."""


def plugin_points() -> dict[str, EntryPoint]:
    """Return the entry points of commands, sorted by name."""
    return dict(sorted(installed_points(GROUP).items()))


def plugin_summary(point: EntryPoint) -> str:
    """Return the first paragraph of a function's docstring, from the text of its module."""
    try:
        spec = find_spec(point.module)
        source = spec.loader.get_source(point.module)  # type: ignore[union-attr]
        nodes = ast.parse(source).body
    except Exception:  # noqa: BLE001 - a call of the command reports the fault of its package
        return ""
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    function = next((node for node in functions if node.name == point.attr), None)
    return ((function and ast.get_docstring(function)) or "").partition("\n\n")[0]


def load_plugin(name: str, point: EntryPoint) -> Any:
    """Import a command, and return it in Typer's form. Raises KalypsoError if that fails."""
    import_command("kalypso_actions.commands.interface")
    command, text = _printing(name, point), inspect.cleandoc(load_point(point).__doc__ or "")
    command.__doc__, example, end = text.partition("\n\nExample")
    end = f"{example}{end}".strip()
    end, codes, meaning = end.partition("Exit codes:")
    end = "\b\n" + end.strip() + "\n\n" if end.strip() else ""
    end += f"{codes}{meaning}" or help_end()
    return in_typer_form(name, command, end)


def _printing(name: str, point: EntryPoint) -> Callable[..., None]:
    """Return the function of a command with the option `--output`; it prints the document."""
    from kalypso_actions.cli.command import output_parameters, set_parameters  # noqa: PLC0415
    from kalypso_actions.cli.local import files_at_hand  # noqa: PLC0415
    from kalypso_actions.cli.streams import print_json, stderr, stdout  # noqa: PLC0415
    from kalypso_actions.commands.interface import CommandDocument, ProblemEntry  # noqa: PLC0415
    from kalypso_actions.inputs.values import OutputInputs  # noqa: PLC0415
    from kalypso_actions.report.terminal import print_findings  # noqa: PLC0415

    with _faults_of(name):
        function = load_point(point)
        signature = inspect.signature(function, eval_str=True)
        result = signature.return_annotation
        if not (isinstance(result, type) and issubclass(result, CommandDocument)):
            raise TypeError("the result is not annotated as a CommandDocument")

    def command(*, output: str | None, as_json: bool, **options: Any) -> None:
        in_json = as_json or output == "json"
        try:
            with _faults_of(name):
                document = function(**options)
                if not isinstance(document, result):
                    raise TypeError(f"the result is a {type(document).__name__}")
                if not in_json:
                    document.show(stdout())
        except KalypsoError as error:
            if not in_json:
                raise
            print_json(result(problems=ProblemEntry.all_of(error.problems)))
            raise typer.Exit(error.exit_code) from error
        if in_json:
            print_json(document)
        else:
            print_findings(stderr(), document.findings, files_at_hand())
        raise typer.Exit(1 if document.failed else 0)

    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [each.replace(kind=keyword) for each in signature.parameters.values()]
    set_parameters(command, [*own, *output_parameters(OutputInputs.model_fields["output"])])
    return command


@contextmanager
def _faults_of(name: str) -> Iterator[None]:
    """Report the exception of another package's command as the fault of that package.

    One of our own commands is a bug like any other.
    """
    try:
        yield
    except (KalypsoError, typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if name in own_points(GROUP):
            raise
        sys.stderr.write(escape_workflow_commands("".join(traceback.format_exception(error))))
        message = f"the command {name!r} failed: {type(error).__name__}: {error}"
        raise KalypsoError(message, advice="this is a fault of its package") from error
