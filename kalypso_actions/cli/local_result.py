"""Print the result of render or validate: for the terminal, for programs, and for a job."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import typer

from kalypso_actions.cli.streams import print_json
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.urls import name_in
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.render_document import RenderDocument
from kalypso_actions.report.sarif import sarif
from kalypso_actions.report.terminal import Files
from kalypso_actions.report.validate_document import ValidateDocument
from kalypso_actions.runner import JobContext, Runner, read_job_context

Result = TypeVar("Result", RenderDocument, ValidateDocument)

FINDINGS = ("notes", "warnings", "problems")


@dataclasses.dataclass(frozen=True, slots=True)
class Forms(Generic[Result]):
    """The texts for people: `title` of annotations, the text, and the step summary."""

    title: str
    print_text: Callable[[Result, Files], None]
    summary: Callable[[Result], str]


def print_result(document: Result, output: str, files: FilesAtHand, forms: Forms[Result]) -> None:
    """Print the document in the form of `--output`, and tell a job of GitHub Actions."""
    match output:
        case "json":
            print_json(document)
        case "sarif":
            sys.stdout.write(_sarif(document, files))
        case _:
            forms.print_text(document, files)
    _tell_job(document, output, files, forms)


@contextmanager
def errors_as_result(
    output: str, failed: Callable[[Sequence[Problem]], Result], forms: Forms[Result]
) -> Iterator[None]:
    """If programs read the output, print an error that ends the run as the command's document."""
    try:
        yield
    except KalypsoError as error:
        document = failed(error.problems)
        files = FilesAtHand(Programs(os.environ))
        if output == "text":
            if read_job_context(os.environ).in_actions:
                Runner(os.environ, sys.stdout).summary(forms.summary(document))
            raise
        print_result(document, output, files, forms)
        raise typer.Exit(error.exit_code) from error


def _tell_job(document: Result, output: str, files: FilesAtHand, forms: Forms[Result]) -> None:
    job = read_job_context(os.environ)
    if job.in_actions:
        places = _JobPlaces(job, files)
        runner = Runner(os.environ, sys.stdout if output == "text" else sys.stderr)
        runner.annotate(_with_places(document, places.on_disk).findings, forms.title)
        runner.summary(forms.summary(_with_places(document, places.linked)))


def _sarif(document: RenderDocument | ValidateDocument, files: FilesAtHand) -> str:
    def path_of(where: Location) -> str:
        path = files.path_here(where)
        if path:
            return path
        repository = name_in(where.repository) or Path(where.repository).resolve().name
        name = f"{repository}@{where.branch}" if where.branch else repository
        return f"{name}/{where.path}" if where.path else name

    return sarif(document.all_findings, path_of) + "\n"


@dataclasses.dataclass(frozen=True, slots=True)
class _JobPlaces:
    """Translates places in the job's clone to places in its repository on GitHub."""

    job: JobContext
    files: FilesAtHand

    def on_disk(self, entry: ProblemEntry) -> ProblemEntry:
        """Locate a finding in the job's commit, if its file is checked out."""
        where = entry.where
        path = self.files.path_in_clone(where.location(), self.job.repository) if where else ""
        return self._at(entry, path, self.job.commit) if path else entry

    def linked(self, entry: ProblemEntry) -> ProblemEntry:
        """Locate a finding in the job's commit, else in the commit where it was found."""
        located = self.on_disk(entry)
        where = entry.where
        if located is not entry or where is None:
            return located
        if self.files.is_in_clone(where.location(), self.job.repository):
            return self._at(entry, where.path, where.commit)
        return entry

    def _at(self, entry: ProblemEntry, path: str, commit: str) -> ProblemEntry:
        where = entry.where
        assert where is not None  # noqa: S101 - callers have checked it
        url = f"{self.job.server_url}/{self.job.repository}"
        update = {"repository": url, "path": path, "commit": commit}
        return entry.model_copy(update={"where": where.model_copy(update=update)})


def _with_places(document: Result, place: Callable[[ProblemEntry], ProblemEntry]) -> Result:
    names = [name for name in FINDINGS if name in type(document).model_fields]
    return document.model_copy(
        update={name: tuple(map(place, getattr(document, name))) for name in names}
    )
