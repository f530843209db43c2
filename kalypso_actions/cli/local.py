"""Shared by the commands that read repositories for a person."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions import inputs
from kalypso_actions.cli.completion import complete_environment
from kalypso_actions.cli.output import configure_logging, stderr
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.runtime.local_context import LocalContext, sandbox_credentials
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs import Source
from kalypso_actions.inputs.reading import input_from_environment
from kalypso_actions.model.progress import no_progress
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.progress import ProgressDisplay

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
        help="URL or path of the control plane, a git repository. Default: the clone that "
        "contains the current folder.",
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
    inputs.NamespaceScheme,
    typer.Option(help="legacy names namespaces <environment>-<workspace>-<target>."),
]

ConfigFileOption = Annotated[
    inputs.ConfigFile, typer.Option(help="legacy writes config.yaml, not platform-config.yaml.")
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
    inputs.MissingValues,
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

RegistrationTextOption = Annotated[
    inputs.RegistrationText,
    typer.Option(
        help="any only warns of texts of registered repositories that Templates should not print, "
        "such as line breaks and template text."
    ),
]


def files_at_hand(sources: Iterable[Source] = ()) -> FilesAtHand:
    """Return the files of this machine: of the current clone, and of paths that replace URLs."""
    programs = Programs(os.environ)
    context = LocalContext(programs, no_progress, folder=Path())

    def folders() -> dict[str, Path]:
        return {**context.clones(), **{source.url: source.path for source in sources}}

    return FilesAtHand(programs, folders)


def local_context(progress: ProgressDisplay, *, calls: bool) -> LocalContext:
    """Build the context of a command that reads for a person at a terminal."""
    configure_logging(calls=calls)
    token = input_from_environment("token", os.environ)
    return LocalContext(
        Programs(os.environ),
        progress.of("rendering"),
        log=_log,
        fetching=progress.of("fetching"),
        folder=Path(),
        now=datetime.now(UTC).replace(second=0, microsecond=0),
        credentials=sandbox_credentials(os.environ.get("GITHUB_SERVER_URL", ""), token),
    )


def _log(line: str) -> None:
    stderr().print(escape_log_line(line), soft_wrap=True, markup=False)


def one_environment(argument: str, option: str) -> str:
    """Return the environment that the argument or the option names. Raises UsageError for two."""
    if argument and option not in {"", argument}:
        raise UsageError(f"two environments are named: {argument!r} and {option!r}")
    return argument or option
