"""A table of trials."""

from __future__ import annotations

from collections.abc import Sequence

from tools.mutants.trials import Trial


def table(trials: Sequence[Trial]) -> str:
    """Return a line for each trial: the break, its result, its time, and the test that noticed."""
    rows = [
        (trial.broken.name, trial.ending, f"{trial.seconds:.0f} s", trial.by.replace("\n", " "))
        for trial in trials
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    caught = sum(trial.ending == "caught" for trial in trials)
    return "\n".join([*lines, "", f"{caught} of {len(trials)} caught"])
