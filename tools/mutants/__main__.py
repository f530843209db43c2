"""Break the chain in every listed way: `python -m tools.mutants [name …]`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tools.mutants.all_breaks import BREAKS
from tools.mutants.table import table
from tools.mutants.trials import Trial, attempt

AT_ONCE: Final = 3  # more than the usual two cores, because a trial sometimes waits


def main(names: Sequence[str]) -> int:
    """Try the breaks of these names, by default all; return 1 if one of them is not caught."""
    chosen = [listed for listed in BREAKS if not names or listed.name in names]
    unknown = set(names) - {listed.name for listed in chosen}
    if unknown:
        print(f"there is no break {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    started = time.monotonic()
    trials: list[Trial] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for trial in pool.map(attempt, chosen):
            trials.append(trial)
            print(f"{trial.ending}: {trial.broken.name}", file=sys.stderr)
    print(table(trials))
    print(f"{time.monotonic() - started:.0f} seconds", file=sys.stderr)
    return 0 if all(trial.ending == "caught" for trial in trials) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
