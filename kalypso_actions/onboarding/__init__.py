"""What files belong where: two repositories become a control plane and its GitOps repository.

setup       the two repositories and the environments, as they are to be
starter     the first files of a new control plane, with names filled in
workflows   our workflow files, and whose one is that stands in a branch already
changes     branches as they are → what is written to each
branches    what is written to which branch, from the setup and the branches as they are
remaining   what only people can do
  azure     the part of it that concerns Azure
  tasks     one thing to do
"""

from kalypso_actions.onboarding.branches import BranchState, plan_branches
from kalypso_actions.onboarding.changes import BranchPlan, Consent, FileChange, unified_diff
from kalypso_actions.onboarding.remaining import remaining_tasks
from kalypso_actions.onboarding.setup import (
    EnvironmentSetup,
    RepositorySetup,
    Setup,
    default_branch_conflict,
)
from kalypso_actions.onboarding.starter import StarterFiles
from kalypso_actions.onboarding.tasks import Identity, Task
from kalypso_actions.onboarding.workflows import WorkflowFiles

__all__ = [
    "BranchPlan",
    "BranchState",
    "Consent",
    "EnvironmentSetup",
    "FileChange",
    "Identity",
    "RepositorySetup",
    "Setup",
    "StarterFiles",
    "Task",
    "WorkflowFiles",
    "default_branch_conflict",
    "plan_branches",
    "remaining_tasks",
    "unified_diff",
]
