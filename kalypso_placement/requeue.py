"""Find the next time at which a decision may change although the fleet does not.

OCM examines the decisions from before the run. Kalypso examines the new decisions, and the scores
that they used.
"""

from __future__ import annotations

from kalypso_placement.filters import earliest, toleration_of
from kalypso_placement.hub import Hub
from kalypso_placement.objects import Placement
from kalypso_placement.prioritizers import effective_prioritizers
from kalypso_placement.reconciliation import Scheduled


def requeue_instant(placement: Placement, hub: Hub, scheduled: Scheduled, now: int) -> int | None:
    """Return the earliest future end of a toleration or of a score's validity."""
    instant: int | None = None
    for cluster in scheduled.decisions:
        instant = earliest(instant, toleration_of(cluster, placement.tolerations, True, now).until)
    resources = {p.add_on[0] for p in effective_prioritizers(placement)[0] if p.add_on}
    for name, _ in scheduled.totals:
        for resource in resources:
            score = hub.scores.get((name, resource))
            if score is not None and score.valid_until is not None and score.valid_until >= now:
                instant = earliest(instant, score.valid_until)
    return instant
