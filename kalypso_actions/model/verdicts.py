"""All verdicts by name; `compliance.assessment` judges a branch, `promotion.run_verdict` a run."""

from __future__ import annotations

from typing import Final, Literal

Verdict = Literal[
    "compliant",
    "nothing-scheduled",
    "waiting",
    "superseded",
    "failed",
    "none-targeted",
    "timed-out",
]
"""`superseded` and `timed-out` are verdicts of a run only."""

FAILURES: Final[frozenset[Verdict]] = frozenset({"failed", "none-targeted", "timed-out"})

GOES_ON: Final[frozenset[Verdict]] = frozenset({"compliant", "nothing-scheduled"})
"""Verdicts that let the commit go on to the next environments."""
