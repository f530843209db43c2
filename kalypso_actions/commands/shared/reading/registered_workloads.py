"""Read the registered repositories of given branches, as far as possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kalypso_actions.clients.git.errors import is_unreachable
from kalypso_actions.commands.shared.reading.document_reader import Reader, in_parallel
from kalypso_actions.errors import KalypsoError
from kalypso_actions.fleet import Diagnostics, parse_document
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import RepositoryPath, WorkloadRegistration
from kalypso_actions.planning.fleet_checks import Registered, RegisteredReading
from kalypso_actions.sources.limits import REGISTRATION


def read_registered(
    readings: Iterable[Reading], reader: Reader, *, allow_network: bool
) -> Registered:
    """Return the documents of each registered folder, by its place.

    Without `allow_network`, read only repositories on this machine. Repositories of an unreachable
    server count as not read, because the machine may be offline.
    """
    sources = list(dict.fromkeys(_sources(readings)))

    def read(source: RepositoryPath) -> RegisteredReading:
        if not (allow_network or reader.repositories.is_at_hand(source.repo, source.branch)):
            return RegisteredReading(None)
        try:
            return RegisteredReading(reader.documents(source, limits=REGISTRATION))
        except KalypsoError as error:
            if is_unreachable(error):
                return RegisteredReading(None)
            return RegisteredReading(None, f"{source.repo}: {error.problem.message}")

    return dict(zip(sources, in_parallel(read, sources), strict=True))


def _sources(readings: Iterable[Reading]) -> Iterator[RepositoryPath]:
    for reading in readings:
        for document in reading.documents:
            if document.kind == "WorkloadRegistration":
                registration = parse_document(document, Diagnostics())
                if isinstance(registration, WorkloadRegistration):
                    yield registration.source
