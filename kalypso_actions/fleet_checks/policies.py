"""Policies that select nothing, or what another one selects, and cluster types without policies."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.errors import Problem
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.fleet_checks.label_advice import mismatch
from kalypso_actions.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.model.nearest import nearest
from kalypso_actions.scheduling import CompiledPolicy, compile_policy

Scopes = tuple[FleetScope, ...]


def check_policies(view: FleetView, diagnostics: Diagnostics) -> None:
    """Check each valid policy, and each cluster type."""
    for policy, scopes in view.judged(lambda fleet: fleet.policies):
        compiled, _ = compile_policy(policy)
        if compiled is not None:
            diagnostics.warnings += _without_cluster_types(compiled, scopes)
            _check_targets(compiled, scopes, diagnostics)
    diagnostics.warnings += _equal(view)
    diagnostics.notes += _unselected_cluster_types(view)


def _without_cluster_types(policy: CompiledPolicy, scopes: Scopes) -> Iterator[Problem]:
    cluster_types = [item for scope in scopes for item in scope.fleet.cluster_types]
    if not any(policy.cluster_types.matches(item.labels) for item in cluster_types):
        labels = [item.labels for item in cluster_types]
        fault = mismatch(policy.cluster_types.requirements, labels, "cluster type")
        yield Problem(
            f"SchedulingPolicy {policy.name!r} selects no cluster type: {fault.reason}",
            policy.policy.cluster_types.at(fault.key),
            fault.advice,
            "policy-without-cluster-types",
        )


def _check_targets(policy: CompiledPolicy, scopes: Scopes, diagnostics: Diagnostics) -> None:
    """Report a policy without targets; a note if targets of other environments match."""
    unknown_workspace = _unknown_workspace(policy, scopes)
    if unknown_workspace:
        diagnostics.warnings.append(unknown_workspace)
        return
    targets = (target for scope in scopes for target in scope.fleet.targets)
    more = any(scope.may_have_more_targets(policy.workspace) for scope in scopes)
    if more or any(map(policy.selects_target, targets)):
        return
    others = [target for scope in scopes for target in scope.all_targets]
    subject = f"SchedulingPolicy {policy.name!r} selects no deployment target"
    if any(map(policy.selects_target, others)):
        message = f"{subject} of {', '.join(scope.environment for scope in scopes)}, only of others"
        where = policy.policy.deployment_targets.where
        diagnostics.notes.append(Problem(message, where, code="policy-without-targets"))
        return
    of_workspace = [
        target.labels for target in others if policy.workspace in {"", target.workspace}
    ]
    noun = f"deployment target of {policy.workspace}" if policy.workspace else "deployment target"
    fault = mismatch(policy.targets.requirements, of_workspace, noun)
    where = policy.policy.deployment_targets.at(fault.key)
    message = f"{subject}: {fault.reason}"
    diagnostics.warnings.append(Problem(message, where, fault.advice, "policy-without-targets"))


def _unknown_workspace(policy: CompiledPolicy, scopes: Scopes) -> Problem | None:
    known = {
        workspace
        for scope in scopes
        for workspace in (
            *(registration.workspace for registration in scope.fleet.registrations),
            *(target.workspace for target in scope.all_targets),
        )
        if workspace
    }
    if policy.workspace in {"", *known}:
        return None
    close = nearest(policy.workspace, sorted(known))
    suggestion = f"did you mean {close}? " if close else ""
    return Problem(
        f"SchedulingPolicy {policy.name!r} asks for the workspace {policy.workspace!r}, which no "
        "WorkloadRegistration has",
        policy.policy.workspace_where or policy.policy.where,
        f"{suggestion}Workspaces: {', '.join(sorted(known)) or 'none'}",
        "policy-workspace-unknown",
    )


def _equal(view: FleetView) -> Iterator[Problem]:
    """Report each later one of two policies with equal selectors."""
    for scope in view.scopes:
        first: dict[object, CompiledPolicy] = {}
        for policy in sorted(scope.policies, key=lambda item: scope.is_own(item.policy)):
            selectors = (
                policy.workspace,
                frozenset(policy.targets.requirements),
                frozenset(policy.cluster_types.requirements),
            )
            other = first.setdefault(selectors, policy)
            if other is not policy:
                yield Problem(
                    f"SchedulingPolicy {policy.name!r} selects the same as {other.name!r} in "
                    f"{other.policy.where}",
                    policy.policy.where,
                    "remove one of the two, or correct its selectors",
                    "policies-equal",
                )


def _unselected_cluster_types(view: FleetView) -> Iterator[Problem]:
    for cluster_type, scopes in view.judged(lambda fleet: fleet.cluster_types):
        policies = (policy for scope in scopes for policy in scope.policies)
        if not any(policy.cluster_types.matches(cluster_type.labels) for policy in policies):
            yield Problem(
                f"no SchedulingPolicy selects the cluster type {cluster_type.name!r}",
                cluster_type.where,
                "add a policy if workloads belong there",
                "cluster-type-unselected",
            )
