"""Options and contexts that commands for a person share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalypso_actions.cli.completion import complete_environment
from kalypso_actions.cli.streams import configure_logging, log_line
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.git import enclosing_clone
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import LocalContext, sandbox_credentials
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs import values
from kalypso_actions.inputs.chain import ChainInputs
from kalypso_actions.inputs.paths import Source
from kalypso_actions.inputs.reading import collect_inputs, input_from_environment
from kalypso_actions.inputs.values import whole_minutes
from kalypso_actions.model.delivery import RegistrationText
from kalypso_actions.model.progress import no_progress
from kalypso_actions.model.urls import owner_of
from kalypso_actions.report.terminal import ProgressDisplay
from kalypso_actions.runner import read_job_context

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext

EnvironmentArgument = Annotated[
    str,
    typer.Argument(
        help="The environment, such as dev. Default: that of the clone's branch.",
        autocompletion=complete_environment,
    ),
]

EnvironmentOption = Annotated[
    str,
    typer.Option(
        "--environment",
        metavar="NAME",
        help="The same as ENVIRONMENT.",
        autocompletion=complete_environment,
    ),
]

ControlPlaneOption = Annotated[
    str | None,
    typer.Option(
        metavar="REPO",
        help="The control plane: a path, a URL, or owner/name on GitHub, which is read with the "
        "token of KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN. Default: the clone that contains the "
        "current folder.",
    ),
]

EnvironmentDirOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Instead: the environment branch as a folder."),
]

BaseCommitOption = Annotated[
    str | None,
    typer.Option(
        metavar="REV",
        help="A branch, tag or commit of main, instead of the commit in base-repo.yaml.",
    ),
]

NamespaceSchemeOption = Annotated[
    values.NamespaceScheme,
    typer.Option(help="legacy names namespaces <environment>-<workspace>-<target>."),
]

ConfigFileOption = Annotated[
    values.ConfigFile, typer.Option(help="legacy writes config.yaml, not platform-config.yaml.")
]

SourceOption = Annotated[
    list[str],
    typer.Option(
        "--source",
        metavar="URL[@BRANCH]=PATH",
        help="Read PATH, a git repository or a plain folder, instead of URL, without the network. "
        "Repeatable.",
    ),
]

MissingValuesOption = Annotated[
    values.MissingValues,
    typer.Option(help="For <no value> in a rendered file: warn, or error."),
]

SchedulerOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="labels, placement, or the entry point of a plugin. Default: as the Environment is "
        "annotated, else labels.",
    ),
]

NowOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="The time at which Placements are decided, such as 2026-03-01T12:00:00Z, in whole "
        "minutes. Default: now.",
    ),
]

RegistrationTextOption = Annotated[
    RegistrationText,
    typer.Option(
        help="any only warns of texts of registered repositories that Templates should not print, "
        "such as line breaks and template text."
    ),
]


MaxTargetsOption = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="NUMBER",
        help="The most deployment targets that one registration may deliver to an environment.",
    ),
]


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
    calls: bool,
    now: datetime | None = None,
    control_plane: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> LocalContext:
    """Build the context of a command that reads for a person at a terminal.

    `now` defaults to the clock's time. The command reads a `control_plane` of the form owner/name
    from GitHub, with the token or App in `environment`.
    """
    configure_logging(calls=calls)
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


def one_environment(argument: str, option: str) -> str:
    """Return the environment that the argument or the option names.

    Raises UsageError if they name different ones.
    """
    if argument and option not in {"", argument}:
        raise UsageError(f"two environments are named: {argument!r} and {option!r}")
    return argument or option
