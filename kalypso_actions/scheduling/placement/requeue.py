"""The next time at which a decision may change while the fleet does not.

OCM looks at the decisions before the run. A run that ends looks at its new ones, and at the scores
that it used.
"""

from __future__ import annotations

from kalypso_actions.scheduling.placement.filters import earliest, toleration_of
from kalypso_actions.scheduling.placement.hub import Hub
from kalypso_actions.scheduling.placement.objects import Placement
from kalypso_actions.scheduling.placement.prioritizers import effective_prioritizers
from kalypso_actions.scheduling.placement.reconciliation import Scheduled


def next_look(placement: Placement, hub: Hub, found: Scheduled, now: int) -> int | None:
    """Return the earliest end of a toleration or of a score, never one that is over."""
    look: int | None = None
    for cluster in found.decisions:
        look = earliest(look, toleration_of(cluster, placement.tolerations, True, now).until)
    resources = {p.add_on[0] for p in effective_prioritizers(placement)[0] if p.add_on}
    for name, _ in found.totals:
        for resource in resources:
            score = hub.scores.get((name, resource))
            if score is not None and score.valid_until is not None and score.valid_until >= now:
                look = earliest(look, score.valid_until)
    return look
