"""What a set-up that exists lacks: facts about two repositories → one line for each thing checked.

check       how a thing stands
choices     what a workflow file may have in place of what its template has
pages       where something can be changed
workflows   workflow files: there, current, enabled
names       secrets and variables that workflows use
settings    rules of branches, GitHub Actions, approvals
app         what the GitHub App may do
"""

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.app import app_checks
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.names import UsedNames, name_checks, used_names
from kalypso_actions.doctor_rules.settings import (
    actions_checks,
    approval_checks,
    push_checks,
)
from kalypso_actions.doctor_rules.workflows import (
    Files,
    job_may_propose,
    used_actions,
    workflow_checks,
)

__all__ = [
    "Check",
    "Files",
    "UsedNames",
    "actions_checks",
    "app_checks",
    "approval_checks",
    "job_may_propose",
    "name_checks",
    "ok",
    "pages",
    "problem",
    "push_checks",
    "used_actions",
    "used_names",
    "warning",
    "workflow_checks",
]
