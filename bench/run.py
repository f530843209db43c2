"""Measure a fleet, two plans of it, templates, many repositories, an application, and starts.

Every figure has a baseline that is measured in the same run.

    python -m bench.run --assignments 10000 --repositories 500
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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import application, engines, launch, pair, placements, repositories
from bench.fleet import Fleet, make_fleet
from tools.oracle import program

SECONDS_ALLOWED, MEGABYTES_ALLOWED = 30, 600
TIMES_GO = 5
ROUNDS, MEASURED_SECONDS = 5, 0.5


@dataclass(frozen=True, slots=True)
class Run:
    """One `kalypso render` in a process of its own."""

    seconds: float
    megabytes: float
    document: dict[str, Any]


def main() -> int:
    """Print all figures; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assignments", type=int, default=10_000)
    parser.add_argument("--repositories", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as name:
        folder = Path(name)
        fleet = make_fleet(folder / "fleet", arguments.assignments)
        missed = measure_fleet(fleet, folder)
        missed += pair.measure(fleet)
        missed += measure_engine(folder)
        missed += repositories.measure(arguments.repositories)
        missed += application.measure()
        missed += placements.measure()
        missed += launch.measure()
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
    """Our template engine beside Go's and gotpl's, Template by Template and all together."""
    has_go = _works("Go", program.build)
    has_gotpl = _works("gotpl", lambda: engines.install_gotpl(folder))
    print(f"\n{'manifests a second':<20}{'ours':>10}{'Go':>10}{'':>9}{'gotpl':>10}")
    rows: dict[str, Rates] = {}
    for template, manifests in engines.requests().items():
        comparable = has_gotpl and engines.any_engine_renders(manifests)
        rows[template] = Rates.best(
            Rates(
                ours=engines.ours(manifests, MEASURED_SECONDS),
                go=engines.go(manifests, MEASURED_SECONDS, folder) if has_go else 0,
                gotpl=engines.gotpl(manifests, MEASURED_SECONDS, folder) if comparable else 0,
            )
            for _ in range(ROUNDS)
        )
        print(f"  {template:<18}{rows[template]}")
    together = Rates.together(list(rows.values()))
    print(f"  {'all together':<18}{together}")
    missed = []
    if has_go and together.ours < TIMES_GO * together.go:
        missed.append(f"{TIMES_GO} times as many manifests as Go are needed")
    missed += [
        f"{template}: gotpl is faster"
        for template, rates in rows.items()
        if rates.slower_than_gotpl
    ]
    return missed


@dataclass(frozen=True, slots=True)
class Rates:
    """Manifests a second; 0 where an engine was not measured."""

    ours: float
    go: float
    gotpl: float

    @classmethod
    def best(cls, rounds: Iterable[Rates]) -> Rates:
        """Each engine's best round: what else the machine does can only slow one down."""
        rates_of_rounds = list(rounds)
        return cls(
            ours=max(rates.ours for rates in rates_of_rounds),
            go=max(rates.go for rates in rates_of_rounds),
            gotpl=max(rates.gotpl for rates in rates_of_rounds),
        )

    @classmethod
    def together(cls, rows: Sequence[Rates]) -> Rates:
        """The rates of one after the other, each as often as the others."""
        return cls(_mean(row.ours for row in rows), _mean(row.go for row in rows), 0)

    @property
    def slower_than_gotpl(self) -> bool:
        """Whether gotpl renders more."""
        return self.ours < self.gotpl

    def __str__(self) -> str:
        others = "".join(
            f"{other:10.0f} {self.ours / other:6.1f} ×" if other else f"{'-':>10}{'':9}"
            for other in (self.go, self.gotpl)
        )
        return f"{self.ours:10.0f}{others}".rstrip()


def _mean(rates: Iterable[float]) -> float:
    """Rates of equal shares: the times add up, not the rates."""
    values = list(rates)
    return len(values) / sum(1 / value for value in values) if all(values) else 0


def _works(what: str, prepare: Callable[[], None]) -> bool:
    """Whether something can be had; where it cannot, the reason is printed."""
    try:
        prepare()
    except (OSError, subprocess.CalledProcessError) as error:
        words = str(getattr(error, "stderr", None) or "")[-300:]
        print(f"\n{what} is not measured: {error} {words}")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
