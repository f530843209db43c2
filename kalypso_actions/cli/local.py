"""The commands that read on this machine: their base, and their context."""

from __future__ import annotations

import dataclasses
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from kalypso_actions.cli.command import Command, DocumentT, Given, InputsT
from kalypso_actions.cli.process import clock_of
from kalypso_actions.cli.streams import log_line, print_json, stderr
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.git import enclosing_clone
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import LocalContext, sandbox_credentials
from kalypso_actions.commands.shared.workflow_options import workflow_options
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.local import RenderInputs, ValidateInputs
from kalypso_actions.inputs.paths import Source
from kalypso_actions.inputs.reading import checked_inputs, collect_inputs, input_from_environment
from kalypso_actions.inputs.values import Inputs, TreeInputs, whole_minutes
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.urls import name_in, owner_of
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.render_document import RenderDocument
from kalypso_actions.report.sarif import sarif
from kalypso_actions.report.terminal import ProgressDisplay
from kalypso_actions.report.validate_document import ValidateDocument
from kalypso_actions.runner import JobContext, Runner, read_job_context

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext

Result = TypeVar("Result", RenderDocument, ValidateDocument)
CheckedInputs = TypeVar("CheckedInputs", bound=BaseModel)
ReportedInputs = TypeVar("ReportedInputs", RenderInputs, ValidateInputs)


class LocalCommand(Command[InputsT, DocumentT]):
    """A command that reads a control plane on this machine, or from GitHub."""

    doing = "rendering"
    """What the display of the progress says."""

    def compute(self, given: Given) -> DocumentT:
        """Check the inputs, and return their document. Raises KalypsoError."""
        control_plane = given.get("control-plane")
        if control_plane:
            given = {**given, "control-plane": github_place(control_plane)}
        self.inputs = checked_inputs(self.model, given)
        with ProgressDisplay(stderr, self.doing) as progress:
            now = getattr(self.inputs, "now", None)
            context = local_context(progress, now=now, control_plane=control_plane)
            self.inputs = with_workflow_options(self.inputs, given, context)
            return self.run_in(context)

    def run_in(self, context: LocalContext) -> DocumentT:
        """Return the document. Raises KalypsoError."""
        document: DocumentT = self.call(self.inputs, context)
        return document


def with_workflow_options(
    inputs: CheckedInputs, given: Given, context: LocalContext
) -> CheckedInputs:
    """Return the inputs with the options of main's workflow files, where none is given.

    Only in a clone of a control plane; a folder or place that is named has no main. Raises
    UsageError for a value that the workflow file must not give.
    """
    model = type(inputs)
    names = workflow_inputs(model) - given.keys()
    named = ("environment_dir", "places", "workload")
    if not names or any(getattr(inputs, name, None) for name in named):
        return inputs
    place = getattr(inputs, "control_plane", None)
    options = workflow_options(
        place or str(enclosing_clone(Path()) or ""),
        names,
        context.programs,
        is_current=not place,
        skips_invalid=isinstance(inputs, ValidateInputs),
    )
    for line in options.lines:
        context.log(line)
    try:
        return checked_inputs(model, {**options.values, **given})
    except UsageError as error:
        message = f"{', '.join(options.paths)} on main: {error.problem.message}"
        raise UsageError(message, advice="correct it, or give the option") from error


def workflow_inputs(model: type[BaseModel]) -> frozenset[str]:
    """Return the inputs of a command that workflow files give to `schedule`, by name."""
    planning = {name: field.alias or name for name, field in TreeInputs.model_fields.items()}
    shared = planning.keys() - Inputs.model_fields.keys() - {"now"}
    return frozenset(planning[name] for name in shared & model.model_fields.keys())


class ReportedCommand(LocalCommand[ReportedInputs, Result]):
    """A command whose findings go to code scanning and to a job of GitHub Actions, too."""

    @abstractmethod
    def summary(self, document: Result) -> str:
        """Return the step summary."""

    def print(self, document: Result) -> None:
        """Print the document as `--output` says, and tell a job."""
        files = files_at_hand(self.inputs.source)
        if self.inputs.output == "text":
            self.show(document)
        else:
            _print_for_programs(document, self.inputs.output, files)
        self._tell_job(document, self.inputs.output, files)

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
            title = f"kalypso {self.place.partition(':')[0]}"
            runner.annotate(_with_places(document, places.on_disk).findings, title)
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
    names = {"notes", "warnings", "problems"} & type(document).model_fields.keys()
    return document.model_copy(
        update={name: tuple(map(place, getattr(document, name))) for name in names}
    )


def files_at_hand(sources: Iterable[Source] = ()) -> FilesAtHand:
    """Return the files on this machine: those of the current clone and of `sources`."""
    programs = Programs(os.environ)
    context = LocalContext(programs, no_progress, folder=Path())

    def folders() -> dict[str, Path]:
        return {**context.clones(), **{source.url: source.path for source in sources}}

    return FilesAtHand(programs, folders)


def local_context(
    progress: ProgressDisplay,
    *,
    now: datetime | None = None,
    control_plane: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> LocalContext:
    """Build the context of a command that reads for a person at a terminal.

    `now` defaults to the clock's time. The command reads a `control_plane` of the form owner/name
    from GitHub, with the token or App in `environment`.
    """
    token = input_from_environment("token", environment)
    connect = None
    if control_plane and github_place(control_plane) != control_plane:
        connect = _connection(control_plane, progress, environment)
    return LocalContext(
        Programs(os.environ),
        progress.of("rendering"),
        log=log_line,
        fetching=progress.of("fetching"),
        folder=Path(),
        now=now or whole_minutes(clock_of(environment)[0]().astimezone()),
        credentials=sandbox_credentials(os.environ.get("GITHUB_SERVER_URL", ""), token),
        connect=connect,
    )


def github_place(control_plane: str | None) -> str | None:
    """Return the URL of a control plane given as owner/name; return any other place unchanged."""
    if not control_plane or not owner_of(control_plane) or Path(control_plane).exists():
        return control_plane
    server = os.environ.get("GITHUB_SERVER_URL") or "https://github.com"
    return f"{server.rstrip('/')}/{control_plane}"


def repository_of_job() -> str | None:
    """Return the repository of the job as owner/name; None in a clone or outside of jobs."""
    job = read_job_context(os.environ)
    return None if enclosing_clone(Path()) else job.repository or None


def _connection(
    control_plane: str, progress: ProgressDisplay, environment: Mapping[str, str]
) -> Callable[[], AbstractContextManager[CommandContext]] | None:
    """Return a function that connects to GitHub; None without credentials.

    A public control plane needs no credentials.
    """
    given = collect_inputs(ChainInputs, {"control-plane": control_plane}, environment)
    if not {"token", "app-private-key"} & given.keys():
        return None
    if not read_job_context(environment).in_actions:
        # A person may read everything that they can clone, but a job has other people's secrets.
        given["allowed-repositories"] = given.get("allowed-repositories") or "https://*/**"
    # Few runs connect, but every run would wait for these imports.
    from kalypso_actions.cli.runtime import github_inputs  # noqa: PLC0415
    from kalypso_actions.commands.shared.context import open_context  # noqa: PLC0415

    inputs, runtime = github_inputs(ChainInputs, given, progress.update, environment)
    return lambda: open_context(inputs, runtime)
