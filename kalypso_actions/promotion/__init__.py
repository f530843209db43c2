"""The way of a main commit through the environments: decisions, without doing anything.

lifecycle      the states of a commit in an environment, and every event: the other files follow it
environments   which environments come first, and which come next
base_repo      the text of base-repo.yaml with another promoted commit
advance        what CD does with a commit: write it, leave it, refuse it
merges         what a push to a GitOps branch means: a promotion, its continuation, neither
verification   whether the repositories say what check-promote was told
rounds         one look at all GitOps branches: a verdict, or nothing yet
statuses       the commit statuses that are posted, and when
start_records  the statuses by which a lost start is found again
schedule_inputs  the digest of what schedule looks at
"""

from kalypso_actions.promotion.advance import Advance, advance
from kalypso_actions.promotion.base_repo import with_commit
from kalypso_actions.promotion.environments import (
    environment_circles,
    first_environments,
    next_environments,
    unreached_environments,
)
from kalypso_actions.promotion.merges import Merge, meaning_of_push

__all__ = [
    "Advance",
    "Merge",
    "advance",
    "environment_circles",
    "first_environments",
    "meaning_of_push",
    "next_environments",
    "unreached_environments",
    "with_commit",
]
