"""How the documents of a repository are come by, and several of them at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.snapshot.reading import KustomizeBuild, read_documents
from kalypso_actions.snapshot.repositories import Repositories

Item = TypeVar("Item")
Result = TypeVar("Result")

PARALLEL_READS = 32
"""Fetches wait for the network most of their time. GitHub takes 100 requests at once."""

GLANCE = 0.5
"""Seconds between two looks at whether the run is interrupted."""


@dataclass(frozen=True)
class Reader:
    """Opens repositories and reads their documents."""

    repositories: Repositories
    kustomize: KustomizeBuild | None

    def documents(self, source: RepositoryPath, commit: str | None = None) -> Reading:
        """The documents of a folder at `commit`, else at the branch's head.

        Raises KalypsoError when it cannot be read.
        """
        files = self.repositories.open(source.repo, branch=source.branch, commit=commit)
        return self.documents_of(files, branch=source.branch, path=source.path)

    def documents_of(self, files: RevisionFiles, *, branch: str, path: str = ".") -> Reading:
        """The documents of a folder among files that are open already."""
        return read_documents(
            files,
            repository=files.repository,
            branch=branch,
            path=path,
            kustomize=self.kustomize,
        )


class SharedReader(Reader):
    """A reader for several environments: a folder of a revision is read once, or fails once.

    Safe to use from several threads.
    """

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.repositories, reader.kustomize)
        self._lock = threading.Lock()
        self._readings: dict[tuple[RepositoryPath, str | None], Future[Reading]] = {}

    def documents(self, source: RepositoryPath, commit: str | None = None) -> Reading:
        """As of a reader that shares nothing."""
        with self._lock:
            is_first = (source, commit) not in self._readings
            reading = self._readings.setdefault((source, commit), Future())
        if is_first:
            try:
                reading.set_result(super().documents(source, commit))
            except BaseException as error:
                reading.set_exception(error)
                raise
        return reading.result()


def in_parallel(read: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`read` of every item, in the items' order. Raises one KalypsoError for all that failed."""

    def attempt(item: Item) -> Result | KalypsoError:
        try:
            return read(item)
        except KalypsoError as error:
            return error

    pool = ThreadPoolExecutor(PARALLEL_READS)
    try:
        futures = [pool.submit(attempt, item) for item in items]
        outcomes = [_outcome(future) for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, KalypsoError)]
    if failures:
        problems = [problem for failure in failures for problem in failure.problems]
        raise KalypsoError.of(problems) from failures[0]
    return [outcome for outcome in outcomes if not isinstance(outcome, KalypsoError)]


def _outcome(future: Future[Result]) -> Result:
    """What comes of it, waited for in short pieces.

    Python acts on a signal in the first thread alone, and one that the system has given to another
    thread does not wake it.
    """
    while not future.done():
        wait([future], timeout=GLANCE)
    return future.result()
