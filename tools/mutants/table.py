"""All trials, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from tools.mutants.trials import Trial


def table(trials: Sequence[Trial]) -> str:
    """What was broken, how it ended, who noticed, and how long that took."""
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
