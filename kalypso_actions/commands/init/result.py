"""What was planned and done, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalypso_actions.commands.init.read import CurrentState
from kalypso_actions.commands.init.repositories import InitRepositories
from kalypso_actions.commands.init.write import WrittenBranch
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs import permissions
from kalypso_actions.inputs.init import InitInputs
from kalypso_actions.onboarding import (
    BranchPlan,
    Consent,
    Task,
    remaining_tasks,
    unified_diff,
)
from kalypso_actions.onboarding.remaining import (
    merge_task,
    obsolete_task,
    push_task,
    start_task,
)
from kalypso_actions.onboarding.workflows import CD_FILE, proposes
from kalypso_actions.report.documents import (
    InitBranchEntry,
    InitDocument,
    InitFileEntry,
    InitTaskEntry,
    ProblemEntry,
)


def init_document(
    inputs: InitInputs,
    repositories: InitRepositories,
    current: CurrentState,
    plans: Sequence[BranchPlan],
    consent: Consent | None = None,
    written: Sequence[WrittenBranch] = (),
) -> InitDocument:
    """The preview without `consent`; with it, what became of each plan.

    What the command line agrees to is not among the tasks of the preview.
    """
    agreed = consent or Consent(inputs.update_workflows, inputs.delete_upstream_workflows)
    done = {(one.plan.repository.role, one.plan.branch): one for one in written}
    branches = [
        _branch(plan, consent, done.get((plan.repository.role, plan.branch))) for plan in plans
    ]
    tasks = [
        *_own_tasks(plans, agreed),
        *remaining_tasks(
            current.setup,
            repositories.identity,
            permissions.of_app(),
            jobs_propose=_jobs_propose(current),
        ),
        *_last_tasks(inputs, current, written),
    ]
    return InitDocument(
        control_plane=repositories.control_plane.name,
        gitops=repositories.gitops.name,
        environments=tuple(one.name for one in current.setup.environments),
        written=any(one.commit for one in written),
        branches=tuple(branches),
        remaining=tuple(
            InitTaskEntry(
                title=task.title, text=task.text, links=dict(task.links), lines=task.lines
            )
            for task in tasks
        ),
        warnings=ProblemEntry.all_of([*current.warnings, *_kept(plans, agreed)]),
    )


def _jobs_propose(current: CurrentState) -> bool:
    """As cd.yaml on main says now: what people have changed there stays, or is asked about."""
    control_plane = current.setup.control_plane
    state = current.states.get((control_plane.role, control_plane.main))
    return state is not None and proposes(state.files.get(CD_FILE, ""))


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


def _kept(plans: Sequence[BranchPlan], consent: Consent) -> Iterator[Problem]:
    """Workflows that people have changed, and that stay as they are."""
    for plan in plans:
        for change in plan.changes:
            if change.action == "update" and not consent.covers(change.action):
                yield Problem(
                    f"on {plan.branch}: it {change.reason}, and is left as it is",
                    Location(plan.repository.name, change.path),
                    "--update-workflows writes the template",
                )


def _own_tasks(plans: Sequence[BranchPlan], consent: Consent) -> Iterator[Task]:
    for plan in plans:
        left = [change.path for change in plan.changes if change.action == "delete"]
        if left and not consent.covers("delete"):
            yield obsolete_task(plan.repository, plan.branch, left)


def _last_tasks(
    inputs: InitInputs, current: CurrentState, written: Sequence[WrittenBranch]
) -> Iterator[Task]:
    """What makes the chain begin."""
    folders = {
        "GitOps repository": str(inputs.gitops_dir),
        "control plane": str(inputs.control_plane_dir),
    }
    if inputs.in_clones:
        changed: dict[str, tuple[str, ...]] = {}
        for one in written:
            if one.commit:
                folder = folders[one.plan.repository.role]
                changed[folder] = (*changed.get(folder, ()), one.plan.branch)
        if changed:
            yield push_task(changed)
            yield start_task(current.setup)
        return
    urls = {
        f"{one.plan.repository.name}, {one.plan.branch}": one.pull_request_url
        for one in written
        if one.pull_request_url
    }
    if urls:
        yield merge_task(urls)
    if any(one.commit for one in written):
        yield start_task(current.setup)
