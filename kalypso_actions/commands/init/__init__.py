"""`kalypso init`: two repositories become a control plane and its GitOps repository.

The rules of the set-up are in `onboarding`.

repositories   the two repositories, through the API or as clones
backends       read and write each of them
read           the branches as they are, and the environments
rules          the demands of branch rules on workflow files
write          commits, pushes and pull requests
result         the plan and its result, as a document
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import kalypso_actions
from kalypso_actions.commands.init.read import CurrentState, read_current_state
from kalypso_actions.commands.init.repositories import InitRepositories, open_repositories
from kalypso_actions.commands.init.result import init_document
from kalypso_actions.commands.init.rules import read_rule_needs
from kalypso_actions.commands.init.write import base_repo_text, write_plans
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.workflow_templates import workflow_files
from kalypso_actions.inputs.init import InitInputs
from kalypso_actions.model.workflow_placeholders import Placeholders
from kalypso_actions.onboarding import (
    BranchPlan,
    Consent,
    StarterFiles,
    WorkflowFiles,
    plan_branches,
)
from kalypso_actions.onboarding.workflows import for_rules
from kalypso_actions.report.init_document import InitDocument

STARTER: Final = Path(kalypso_actions.__file__).parent / "starter"

COMMIT_OF_MAIN: Final = "COMMIT-OF-MAIN"
"""The placeholder in a preview for the commit of main, which does not exist yet."""

Decide = Callable[[InitDocument], Consent | None]
"""Shows the preview to people, and returns their consent; None to write nothing."""


def init(inputs: InitInputs, runtime: Runtime, decide: Decide) -> InitDocument:
    """Read both repositories, plan, ask for consent, and write.

    Files of people change only with consent; a second run changes nothing. Raises UsageError for
    impossible inputs, KalypsoError for a repository that cannot be read or written.
    """
    with open_repositories(inputs, runtime) as repositories:
        current = read_current_state(inputs, repositories)
        plans = _plans(inputs, repositories, current)
        preview = init_document(inputs, repositories, current, plans)
        consent = decide(preview)
        if consent is None:
            return preview
        written = write_plans(plans, consent, repositories, propose=inputs.pull_request)
        return init_document(inputs, repositories, current, plans, consent, written)


def _plans(
    inputs: InitInputs, repositories: InitRepositories, current: CurrentState
) -> tuple[BranchPlan, ...]:
    action, _, ref = inputs.action.partition("@")
    placeholders = Placeholders(action, ref, repositories.control_plane.name)
    return plan_branches(
        current.setup,
        current.states,
        StarterFiles(_starter_texts()),
        WorkflowFiles(
            main=for_rules(
                workflow_files("control-plane", placeholders),
                read_rule_needs(current.setup, repositories.github),
            ),
            environment=workflow_files("control-plane-environment", placeholders),
            gitops=workflow_files("gitops", placeholders),
        ),
        base_repo_text(repositories.control_plane, COMMIT_OF_MAIN),
    )


def _starter_texts() -> dict[str, str]:
    return {
        file.relative_to(STARTER).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(STARTER.rglob("*"))
        if file.is_file()
    }
