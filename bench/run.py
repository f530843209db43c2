"""Measure a large fleet and the template engine.

Every figure stands beside what it can be compared with, measured in the same run.

    python -m bench.run --assignments 10000
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import engines
from bench.fleet import Fleet, make_fleet

SECONDS_ALLOWED, MEGABYTES_ALLOWED = 30, 600
TIMES_GO = 5
MEASURED_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Run:
    """One `kalypso render` in a process of its own."""

    seconds: float
    megabytes: float
    document: dict[str, Any]


def main() -> int:
    """Print all figures; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assignments", type=int, default=10_000)
    assignments = parser.parse_args().assignments
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as name:
        folder = Path(name)
        missed = measure_fleet(make_fleet(folder / "fleet", assignments), folder)
        missed += measure_engine(folder)
    for target in missed:
        print(f"missed: {target}")
    return 1 if missed else 0


def measure_fleet(fleet: Fleet, folder: Path) -> list[str]:
    """From folders to `--out`, beside a plain copy of what came out; then onto that tree."""
    first = render(fleet, ["--out", str(folder / "out")])
    if first.document["problems"] or len(first.document["assignments"]) != fleet.assignments:
        raise SystemExit(f"the fleet did not render: {first.document['problems'][:3]}")
    started = time.perf_counter()
    shutil.copytree(folder / "out", folder / "copy")
    copied = time.perf_counter() - started
    again = render(fleet, ["--gitops", str(folder / "copy"), "--out", str(folder / "out")])
    files = len(first.document["changes"]["added"])
    print(f"{fleet.assignments} assignments, {files} files, {os.cpu_count()} cores")
    print(f"  {'a plain copy of the files':<40}{copied:8.1f} s")
    for what, run in (
        ("render onto nothing", first),
        ("render onto its own result: no change", again),
    ):
        ratio = f"{run.seconds / copied:6.1f} × the copy"
        print(f"  {what:<40}{run.seconds:8.1f} s {run.megabytes:8.0f} MB {ratio}")
    missed = []
    if first.seconds > SECONDS_ALLOWED:
        missed.append(f"{first.seconds:.1f} s, {SECONDS_ALLOWED} s are allowed")
    if first.megabytes > MEGABYTES_ALLOWED:
        missed.append(f"{first.megabytes:.0f} MB, {MEGABYTES_ALLOWED} MB are allowed")
    return missed


def render(fleet: Fleet, options: list[str]) -> Run:
    """Run the command and read what the system says of the process."""
    command = [sys.executable, "-m", "kalypso_actions", "render", *fleet.arguments(), *options]
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen([*command, "--output", "json"], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode > 1:
            raise SystemExit(f"kalypso ended with {process.returncode}")
        output.seek(0)
        document = json.load(output)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return Run(seconds, usage.ru_maxrss * unit / 1e6, document)


def measure_engine(folder: Path) -> list[str]:
    """Our template engine beside Go's and gotpl's."""
    everything = engines.requests()
    sprig_only = engines.without_kalypso_functions(everything)
    print("\nmanifests a second")
    own = engines.ours(everything, MEASURED_SECONDS)
    print(f"  {'ours, compiled once':<40}{own:8.0f}")
    missed = []
    go = _figure(
        "Go, parsed for each use", lambda: engines.go(everything, MEASURED_SECONDS, folder)
    )
    if go:
        print(f"  {'':<40}{own / go:8.1f} × Go's")
        if own < TIMES_GO * go:
            missed.append(f"{own / go:.1f} times as many manifests as Go, {TIMES_GO} are wanted")
    own = engines.ours(sprig_only, MEASURED_SECONDS)
    print(f"  {'ours, without Kalypso functions':<40}{own:8.0f}")
    gotpl = _figure(
        "gotpl 0.1.0, the same", lambda: engines.gotpl(sprig_only, MEASURED_SECONDS, folder)
    )
    if gotpl:
        print(f"  {'':<40}{own / gotpl:8.1f} × gotpl's")
        if own < gotpl:
            missed.append(f"{own / gotpl:.1f} times as many manifests as gotpl")
    return missed


def _figure(what: str, measure: Callable[[], float]) -> float:
    """A figure that needs something else installed; 0 with the reason where that fails."""
    try:
        figure = measure()
    except (OSError, subprocess.CalledProcessError) as error:
        words = (getattr(error, "stderr", None) or b"")[-300:]
        print(f"  {what:<40} not measured: {error} {words!r}")
        return 0
    print(f"  {what:<40}{figure:8.0f}")
    return figure


if __name__ == "__main__":
    sys.exit(main())
