"""Find gaps in an existing set-up: facts about its repositories → a check of each subject.

check                one check: a subject, its state, and advice
app                  permissions and repositories of the GitHub App
repositories         access, branches, labels, and open pull requests of upstream
environments         branches, rendering, promotion, GitHub environments
repository_settings  rules of branches, approvals, settings of GitHub Actions
setting_names        secrets and variables that workflows use
federated_credentials  the number of the identity's credentials in Azure
workflows            workflow files: present, current, enabled
template_options     changes to a workflow file that its template offers
probe                the writes that GitHub refused to the probe
pages                the pages of GitHub where people change something
"""

from kalypso_actions.doctor_rules import environments, pages, repositories
from kalypso_actions.doctor_rules.app import app_checks, app_repository_check
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.federated_credentials import credential_checks
from kalypso_actions.doctor_rules.repository_settings import (
    actions_checks,
    approval_checks,
    proposal_checks,
    push_checks,
    required_check_checks,
    signature_checks,
)
from kalypso_actions.doctor_rules.setting_names import UsedNames, name_checks, used_names
from kalypso_actions.doctor_rules.workflows import (
    BranchWorkflows,
    copy_checks,
    used_actions,
    workflow_checks,
)

__all__ = [
    "BranchWorkflows",
    "Check",
    "UsedNames",
    "actions_checks",
    "app_checks",
    "app_repository_check",
    "approval_checks",
    "copy_checks",
    "credential_checks",
    "environments",
    "name_checks",
    "ok",
    "pages",
    "problem",
    "proposal_checks",
    "push_checks",
    "repositories",
    "required_check_checks",
    "signature_checks",
    "used_actions",
    "used_names",
    "warning",
    "workflow_checks",
]
