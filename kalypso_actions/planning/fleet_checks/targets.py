"""Deployment targets that run nowhere, and registrations whose targets cannot run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import (
    FOREIGN_ENVIRONMENTS_ANNOTATION,
    RESERVED_LABELS,
    DeploymentTarget,
    WorkloadRegistration,
)
from kalypso_actions.model.nearest import suggestion
from kalypso_actions.model.source_forms import branch_fault
from kalypso_actions.planning.fleet_checks.policies import MeantPolicy
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.scheduling import CompiledPolicy, RequirementMatch


def check_targets(view: FleetView, meant: Sequence[MeantPolicy], diagnostics: Diagnostics) -> None:
    """Check registrations, then the targets of Workloads and hand-written ones.

    `meant` are the corrected copies of misspelled policies: the targets that they select are not
    reported.
    """
    unplaced = {
        registration.name: registration
        for scope in view.scopes
        for registration in scope.without_workspace
    }
    workspaces = {policy.workspace for scope in view.scopes for policy in scope.policies} - {""}
    names = abbreviated(sorted(workspaces), MAX_LISTED)
    diagnostics.warnings += (_workspace_problem(item, names) for item in unplaced.values())
    diagnostics.warnings += _missing_applications(view)
    diagnostics.warnings += _unselected(view, meant, unplaced.keys())
    diagnostics.warnings += _of_other_environments(view)
    _labels_without_effect(view, diagnostics)
    diagnostics.warnings += _branches_of_manifests(view)
    if view.environments is not None:
        diagnostics.warnings += _unknown_environments(view, view.environments.keys())


def _workspace_problem(registration: WorkloadRegistration, workspaces: str) -> Problem:
    return Problem(
        f"WorkloadRegistration {registration.name!r} has no workspace, and policies ask for one: "
        "none selects its targets",
        registration.workspace_where or registration.where,
        f"add spec.workspace; policies ask for {workspaces}",
        "registration-without-workspace",
    )


def _missing_applications(view: FleetView) -> Iterator[Problem]:
    missing = {
        registration.name: (registration, scope.missing[registration.name])
        for scope in view.scopes
        for registration in scope.unread
        if registration.name in scope.missing
    }
    for registration, cause in missing.values():
        source = registration.source
        reason = cause.message
        advice = (
            f"correct repo, branch ({source.branch}) and path ({source.path}), or give access by "
            "the token and by allowed-repositories"
        )
        if source.lacks_branch(reason):
            _, meant = branch_fault(source.branch)
            hint = cause.advice if "branch" in cause.advice else advice
            advice = f"write {meant}" if meant else hint
        yield Problem(
            f"the application of WorkloadRegistration {registration.name!r} is missing from the "
            f"fleet: {reason}",
            source.culprit(reason.removeprefix(f"{source.repo}: "), registration.where),
            advice,
            "application-missing",
        )


def _unselected(
    view: FleetView, meant: Sequence[MeantPolicy], unplaced: Collection[str]
) -> Iterator[Problem]:
    """Report the targets that no policy selects, together for each Workload.

    A policy with a reported fault may select more targets once it is repaired.
    """
    by_workload: dict[tuple[str, str], list[tuple[DeploymentTarget, FleetScope]]] = {}
    for scope in view.scopes:
        selected_as_meant = {
            target.name
            for item in meant
            if item.environment == scope.environment
            for target in item.policy.selected_targets(scope.targets_by_label)
        }
        for target in scope.fleet.targets:
            if target.registration in unplaced or scope.is_selected(target):
                continue
            if not (target.name in selected_as_meant or _may_be_selected(target, scope)):
                key = target.registration, target.workload or target.name
                by_workload.setdefault(key, []).append((target, scope))
    for unselected in by_workload.values():
        target, scope = unselected[0]
        names = abbreviated(
            [f"{item.name!r} in {place.environment}" for item, place in unselected], MAX_LISTED
        )
        yield Problem(
            f"no SchedulingPolicy selects the deployment target {names}",
            target.where,
            _policy_advice(target, scope),
            "target-unselected",
        )


def _may_be_selected(target: DeploymentTarget, scope: FleetScope) -> bool:
    """Whether an invalid policy, which has its own problem, requires the target's workspace."""
    return any(policy.workspace in {"", target.workspace} for policy in scope.invalid_policies)


