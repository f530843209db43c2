"""Policies × deployment targets × cluster types → assignments, each with its reasons.

    schedule = find_scheduler("labels").schedule(fleet)
    schedule.explain(target, cluster_type)

The names here are for schedulers of other packages; `registry` finds them by entry points.
"""

from kalypso_actions.scheduling.interface import (
    Decision,
    DecisionStep,
    RequirementMatch,
    Schedule,
    Scheduler,
    compile_selector,
)
from kalypso_actions.scheduling.labels import (
    CompiledPolicy,
    LabelScheduler,
    assignments_of,
    compile_policy,
)

__all__ = [
    "CompiledPolicy",
    "Decision",
    "DecisionStep",
    "LabelScheduler",
    "RequirementMatch",
    "Schedule",
    "Scheduler",
    "assignments_of",
    "compile_policy",
    "compile_selector",
]
