"""The commands that read on this machine: their base, and their context."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kalypso_actions.cli.command import Command, DocumentT, Given, InputsT
from kalypso_actions.cli.streams import log_line, stderr
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.git import enclosing_clone
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import LocalContext, sandbox_credentials
from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.paths import Source
from kalypso_actions.inputs.reading import checked_inputs, collect_inputs, input_from_environment
from kalypso_actions.inputs.values import whole_minutes
from kalypso_actions.model.progress import no_progress
from kalypso_actions.model.urls import owner_of
from kalypso_actions.report.terminal import ProgressDisplay
from kalypso_actions.runner import read_job_context

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext


class LocalCommand(Command[InputsT, DocumentT]):
    """A command that reads a control plane on this machine, or from GitHub."""

    doing = "rendering"
    """What the display of the progress says."""

    def compute(self, given: Given) -> tuple[InputsT, DocumentT]:
        """Return the checked inputs, and their document. Raises KalypsoError."""
        control_plane = given.get("control-plane")
        if control_plane:
            given = {**given, "control-plane": github_place(control_plane)}
        inputs = checked_inputs(self.model, given)
        with ProgressDisplay(stderr, self.doing) as progress:
            now = getattr(inputs, "now", None)
            context = local_context(progress, now=now, control_plane=control_plane)
            return inputs, self.compute_in(inputs, context)

    def compute_in(self, inputs: InputsT, context: LocalContext) -> DocumentT:
        """Return the document; each command defines it. Raises KalypsoError."""
        raise NotImplementedError


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
        now=now or whole_minutes(datetime.now().astimezone()),
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
    from kalypso_actions.cli.github_inputs import github_inputs  # noqa: PLC0415
    from kalypso_actions.commands.shared.context import open_context  # noqa: PLC0415

    inputs, runtime = github_inputs(ChainInputs, given, progress.update, environment)
    return lambda: open_context(inputs, runtime)
