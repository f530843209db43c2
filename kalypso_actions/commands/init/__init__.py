"""`kalypso init`: two repositories become a control plane and its GitOps repository.

    document = init(inputs, runtime, lambda preview: Consent())

`onboarding` plans what to write; the writes are values that `--dry-run` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import kalypso_actions
from kalypso_actions import __version__
from kalypso_actions.clients.installed_code import installed_commit
from kalypso_actions.commands.init.read import CurrentState, read_current_state, read_rule_needs
from kalypso_actions.commands.init.repositories import InitRepositories, open_repositories
from kalypso_actions.commands.init.write import (
    base_repo_text,
    branch_writes,
    read_own_heads,
    write_plans,
)
from kalypso_actions.commands.registry import app_permissions
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.workflow_templates import workflow_files
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.local import (
    DEFAULT_ACTION,
    IN_SANDBOX,
    InitInputs,
    OnboardingInputs,
)
from kalypso_actions.model.workflow_files import Placeholders
from kalypso_actions.model.writes import Write
from kalypso_actions.onboarding.branches import (
    BranchPlan,
    Consent,
    WrittenBranch,
    annotated_environments,
    kept_warnings,
    plan_branches,
    unified_diff,
)
from kalypso_actions.onboarding.files import (
    CD_FILE,
    StarterFiles,
    WorkflowFiles,
    for_rules,
    proposes,
)
from kalypso_actions.onboarding.open_tasks import (
    Task,
    closing_tasks,
    obsolete_tasks,
    remaining_tasks,
    sandbox_tasks,
)
from kalypso_actions.onboarding.setup import RepositoryRole
from kalypso_actions.report.chain_document import WriteEntry
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.init_document import (
    InitBranchEntry,
    InitDocument,
    InitFileEntry,
    InitTaskEntry,
    OnboardingDocument,
)

STARTER: Final = Path(kalypso_actions.__file__).parent / "starter"

COMMIT_OF_MAIN: Final = "COMMIT-OF-MAIN"
"""The placeholder in a preview for the commit of main, which does not exist yet."""

Document = TypeVar("Document", bound=OnboardingDocument)
Decide = Callable[[Document], Consent | None]
"""Shows the preview to people, and returns their consent; None to write nothing."""


def init(inputs: InitInputs, runtime: Runtime, decide: Decide[InitDocument]) -> InitDocument:
    """Read both repositories, plan, ask for consent, and write.

    Files of people change only with consent; a second run changes nothing. Raises UsageError for
    impossible inputs, KalypsoError for a repository that cannot be read or written.
    """
    sandbox = runtime.environment.get(IN_SANDBOX, "")
    with open_repositories(inputs, runtime) as repositories:
        current = read_current_state(inputs, repositories)
        placeholders, unpinned = placeholders_of(inputs, repositories)
        current = replace(current, warnings=(*current.warnings, *unpinned))
        plans = _plans(placeholders, repositories, current)
        document = partial(_document, inputs, repositories, current, plans, sandbox)
        return decided(plans, inputs, repositories, decide, document)


def decided(
    plans: Sequence[BranchPlan],
    inputs: OnboardingInputs,
    repositories: InitRepositories,
    decide: Decide[Document],
    document: Callable[[Consent | None, Sequence[WrittenBranch], Sequence[Write]], Document],
) -> Document:
    """Show the plans, write them with consent, and return the document of what was written.

    `document` makes that of a preview without consent. Raises KalypsoError.
    """
    own_heads = read_own_heads(plans, repositories) if inputs.pull_request else None
    writes: list[Write] = []
    if inputs.dry_run and repositories.github:
        agreed = given_consent(inputs)
        writes = [write for plan in plans for write in branch_writes(plan, agreed, own_heads)]
    preview = document(None, (), writes)
    consent = decide(preview)
    if consent is None:
        return preview
    return document(consent, write_plans(plans, consent, own_heads, repositories), ())


def given_consent(inputs: OnboardingInputs) -> Consent:
    """Return the consent that the options give."""
    return Consent(inputs.update_workflows, inputs.delete_upstream_workflows)


def placeholders_of(
    inputs: OnboardingInputs, repositories: InitRepositories
) -> tuple[Placeholders, tuple[Problem, ...]]:
    """Return the values of the placeholders, and a warning if the actions cannot be pinned.

    By default, the workflows use the commit from which this version was installed, else that of
    the version's tag.
    """
    control_plane = repositories.own.name
    action, _, ref = (inputs.action or DEFAULT_ACTION).partition("@")
    if inputs.action:
        return Placeholders(action, ref, control_plane), ()
    version = f"v{__version__}"
    commit = installed_commit(action) or repositories.commit_of_tag(action, version)
    if commit:
        return Placeholders(action, commit, control_plane, version), ()
    warning = Problem(
        f"the workflows use {action} by the tag {ref}: whoever can move it runs code with the "
        "secrets of your jobs",
        Location(control_plane),
        f"pin it to a commit that you have reviewed: --action {action}@COMMIT",
    )
    return Placeholders(action, ref, control_plane), (warning,)


def _plans(
    placeholders: Placeholders, repositories: InitRepositories, current: CurrentState
) -> tuple[BranchPlan, ...]:
    return plan_branches(
        current.setup,
        current.states,
        StarterFiles(starter_texts()),
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


def starter_texts() -> dict[str, str]:
    """Return the texts of the first files by path."""
    return {
        file.relative_to(STARTER).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(STARTER.rglob("*"))
        if file.is_file()
    }


def _document(
    inputs: InitInputs,
    repositories: InitRepositories,
    current: CurrentState,
    plans: Sequence[BranchPlan],
    sandbox: str,
    consent: Consent | None = None,
    written: Sequence[WrittenBranch] = (),
    writes: Sequence[Write] = (),
) -> InitDocument:
    """Return the preview without `consent`; with it, the result of each plan.

    `sandbox` is the folder of the sandbox that serves the repositories, or "".
    """
    setup = current.setup
    on_github = (
        *remaining_tasks(
            setup,
            repositories.facts,
            app_permissions(),
            jobs_propose=_jobs_propose(current),
            annotated=annotated_environments(setup, plans),
        ),
        *closing_tasks(setup, written, _clone_folders(inputs)),
    )
    tasks = sandbox_tasks(setup, sandbox) if sandbox else on_github
    return InitDocument(
        control_plane=setup.control_plane.name,
        gitops=setup.gitops.name,
        environments=tuple(environment.name for environment in setup.environments),
        **result_fields(plans, inputs, tasks, current.warnings, consent, written, writes),
    )


def result_fields(
    plans: Sequence[BranchPlan],
    inputs: OnboardingInputs,
    tasks: Iterable[Task],
    warnings: Iterable[Problem],
    consent: Consent | None,
    written: Sequence[WrittenBranch],
    writes: Sequence[Write],
) -> dict[str, Any]:
    """Return the document's fields of the plans, of what was written, and of what is left.

    The options count as consent for the tasks and the warnings of a preview.
    """
    agreed = consent or given_consent(inputs)
    results = {_key(branch.plan): branch for branch in written}
    return {
        "written": any(branch.commit for branch in written),
        "branches": tuple(_branch(plan, consent, results.get(_key(plan))) for plan in plans),
        "remaining": tuple(
            InitTaskEntry(
                title=task.title, text=task.text, links=dict(task.links), lines=task.lines
            )
            for task in (*obsolete_tasks(plans, agreed), *tasks)
        ),
        "writes": WriteEntry.all_of(writes),
        "warnings": ProblemEntry.all_of([*warnings, *kept_warnings(plans, agreed)]),
    }


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
