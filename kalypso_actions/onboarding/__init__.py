"""Set up two repositories as a control plane and its GitOps repository.

setup         the two repositories and the environments to set up
environments  the environments, and the GitOps branches that they propose to
starter       the first files of a new control plane
workflows     our workflow files, by branch
branches      the plan for each branch
changes       changes to the files of a branch, and the consent that they need
open_tasks    tasks that only people can do
  azure       the task in Azure
  tasks       a task
"""

from kalypso_actions.onboarding.branches import BranchState, plan_branches
from kalypso_actions.onboarding.changes import BranchPlan, Consent, FileChange, unified_diff
from kalypso_actions.onboarding.open_tasks import remaining_tasks
from kalypso_actions.onboarding.setup import (
    EnvironmentSetup,
    RepositorySetup,
    Setup,
    default_branch_conflict,
)
from kalypso_actions.onboarding.starter import StarterFiles
from kalypso_actions.onboarding.tasks import Task
from kalypso_actions.onboarding.workflows import WorkflowFiles

__all__ = [
    "BranchPlan",
    "BranchState",
    "Consent",
    "EnvironmentSetup",
    "FileChange",
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
