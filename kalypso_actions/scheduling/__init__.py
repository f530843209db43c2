"""Policies × deployment targets × cluster types → assignments, each with its reasons.

selectors.py     Kubernetes' LabelSelector: validated once, then matched
label_index.py   targets and cluster types by label
interface.py     the interface of schedulers, and their results
labels.py        Kalypso's own scheduler
registry.py      schedulers by name
plugins.py       checks of schedulers from other packages
"""

from kalypso_actions.model.schedulers import DEFAULT_SCHEDULER
from kalypso_actions.scheduling.interface import (
    Decision,
    DecisionStep,
    DocumentFindings,
    Schedule,
    Scheduler,
)
from kalypso_actions.scheduling.label_index import LabelIndex, TargetIndex
from kalypso_actions.scheduling.labels import (
    CompiledPolicy,
    LabelScheduler,
    assignments_of,
    compile_policy,
    policy_faults,
)
from kalypso_actions.scheduling.registry import (
    find_scheduler,
    installed_schedulers,
    scheduler_of,
    trusted_scheduler,
    uses_present_assignments,
)
from kalypso_actions.scheduling.selectors import (
    Requirement,
    RequirementMatch,
    Selector,
    compile_selector,
)

__all__ = [
    "DEFAULT_SCHEDULER",
    "CompiledPolicy",
    "Decision",
    "DecisionStep",
    "DocumentFindings",
    "LabelIndex",
    "LabelScheduler",
    "Requirement",
    "RequirementMatch",
    "Schedule",
    "Scheduler",
    "Selector",
    "TargetIndex",
    "assignments_of",
    "compile_policy",
    "compile_selector",
    "find_scheduler",
    "installed_schedulers",
    "policy_faults",
    "scheduler_of",
    "trusted_scheduler",
    "uses_present_assignments",
]
