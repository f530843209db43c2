"""Policies × deployment targets × cluster types → assignments, with the reasons for each.

selectors.py     Kubernetes' LabelSelector: validated once, then matched
interface.py     what a scheduler is and what it gives
labels.py        Kalypso's own scheduler
registry.py      schedulers by name
"""

from kalypso_actions.scheduling.interface import Decision, Schedule, Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler, policy_faults
from kalypso_actions.scheduling.registry import find_scheduler
from kalypso_actions.scheduling.selectors import Requirement, Selector, Term, compile_selector

__all__ = [
    "Decision",
    "LabelScheduler",
    "Requirement",
    "Schedule",
    "Scheduler",
    "Selector",
    "Term",
    "compile_selector",
    "find_scheduler",
    "policy_faults",
]
