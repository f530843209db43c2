"""All verdicts by name; `compliance.verdicts` judges the clusters of a branch, and a run."""

from __future__ import annotations

from typing import Final, Literal

VerdictName = Literal[
    "compliant",
    "nothing-scheduled",
    "waiting",
    "superseded",
    "failed",
    "none-targeted",
    "timed-out",
]
"""`superseded` and `timed-out` are verdicts of a run only."""

FAILURES: Final[frozenset[VerdictName]] = frozenset({"failed", "none-targeted", "timed-out"})

GOES_ON: Final[frozenset[VerdictName]] = frozenset({"compliant", "nothing-scheduled"})
"""Verdicts that let the commit go on to the next environments."""
