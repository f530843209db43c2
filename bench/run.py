"""Measure fleets, two plans of one, templates, many repositories, an application, and starts.

Every figure has a baseline that is measured in the same run.

    python -m bench.run --assignments 1000 10000 --repositories 500 --json fleets.json
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from bench import application, engines, fleets, launch, pair, placements, repositories
from bench.fleet import make_fleet
from tools.oracle import program

TIMES_GO, TIMES_PARSED = 10, 0.5
"""The targets, as multiples of Go's rate when it parses a template for every use, or once."""
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
    """Compare our template engine with Go's and gotpl, by Template and for all together."""
    has_go = _works("Go", program.build)
    has_gotpl = _works("gotpl", lambda: engines.install_gotpl(folder))
    others = "".join(f"{name:>10}{'':10}" for name in ("Go", "Go parsed", "gotpl"))
    print(f"\n{'manifests a second':<20}{'ours':>10}{others}".rstrip())
    rows: dict[str, Rates] = {}
    for template, manifests in engines.requests().items():
        comparable = has_gotpl and engines.any_engine_renders(manifests)
        rows[template] = Rates.best(_rounds(manifests, folder, has_go, comparable))
        print(f"  {template:<18}{rows[template]}")
    print(f"  {'all together':<18}{Rates.together(list(rows.values()))}")
    config_maps = engines.requests()["config-map"]
    known = max(engines.ours(config_maps, MEASURED_SECONDS, is_shared=True) for _ in range(ROUNDS))
    print(f"  {'config-map, shared':<18}{replace(rows['config-map'], ours=known)}")
    return [f"{template}: {fault}" for template, rates in rows.items() for fault in rates.missed()]


def _rounds(
    manifests: Sequence[engines.Request], folder: Path, has_go: bool, has_gotpl: bool
) -> Iterator[Rates]:
    """Measure the engines in turn, round by round."""
    for _ in range(ROUNDS):
        yield Rates(
            ours=engines.ours(manifests, MEASURED_SECONDS),
            go=engines.go(manifests, MEASURED_SECONDS, folder) if has_go else 0,
            parsed=engines.go(manifests, MEASURED_SECONDS, folder, parse_once=True)
            if has_go
            else 0,
            gotpl=engines.gotpl(manifests, MEASURED_SECONDS, folder) if has_gotpl else 0,
        )


@dataclass(frozen=True, slots=True)
class Rates:
    """Manifests per second; 0 if an engine was not measured.

    `go` is the rate of Go if it parses each template for every use, as upstream does; `parsed` is
    the rate if it parses each template once.
    """

    ours: float
    go: float
    parsed: float
    gotpl: float

    @classmethod
    def best(cls, rounds: Iterable[Rates]) -> Rates:
        """Return each engine's best round: other work of the machine can only slow a round down."""
        return cls(*map(max, zip(*map(astuple, rounds), strict=True)))

    @classmethod
    def together(cls, rows: Sequence[Rates]) -> Rates:
        """Return the rates for all Templates together, each used equally often; without gotpl."""
        ours, go, parsed, _ = zip(*map(astuple, rows), strict=True)
        return cls(_mean(ours), _mean(go), _mean(parsed), 0)

    def missed(self) -> list[str]:
        """Return the targets that are missed."""
        missed = []
        if self.ours < TIMES_GO * self.go:
            missed.append(f"{self.ours / self.go:.1f} × Go, {TIMES_GO} × is needed")
        if self.ours < TIMES_PARSED * self.parsed:
            times = f"{self.ours / self.parsed:.2f} × Go with templates parsed once"
            missed.append(f"{times}, {TIMES_PARSED} × is needed")
        if self.ours < self.gotpl:
            missed.append("gotpl is faster")
        return missed

    def __str__(self) -> str:
        others = "".join(
            f"{other:10.0f} {self.ours / other:6.2f} × " if other else f"{'-':>10}{'':10}"
            for other in (self.go, self.parsed, self.gotpl)
        )
        return f"{self.ours:10.0f}{others}".rstrip()


def _mean(rates: Iterable[float]) -> float:
    """Return the rate for equal shares, whose times add up: the harmonic mean."""
    values = list(rates)
    return len(values) / sum(1 / value for value in values) if all(values) else 0


def _works(what: str, prepare: Callable[[], None]) -> bool:
    """Whether the preparation of an engine works; if it does not, print the reason."""
    try:
        prepare()
    except (OSError, subprocess.CalledProcessError) as error:
        words = str(getattr(error, "stderr", None) or "")[-300:]
        print(f"\n{what} is not measured: {error} {words}")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
