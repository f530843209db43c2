"""The readers of a command on a person's machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.process import Programs
from kalypso_actions.inputs import Source
from kalypso_actions.model.progress import Progress
from kalypso_actions.snapshot.document_reader import Reader
from kalypso_actions.snapshot.repositories import GivenSource, Repositories
from kalypso_actions.snapshot.revision_reader import kustomize_builder

PROTOCOLS = frozenset({"https", "ssh", "file"})
"""A person at a terminal may read everything that they can clone."""


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The programs of the machine, and the reporter of progress."""

    programs: Programs
    progress: Progress

    @contextmanager
    def reader(self, sources: Iterable[Source]) -> Iterator[Reader]:
        """Return a reader of `sources` and other repositories; delete fetched copies at the end."""
        given = [GivenSource(source.url, source.branch, source.path) for source in sources]
        with RemoteRepositories(
            self.programs, protocols=PROTOCOLS, trust_user_config=True
        ) as remotes:
            yield Reader(
                Repositories(given, remotes, self.programs), kustomize_builder(self.programs)
            )
