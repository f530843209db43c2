"""Describe the plan and its result as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_actions.commands.init.read import CurrentState
from kalypso_actions.commands.init.repositories import InitRepositories
from kalypso_actions.commands.registry import app_permissions
from kalypso_actions.inputs.init import InitInputs
from kalypso_actions.onboarding import BranchPlan, Consent, remaining_tasks, unified_diff
from kalypso_actions.onboarding.changes import WrittenBranch, kept_warnings
from kalypso_actions.onboarding.open_tasks import closing_tasks, obsolete_tasks
from kalypso_actions.onboarding.setup import RepositoryRole
from kalypso_actions.onboarding.workflows import CD_FILE, proposes
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.init_document import (
    InitBranchEntry,
    InitDocument,
    InitFileEntry,
    InitTaskEntry,
)


def init_document(
    inputs: InitInputs,
    repositories: InitRepositories,
    current: CurrentState,
    plans: Sequence[BranchPlan],
    consent: Consent | None = None,
    written: Sequence[WrittenBranch] = (),
) -> InitDocument:
    """Return the preview without `consent`; with it, the result of each plan.

    The options count as consent for the tasks and the warnings of the preview.
    """
    agreed = consent or Consent(inputs.update_workflows, inputs.delete_upstream_workflows)
    results = {_key(branch.plan): branch for branch in written}
    setup = current.setup
    tasks = [
        *obsolete_tasks(plans, agreed),
        *remaining_tasks(
            setup,
            repositories.facts,
            app_permissions(),
            jobs_propose=_jobs_propose(current),
        ),
        *closing_tasks(setup, written, _clone_folders(inputs)),
    ]
    return InitDocument(
        control_plane=setup.control_plane.name,
        gitops=setup.gitops.name,
        environments=tuple(environment.name for environment in setup.environments),
        written=any(branch.commit for branch in written),
        branches=tuple(_branch(plan, consent, results.get(_key(plan))) for plan in plans),
        remaining=tuple(
            InitTaskEntry(
                title=task.title, text=task.text, links=dict(task.links), lines=task.lines
            )
            for task in tasks
        ),
        warnings=ProblemEntry.all_of([*current.warnings, *kept_warnings(plans, agreed)]),
    )


def _key(plan: BranchPlan) -> tuple[str, str]:
    return plan.repository.role, plan.branch


def _jobs_propose(current: CurrentState) -> bool:
    """Whether cd.yaml on main opens pull requests; init changes it only with consent."""
    control_plane = current.setup.control_plane
    state = current.states.get((control_plane.role, control_plane.main))
    return state is not None and proposes(state.files.get(CD_FILE, ""))


def _clone_folders(inputs: InitInputs) -> Mapping[RepositoryRole, str]:
    if not inputs.in_clones:
        return {}
    return {
        "control plane": str(inputs.control_plane_dir),
        "GitOps repository": str(inputs.gitops_dir),
    }


def _branch(
    plan: BranchPlan, consent: Consent | None, written: WrittenBranch | None
) -> InitBranchEntry:
    return InitBranchEntry(
        repository=plan.repository.name,
        branch=plan.branch,
        is_new=not plan.head,
        files=tuple(
            InitFileEntry(
                path=change.path,
                action=change.action,
                reason=change.reason,
                diff=unified_diff(change),
                written=consent is not None and consent.covers(change.action),
            )
            for change in plan.changes
        ),
        commit=written.commit if written else "",
        pull_request_url=written.pull_request_url if written else "",
    )
