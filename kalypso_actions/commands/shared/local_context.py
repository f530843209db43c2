"""The readers of a command on a person's machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kalypso_actions.clients.git import Authorize, RemoteRepositories, basic
from kalypso_actions.clients.git.connection import INTERACTIVE_DELAYS
from kalypso_actions.clients.git.credentials import no_credential
from kalypso_actions.clients.git.urls import depth_below
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.current_clone import (
    CurrentClone,
    control_plane_clone,
    find_clone,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.repositories import GivenSource, Repositories
from kalypso_actions.commands.shared.reading.revision_reader import kustomize_builder
from kalypso_actions.inputs.paths import Source
from kalypso_actions.model.progress import Progress, no_progress
from kalypso_actions.model.urls import is_loopback, without_secret

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import CommandContext

_PROTOCOLS = frozenset({"https", "ssh", "file", "http"})
"""A person at a terminal may read everything that they can clone; http is for this machine."""


def _silent(_: str) -> None:
    """Log nothing."""


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The programs of the machine, the reporters of rendering and fetching, and the log for people.

    `folder` is the current folder; None to look for no clone there. `connect` connects to GitHub:
    then its credentials replace those of git on this machine.
    """

    programs: Programs
    progress: Progress
    log: Callable[[str], None] = _silent
    fetching: Progress = no_progress
    folder: Path | None = None
    credentials: Authorize = no_credential
    now: datetime | None = None
    connect: Callable[[], AbstractContextManager[CommandContext]] | None = None

    @contextmanager
    def reader(self, sources: Iterable[Source]) -> Iterator[Reader]:
        """Return a reader of `sources` and other repositories; delete fetched copies at the end."""
        with self._repositories(given_sources(sources)) as repositories:
            yield Reader(
                repositories,
                kustomize_builder(self.programs),
                fetched=self.fetching,
                now=self.now,
            )

    @contextmanager
    def _repositories(self, given: Iterable[GivenSource]) -> Iterator[Repositories]:
        if self.connect:
            with self.connect() as opened:
                check = opened.repositories.check
                yield Repositories(given, opened.remotes, self.programs, check=check)
            return
        with self.remotes() as remotes:
            yield Repositories(given, remotes, self.programs, clones=self.clones)

    def remotes(self) -> RemoteRepositories:
        """Return a reader of remote repositories with the credentials of git on this machine."""
        return RemoteRepositories(
            self.programs,
            protocols=_PROTOCOLS,
            credentials=self.credentials,
            trust_user_config=True,
            delays=INTERACTIVE_DELAYS,
        )

    def clones(self) -> Mapping[str, Path]:
        """Return the clone that contains the current folder by the URLs of its remotes."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        return dict.fromkeys(clone[1].remotes(), clone[0]) if clone else {}

    def clone(self, reader: Reader) -> CurrentClone | None:
        """Return the clone of a control plane that contains the current folder, if any."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        return control_plane_clone(*clone, reader) if clone else None

    def why_no_clone(self) -> str:
        """Say why `clone` returns None."""
        clone = find_clone(self.folder, self.programs) if self.folder else None
        if clone is None:
            return "the current folder is in no clone of a repository"
        origin = next(map(without_secret, clone[1].remotes()), str(clone[0].resolve()))
        return (
            f"the current folder is in a clone of {origin}, whose main has no Environment objects"
        )


def given_sources(sources: Iterable[Source]) -> list[GivenSource]:
    """Return the values of `--source` for readers."""
    return [GivenSource(source.url, source.branch, source.path) for source in sources]


def sandbox_credentials(server_url: str, token: str) -> Authorize:
    """Return the credentials of a sandbox on this machine: its token, only for its URLs."""
    if not (token and is_loopback(server_url)):
        return no_credential
    header = basic("x-access-token", token)
    return lambda url: header if depth_below(url, server_url) >= 0 else ""
