"""One look at all GitOps branches of an environment → a verdict, or nothing yet.

A promotion is a commit of main in an environment, which may have several GitOpsRepos: it is there
when the branches of all of them name the commit and their clusters comply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.model.github import Relation

Verdict = Literal[
    "compliant",
    "nothing-scheduled",
    "waiting",
    "superseded",
    "failed",
    "none-targeted",
    "timed-out",
]
"""How a run of check-promote ends; the last three are failures."""

FAILURES: Final[frozenset[Verdict]] = frozenset({"failed", "none-targeted", "timed-out"})
GOES_ON: Final[frozenset[Verdict]] = frozenset({"compliant", "nothing-scheduled"})
"""With these the commit goes on to the next environments."""

Clusters = Literal["compliant", "nothing-scheduled", "waiting", "failed", "none-targeted"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How one GitOps branch stands.

    own       it is the one that this run was started for
    holds     it names the promoted commit (for a configuration change: the same as before)
    clusters  how those that follow it stand, and why, where it holds the commit
    """

    name: str
    own: bool
    holds: bool
    clusters: Clusters = "waiting"
    reason: str = ""

    @property
    def complies(self) -> bool:
        """Whether nothing is left to be waited for."""
        return self.holds and self.clusters in {"compliant", "nothing-scheduled"}


@dataclass(frozen=True, slots=True)
class Superseded:
    """Another commit came to a branch: a newer one, or an older one came back.

    `by` is what the branch names now; "" where it names none. `source` says who names it.
    """

    by: str
    goes_back: bool
    source: str = "the branch"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and, in one line, why."""

    verdict: Verdict
    reason: str


def overtaken(
    promoted: str | None, tracked: str | None, relation: Relation | None, *, own: bool
) -> Superseded | None:
    """Whether the promotion is over because of what a branch names now.

    `relation` is how the named commit stands to the promoted one on main: None where it is not
    known there. A branch of another GitOpsRepo may still hold an older commit, which is no
    verdict; only a descendant of the promoted commit is.
    """
    if tracked == promoted or (not own and relation != "ahead"):
        return None
    return Superseded(tracked or "", goes_back=tracked is None or relation == "behind")


def decide(standings: Sequence[Standing], *, timed_out: bool) -> Decision | None:
    """The verdict, None while it is open.

    Branches that fail decide for the environment, whosever they are. While others hold the commit
    and do not comply yet, they are waited for, though never blamed for the time it takes: their own
    merge's run does that.
    """
    for failure in ("failed", "none-targeted"):
        for one in standings:
            if one.holds and one.clusters == failure:
                return Decision(failure, _told([one], standings))
    own = [one for one in standings if one.own]
    if not all(one.complies for one in own):
        open_ones = [one for one in own if not one.complies]
        return Decision("timed-out", _told(open_ones, standings)) if timed_out else None
    without = [one.name for one in standings if not one.holds]
    if without:
        return Decision("waiting", f"{', '.join(without)} does not hold the commit yet")
    open_ones = [one for one in standings if not one.complies]
    if open_ones:
        return Decision("waiting", _told(open_ones, standings)) if timed_out else None
    if all(one.clusters == "nothing-scheduled" for one in standings):
        return Decision("nothing-scheduled", "no deployment target is assigned to a cluster type")
    return Decision("compliant", _told(standings, standings))


def _told(some: Sequence[Standing], standings: Sequence[Standing]) -> str:
    """Their reasons, each with its branch where there are several."""
    if len(standings) == 1:
        return some[0].reason
    return "; ".join(f"{one.name}: {one.reason}" for one in some)
