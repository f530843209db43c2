"""Fleets of several sizes: each stage, and whole runs beside `git fast-import` of the same files.

python -m bench.fleets --assignments 1000 10000 --json fleets.json
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from bench.fleet import Shape
from bench.stages import ONE_PROCESS, PROCESSES

SIZES: Final = (1_000, 10_000)
TIMES_FAST_IMPORT: Final[Mapping[tuple[Shape, int], float]] = {
    ("distinct", 10_000): 3.3,
    ("repeating", 10_000): 2.4,
    ("distinct", 100_000): 2.3,
    ("repeating", 100_000): 1.3,
}
"""A first run, in seconds."""
UNCHANGED_PART: Final[Mapping[tuple[Shape, int], float]] = {
    ("distinct", 10_000): 0.3,
    ("repeating", 10_000): 0.5,
    ("distinct", 100_000): 0.2,
    ("repeating", 100_000): 0.2,
}
"""What a run costs of a first run, in processor time, where nothing or 1 % has changed."""
MEGABYTES: Final = 600
TENFOLD: Final = 10.5
SPEEDUP, SPEEDUP_FROM = 1.8, 20_000
"""The target of rendering in processes on two cores, for at least so many assignments."""
TIMES_PLAN: Final = 2.0
"""The target of every command that reads a whole fleet; `bench.pair` measures previews."""

Measurement = dict[str, list[dict[str, Any]]]
Measurements = dict[tuple[Shape, int], Measurement]


def measure(sizes: Sequence[int], file: Path | None = None) -> list[str]:
    """Print the tables, write them as JSON, and return the targets that are missed."""
    measurements: Measurements = {}
    missed: list[str] = []
    for shape in get_args(Shape):
        for size in sizes:
            measured = measurements[shape, size] = _measured(shape, size)
            print(f"\n{size} assignments, {shape}")
            for kind in ("runs", "stages", "commands"):
                _print(measured[kind], floor=measured["runs"][0]["processor"])
            missed += _missed(shape, size, measured)
        missed += _growth(shape, measurements)
    if file:
        rows = [
            {"shape": shape, "assignments": size, **measured}
            for (shape, size), measured in measurements.items()
        ]
        file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return missed


def _measured(shape: Shape, size: int) -> Measurement:
    """Measure in a process of its own, so that its memory is that of one fleet."""
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as folder:
        command = [sys.executable, "-m", "bench.stages", folder, shape, str(size)]
        process = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    measured: Measurement = json.loads(process.stdout)
    return measured


def _print(rows: Sequence[Mapping[str, Any]], floor: float) -> None:
    heading = f"{'processor':>9} {'elapsed':>9} {'memory':>8}   × fast-import"
    print(f"  {'':<34} {heading}")
    for row in rows:
        ratio = f"{row['processor'] / floor:8.2f}" if floor else ""
        figures = f"{row['processor']:7.2f} s {row['seconds']:7.2f} s {row['megabytes']:5.0f} MB"
        print(f"  {row['name']:<34} {figures} {ratio}")


def _missed(shape: Shape, size: int, measured: Measurement) -> list[str]:
    floor, first, unchanged, changed = measured["runs"]
    what = f"{size} {shape} assignments"
    missed = []
    times = first["seconds"] / floor["seconds"]
    allowed = TIMES_FAST_IMPORT.get((shape, size), math.inf)
    if times > allowed:
        missed.append(f"{what}: {times:.2f} × fast-import, {allowed} × is allowed")
    if first["megabytes"] > MEGABYTES:
        missed.append(f"{what}: {first['megabytes']:.0f} MB, {MEGABYTES} MB are allowed")
    allowed = UNCHANGED_PART.get((shape, size), math.inf)
    for run in unchanged, changed:
        part = run["processor"] / first["processor"]
        if part > allowed:
            missed.append(f"{what}, {run['name']}: {part:.2f} of a run, {allowed} is allowed")
    seconds = {stage["name"]: stage["seconds"] for stage in measured["stages"]}
    speedup = seconds[ONE_PROCESS] / seconds[PROCESSES]
    if size >= SPEEDUP_FROM and speedup < SPEEDUP:
        missed.append(f"{what}: processes render {speedup:.2f} times as fast, not {SPEEDUP}")
    plan, *commands = measured["commands"]
    for command in commands:
        times = command["processor"] / plan["processor"]
        if times > TIMES_PLAN:
            missed.append(f"{what}: {command['name']} takes {times:.2f} times as long as a plan")
    return missed


def _growth(shape: Shape, measurements: Measurements) -> list[str]:
    """Compare each size with the size that is ten times as large."""
    missed = []
    for (other, size), measured in measurements.items():
        larger = measurements.get((shape, 10 * size))
        if other == shape and larger:
            growth = larger["runs"][1]["processor"] / measured["runs"][1]["processor"]
            print(f"  {10 * size} assignments take {growth:.1f} times as long as {size}")
            if growth > TENFOLD:
                missed.append(f"{shape}: {size} to {10 * size} takes {growth:.1f} times as long")
    return missed


def main() -> None:
    """Print the figures; a missed target is no failure, as other work on a machine counts too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assignments", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    for target in measure(given.assignments, given.json):
        print(f"missed: {target}")


if __name__ == "__main__":
    main()