def _policy_advice(target: DeploymentTarget, scope: FleetScope) -> str:
    """Return advice that compares a target with the nearest policy."""
    if not scope.policies:
        if scope.own_policies:
            name = scope.own_policies[0]
            return f"the SchedulingPolicy {name!r} is ignored: correct its apiVersion"
        return f"{scope.environment} has no SchedulingPolicy: add one to its branch"
    near = min(scope.policies, key=lambda policy: len(_failing(policy, target)))
    failing = _failing(near, target)
    required = ", ".join(match.requirement for match in failing)
    given = ", ".join("none" if match.value is None else match.value or '""' for match in failing)
    return f"SchedulingPolicy {near.name!r} asks for {required}; the target has {given}"


def _failing(policy: CompiledPolicy, target: DeploymentTarget) -> list[RequirementMatch]:
    return [match for match in policy.explain_target(target) if not match.matched]


def _of_other_environments(view: FleetView) -> Iterator[Problem]:
    """Report hand-written targets that are on the branch of another environment."""
    for scope in view.scopes:
        for target in scope.fleet.other_targets:
            if scope.is_own(target) and target.environment in (view.environments or {}):
                yield Problem(
                    f"deployment target {target.name!r} is on the branch of {scope.environment}, "
                    f"but names the environment {target.environment!r}: it runs nowhere",
                    target.environment_where or target.where,
                    f"write {scope.environment}, or move it to the branch of {target.environment}",
                    "target-environment-other",
                )


def _unknown_environments(view: FleetView, known: Collection[str]) -> Iterator[Problem]:
    names = abbreviated(sorted(known), MAX_LISTED) or "none"
    for target, foreign in _targets_once(view):
        if target.environment in known or target.environment in foreign:
            continue
        advice = f"{suggestion(target.environment, sorted(known))}Environments: {names}"
        if target.registration:
            annotation = FOREIGN_ENVIRONMENTS_ANNOTATION
            advice += f"; the Workload's annotation {annotation} may list environments of other "
            advice += "control planes"
        yield Problem(
            f"deployment target {target.name!r} names the environment {target.environment!r}, "
            "which this control plane does not have: it runs nowhere",
            target.environment_where or target.where,
            advice,
            "target-environment-unknown",
        )


def _targets_once(view: FleetView) -> Iterator[tuple[DeploymentTarget, tuple[str, ...]]]:
    """Yield every target with the environments of other control planes that its Workload names."""
    seen = set()
    for scope in view.scopes:
        pairs = [
            *((target, w.foreign_environments) for w in scope.workloads for target in w.targets),
            *((target, ()) for target in scope.fleet.other_targets),
        ]
        for target, foreign in pairs:
            key = target.registration, target.name, target.where
            if key not in seen:
                seen.add(key)
                yield target, foreign


def _labels_without_effect(view: FleetView, diagnostics: Diagnostics) -> None:
    """Report labels of Workloads whose value another one replaces, each once."""
    replaced: dict[tuple[Location, str], list[tuple[DeploymentTarget, str]]] = {}
    for target, _ in _targets_once(view):
        for key, (value, where) in target.written_labels.items():
            if target.labels.get(key) != value:
                replaced.setdefault((where, key), []).append((target, value))
    for (where, key), targets in replaced.items():
        target, value = targets[0]
        is_reserved = key in RESERVED_LABELS
        other = f"its value is {target.labels.get(key)}, from the " + (
            "registration" if is_reserved else "Workload"
        )
        problem = Problem(
            f"Workload {target.workload!r}: the label {key} = {value} has no effect: {other}",
            where,
            "remove it: this label is reserved"
            if is_reserved
            else f"remove {key} from the Workload's metadata.labels, or from the target",
            "target-label-replaced",
        )
        (diagnostics.notes if is_reserved else diagnostics.warnings).append(problem)


def _branches_of_manifests(view: FleetView) -> Iterator[Problem]:
    """Report names of branches that mean another branch, once for each Workload and name."""
    seen = set()
    for target, _ in _targets_once(view):
        branch = target.manifests.get("branch", "")
        key = target.registration, target.workload, branch
        fault, meant = branch_fault(branch) if branch else ("", "")
        if meant and key not in seen:
            seen.add(key)
            yield Problem(
                f"Workload {target.workload!r}: manifests.branch is {branch!r}, which {fault}",
                target.at("branch"),
                f"write {meant}",
                "branch-name-invalid",
            )
