"""A worker process for tests: this process, which has threads and must not fork.

The callers of `work_here` test whole commands, one of them through the command line. Four commands
plan by `plan_registrations`, which creates the `WorkerProcesses`. A parameter for a fake would pass
through all of them and their contexts, only for these tests; so `work_here` patches the class.
Tests of the plan itself hand it `WorkerProcesses(0)`, in a process of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.model.object_ids import FileContent, blob_id
from kalypso_actions.model.processes import Keep, Result


def work_here(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Let large and small fleets be rendered as by workers; return the contents that they write."""
    written: list[bytes] = []

    def compute(
        self: WorkerProcesses, owners: Sequence[int], compute_one: Callable[[int, Keep], Result]
    ) -> Iterator[Result]:
        kept: list[bytes] = []

        def keep(content: bytes) -> FileContent:
            if self._write_blobs is None:
                return content
            kept.append(content)
            return blob_id(content)

        results = [compute_one(index, keep) for index in range(len(owners))]
        if self._write_blobs is not None:
            self._write_blobs(kept)
        written.extend(kept)
        return iter(results)

    monkeypatch.setattr(WorkerProcesses, "usable", lambda *_: 2)
    monkeypatch.setattr(WorkerProcesses, "compute", compute)
    return written
