"""Measure fleets, two plans of one, templates, many repositories, an application, and starts.

Every figure has a baseline that is measured in the same run.

    python -m bench.run --assignments 1000 10000 --repositories 500 --json fleets.json
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import application, engines, fleets, launch, pair, placements, repositories
from bench.fleet import make_fleet
from tools.oracle import program

TIMES_GO = 5
ROUNDS, MEASURED_SECONDS = 5, 0.5


def main() -> int:
    """Print all figures; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assignments", type=int, nargs="+", default=list(fleets.SIZES))
    parser.add_argument("--json", type=Path, help="Write the figures of fleets to this file.")
    parser.add_argument("--repositories", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as name:
        folder = Path(name)
        missed = fleets.measure(arguments.assignments, arguments.json)
        missed += pair.measure(make_fleet(folder / "fleet", max(arguments.assignments)))
        missed += measure_engine(folder)
        missed += repositories.measure(arguments.repositories)
        missed += application.measure()
        missed += placements.measure()
        missed += launch.measure()
    for target in missed:
        print(f"missed: {target}")
    return 1 if missed else 0


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
