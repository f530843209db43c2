"""Read the documents of repositories, several at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.reading.revision_reader import KustomizeBuild, read_documents
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.progress import Progress, no_progress
from kalypso_actions.sources.limits import Limits

Item = TypeVar("Item")
Result = TypeVar("Result")

PARALLEL_READS = 32
"""The number of parallel fetches.

GitHub accepts 100 requests at once from all programs of an account, so three jobs may fetch at
once. More fetches save no time on two cores: see docs/performance.md.
"""

CHECK_SECONDS = 0.5
"""Seconds between checks for an interruption."""


@dataclass(frozen=True)
class Reader:
    """Opens repositories and reads their documents; `fetched` reports the progress.

    `now` is the start of the run in whole minutes. With `kinds`, it parses only the files in which
    one of these kinds may occur, and overlooks the problems of other files.
    """

    repositories: Repositories
    kustomize: KustomizeBuild | None
    fetched: Progress = field(default=no_progress, kw_only=True)
    now: datetime | None = field(default=None, kw_only=True)
    kinds: frozenset[str] = field(default=frozenset(), kw_only=True)

    def documents(
        self, source: RepositoryPath, commit: str | None = None, limits: Limits | None = None
    ) -> Reading:
        """Read the documents of a folder at `commit`, or else at the branch's head.

        `limits` apply to all its files together. Raises KalypsoError.
        """
        files = self.repositories.open(source.repo, branch=source.branch, commit=commit)
        return self.documents_of(files, branch=source.branch, path=source.path, limits=limits)

    def documents_of(
        self, files: RevisionFiles, *, branch: str, path: str = ".", limits: Limits | None = None
    ) -> Reading:
        """Read the documents of a folder of open files."""
        return read_documents(
            files,
            repository=files.repository,
            branch=branch,
            path=path,
            kustomize=self.kustomize,
            limits=limits,
            kinds=self.kinds,
        )


class SharedReader(Reader):
    """A reader for several environments, which reads each folder of a revision once.

    It can be used by several threads.
    """

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.repositories, reader.kustomize, now=reader.now, kinds=reader.kinds)
        self._lock = threading.Lock()
        self._readings: dict[tuple[RepositoryPath, str | None, Limits | None], Future[Reading]] = {}

    def documents(
        self, source: RepositoryPath, commit: str | None = None, limits: Limits | None = None
    ) -> Reading:
        """Read the documents of a folder, or return the result of an earlier call."""
        key = (source, commit, limits)
        with self._lock:
            is_first = key not in self._readings
            reading = self._readings.setdefault(key, Future())
        if is_first:
            try:
                reading.set_result(super().documents(source, commit, limits))
            except BaseException as error:
                reading.set_exception(error)
                raise
        return reading.result()


def in_parallel(
    read: Callable[[Item], Result],
    items: Iterable[Item],
    progress: Progress = no_progress,
    workers: int = PARALLEL_READS,
) -> list[Result]:
    """Call `read` for every item in `workers` threads, and return the results in order.

    Raises one KalypsoError for all failures.
    """

    def attempt(item: Item) -> Result | KalypsoError:
        try:
            return read(item)
        except KalypsoError as error:
            return error

    pool = ThreadPoolExecutor(workers)
    try:
        futures = [pool.submit(attempt, item) for item in items]
        outcomes = []
        for done, future in enumerate(futures):
            progress(done, len(futures))
            outcomes.append(_outcome(future))
        progress(len(futures), len(futures))
    finally:
        pool.shutdown(cancel_futures=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, KalypsoError)]
    if failures:
        problems = [problem for failure in failures for problem in failure.problems]
        raise KalypsoError.of(problems) from failures[0]
    return [outcome for outcome in outcomes if not isinstance(outcome, KalypsoError)]


def _outcome(future: Future[Result]) -> Result:
    """Wait for the result in short intervals.

    Only the main thread handles signals; a signal to another thread does not wake it.
    """
    while not future.done():
        wait([future], timeout=CHECK_SECONDS)
    return future.result()
