"""The same assignments, delivered by one registration or by many: all are rendered, at equal cost.

python -m bench.registrations --json registrations.json

The platform team decides on how many cluster types a target runs, so a registration may have any
number of assignments. Only their work counts, not how they are divided among registrations.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import multiprocessing.connection
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from bench.fleet import Size, make_fleet_of
from bench.snapshots import snapshot_of
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.model.processes import no_progress
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.scheduling import LabelScheduler

ALIKE: Final = (1, 20, 300)
"""Numbers of registrations among which the same 100,000 assignments are divided."""

LARGE: Final = ((1, 20_000), (40, 250))
"""Targets and cluster types of a single registration."""

DIFFERENCE: Final = 0.2
"""The allowed difference between equal assignments of different registrations."""

_PROCESSES: Final = multiprocessing.get_context("forkserver")


class Measured(NamedTuple):
    """The cost of reading, planning and rendering a fleet; `megabytes` is that of this process."""

    registrations: int
    targets: int
    cluster_types: int
    rendered: int
    expected: int
    processor: float
    seconds: float
    megabytes: float


def measure(assignments: int = 100_000, file: Path | None = None) -> list[str]:
    """Print the table, write it as JSON, and return the targets that are missed."""
    targets = assignments // 20
    alike = [_measured(Size("repeating", 1, 20, targets, number)) for number in ALIKE]
    large = [
        _measured(Size("repeating", 1, types, count, 1))
        for count, types in LARGE
        if count * types <= assignments
    ]
    print(
        f"{'registrations':>13} {'targets':>8} {'types':>7} {'rendered':>9} {'processor':>10} ",
        end="",
    )
    print(f"{'elapsed':>9} {'memory':>8}")
    for row in (*alike, *large):
        print(
            f"{row.registrations:>13} {row.targets:>8} {row.cluster_types:>7} {row.rendered:>9} "
            f"{row.processor:>8.2f} s {row.seconds:>7.2f} s {row.megabytes:>5.0f} MB"
        )
    if file:
        rows = [row._asdict() for row in (*alike, *large)]
        file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return [*_not_rendered((*alike, *large)), *_unequal(alike)]


def _not_rendered(rows: tuple[Measured, ...]) -> list[str]:
    return [
        f"{row.registrations} registrations: {row.rendered} of {row.expected} assignments rendered"
        for row in rows
        if row.rendered != row.expected
    ]


def _unequal(rows: list[Measured]) -> list[str]:
    missed = []
    for what in ("processor", "seconds", "megabytes"):
        values = [getattr(row, what) for row in rows]
        if max(values) > (1 + DIFFERENCE) * min(values):
            missed.append(f"{what} of equal assignments differ: {values}")
    return missed


def _measured(size: Size) -> Measured:
    """Measure a fleet in a process of its own, because memory is measured by process."""
    ours, theirs = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_run, args=(theirs, size))
    process.start()
    theirs.close()
    measured: Measured = ours.recv()
    process.join()
    return measured


def _run(result: multiprocessing.connection.Connection, size: Size) -> None:
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as folder:
        fleet = make_fleet_of(Path(folder), size)
        snapshot = snapshot_of(fleet)
        before, started = _processor(), time.perf_counter()
        processes = WorkerProcesses()
        plan = make_plan(snapshot, PlanOptions(), LabelScheduler(), no_progress, processes)
        seconds, processor = time.perf_counter() - started, _processor() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        rendered = sum(1 for item in plan.assignments if item.files)
        numbers = fleet.registrations, size.targets, fleet.cluster_types, rendered
        result.send(Measured(*numbers, fleet.assignments, processor, seconds, peak))


def _processor() -> float:
    return sum(os.times()[:4])


def main() -> None:
    """Print the table and the missed targets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assignments", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    for target in measure(given.assignments, given.json):
        print(f"missed: {target}")


if __name__ == "__main__":
    main()
