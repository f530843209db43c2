"""What a command of another package is made of.

The package registers a function in the group `kalypso_actions.commands`. Its parameters are those
of a Typer command, its docstring is the help (the last paragraph may begin with `Example:`), and
the annotation of its result names the class of the document:

    def cost(fleet: Annotated[Path, typer.Option()]) -> CostDocument:
        "Show what the cluster types of a folder cost."

The command line adds `--output` and `--json`, prints the document, and reports a KalypsoError. The
exit code is 1 if the document has `failed` or for a KalypsoError, and 2 for a UsageError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.errors import Diagnostics, Problem, UsageError
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.model.documents import Document
from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_line
from kalypso_actions.sources.yaml_documents import parse_yaml
from kalypso_go.goyaml.scalars import resolve

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "CommandDocument",
    "CommandEntry",
    "ProblemEntry",
    "escape_line",
    "parse_kind",
    "read_yaml",
]

YAML: Final = (".yaml", ".yml", ".json")

Kind = TypeVar("Kind")


class CommandEntry(OutputDocument):
    """A part of a CommandDocument; JSON has its fields in camel case."""


class CommandDocument(OutputDocument):
    """The result of a command; JSON has its fields in camel case.

    The first field of a class is `schema_name`, with the alias `schema`, and the last field
    `problems: tuple[ProblemEntry, ...] = ()`; it may have `warnings` of the same type. All fields
    have defaults: after an error, the document has nothing but problems.
    """

    if TYPE_CHECKING:
        problems: tuple[ProblemEntry, ...]

    def show(self, console: Console) -> None:
        """Print the document for people; the command line prints the problems below it.

        Texts of documents need `escape_line`, and rich's Text instead of markup.
        """
        raise NotImplementedError


def read_yaml(
    place: Path, scalar: Callable[[str], object] = resolve
) -> tuple[list[Document], list[Problem]]:
    """Return the documents of a YAML file, or of all YAML and JSON files below a folder.

    The problems are those of unreadable texts. `scalar` gives the value of a plain scalar. Raises
    UsageError for a file, and KalypsoError for files of a folder that cannot be read.
    """
    if place.is_dir():
        repository, files = place, FolderFiles(place)
        contents = files.read(path for path in files.entries() if path.endswith(YAML))
    else:
        repository = place.parent
        try:
            contents = {place.name: place.read_bytes()}
        except OSError as error:
            raise UsageError(f"{place} cannot be read: {error.strerror}") from error
    parsed = [parse_yaml(str(repository), *file, scalar=scalar) for file in contents.items()]
    documents = [document for file in parsed for document in file.documents]
    return documents, [problem for file in parsed for problem in file.problems]


def parse_kind(documents: Iterable[Document], kind: type[Kind]) -> tuple[list[Kind], list[Problem]]:
    """Return the resources of a kind of `model.kinds`, such as ClusterType, and their problems."""
    findings = Diagnostics()
    wanted = (document for document in documents if document.kind == kind.__name__)
    parsed = [parse_document(document, findings) for document in wanted]
    return [item for item in parsed if isinstance(item, kind)], findings.problems
