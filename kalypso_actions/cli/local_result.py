"""Print the result of render or validate: for the terminal, for programs, and for a job."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kalypso_actions.cli.command import Given
from kalypso_actions.cli.local import LocalCommand, files_at_hand
from kalypso_actions.cli.streams import print_json
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.inputs.local import RenderInputs, ValidateInputs
from kalypso_actions.model.urls import name_in
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.render_document import RenderDocument
from kalypso_actions.report.sarif import sarif
from kalypso_actions.report.terminal import Files
from kalypso_actions.report.validate_document import ValidateDocument
from kalypso_actions.runner import JobContext, Runner, read_job_context

Result = TypeVar("Result", RenderDocument, ValidateDocument)

ReportedInputs = TypeVar("ReportedInputs", RenderInputs, ValidateInputs)

FINDINGS = ("notes", "warnings", "problems")


class ReportedCommand(LocalCommand[ReportedInputs, Result]):
    """A command whose findings go to code scanning and to a job of GitHub Actions, too."""

    title: str
    """The title of annotations."""

    def summary(self, document: Result) -> str:
        """Return the step summary; each command defines it."""
        raise NotImplementedError

    def show_findings(self, inputs: ReportedInputs, document: Result, files: Files) -> None:
        """Print the document for people; each command defines it."""
        raise NotImplementedError

    def print(self, inputs: ReportedInputs, document: Result) -> None:
        """Print the document as `--output` says, and tell a job."""
        files = files_at_hand(inputs.source)
        if inputs.output == "text":
            self.show_findings(inputs, document, files)
        else:
            _print_for_programs(document, inputs.output, files)
        self._tell_job(document, inputs.output, files)

    def print_error(self, given: Given, error: KalypsoError) -> bool:
        """Print an error for the programs that read the output, and tell a job."""
        document, output = self.failed(given, error), given["output"]
        if output != "text":
            files = FilesAtHand(Programs(os.environ))
            _print_for_programs(document, output, files)
            self._tell_job(document, output, files)
            return True
        if read_job_context(os.environ).in_actions:
            Runner(os.environ, sys.stdout).summary(self.summary(document))
        return False

    def _tell_job(self, document: Result, output: str, files: FilesAtHand) -> None:
        job = read_job_context(os.environ)
        if job.in_actions:
            places = _JobPlaces(job, files)
            runner = Runner(os.environ, sys.stdout if output == "text" else sys.stderr)
            runner.annotate(_with_places(document, places.on_disk).findings, self.title)
            runner.summary(self.summary(_with_places(document, places.linked)))


def _print_for_programs(document: Result, output: str, files: FilesAtHand) -> None:
    if output == "json":
        print_json(document)
    else:
        sys.stdout.write(_sarif(document, files))


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
