"""Policies that select nothing or the same as another, and cluster types without policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.fleet_checks.label_advice import (
    label_advice,
    mismatch,
    misspelled_values,
)
from kalypso_actions.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.kinds import LabelSelector, SchedulingPolicy
from kalypso_actions.model.nearest import nearest
from kalypso_actions.scheduling import CompiledPolicy, Requirement, Selector, compile_policy

Scopes = tuple[FleetScope, ...]


@dataclass(frozen=True, slots=True)
class MeantPolicy:
    """The probable correction of a policy, after a warning about its selector of targets."""

    environment: str
    policy: CompiledPolicy


def check_policies(view: FleetView, diagnostics: Diagnostics) -> list[MeantPolicy]:
    """Check each valid policy and cluster type; return corrected copies of misspelled policies."""
    meant: list[MeantPolicy] = []
    for policy, scopes in view.judged(lambda fleet: fleet.policies):
        compiled, _ = compile_policy(policy)
        if compiled is not None:
            diagnostics.warnings += _of_cluster_types(compiled, scopes, view)
            repaired = _check_targets(compiled, scopes, view, diagnostics)
            meant += (MeantPolicy(scope.environment, item) for scope in scopes for item in repaired)
    diagnostics.warnings += _equal(view)
    diagnostics.notes += _unselected_cluster_types(view)
    return meant


def _of_cluster_types(policy: CompiledPolicy, scopes: Scopes, view: FleetView) -> Iterator[Problem]:
    """Report a policy without cluster types, or else the misspelled values of its selector."""
    labels = [item.labels for scope in scopes for item in scope.fleet.cluster_types]
    selector = policy.policy.cluster_types
    if not any(map(policy.cluster_types.matches, labels)):
        fault = mismatch(policy.cluster_types.requirements, labels, "cluster type")
        yield Problem(
            f"SchedulingPolicy {policy.name!r} selects no cluster type{_placed(policy, scopes)}: "
            f"{fault.reason}",
            selector.at(fault.key, fault.value),
            fault.advice,
            "policy-without-cluster-types",
        )
        return
    known = [item.labels for scope in view.scopes for item in scope.fleet.cluster_types]
    for requirement in policy.cluster_types.requirements:
        for value, _ in misspelled_values(requirement, known):
            yield _unknown_value(policy, selector, requirement.key, value, known, "cluster type")


def _placed(policy: CompiledPolicy, scopes: Scopes) -> str:
    """Say how many targets a policy without cluster types places nowhere."""
    targets = {
        target.name
        for scope in scopes
        for target in scope.fleet.targets
        if policy.selects_target(target)
    }
    return f" for its {counted(len(targets), 'target')}" if targets else ""


def _check_targets(
    policy: CompiledPolicy, scopes: Scopes, view: FleetView, diagnostics: Diagnostics
) -> list[CompiledPolicy]:
    """Report a policy without targets; add a note if targets of other environments match.

    Return the corrected policy if a label or value is misspelled.
    """
    unknown_workspace = _unknown_workspace(policy, scopes)
    if unknown_workspace:
        close, warning = unknown_workspace
        # A registration without workspace has its own problem, and may be meant to have this one.
        if close or not any(scope.without_workspace for scope in scopes):
            diagnostics.warnings.append(warning)
        return [replace(policy, policy=replace(policy.policy, workspace=close))] if close else []
    if any(scope.may_have_more_targets(policy.workspace) for scope in scopes):
        return []
    selector = policy.policy.deployment_targets
    noun = f"deployment target of {policy.workspace}" if policy.workspace else "deployment target"
    if any(policy.selects_target(target) for scope in scopes for target in scope.fleet.targets):
        known = _labels(policy, view.scopes)
        meant = []
        for requirement in policy.targets.requirements:
            for value, as_meant in misspelled_values(requirement, known):
                diagnostics.warnings.append(
                    _unknown_value(policy, selector, requirement.key, value, known, noun)
                )
                meant.append(_repaired(policy, requirement, as_meant))
        return meant
    others = [target for scope in scopes for target in scope.all_targets]
    subject = f"SchedulingPolicy {policy.name!r} selects no deployment target"
    if any(map(policy.selects_target, others)):
        message = f"{subject} of {', '.join(scope.environment for scope in scopes)}, only of others"
        diagnostics.notes.append(Problem(message, selector.where, code="policy-without-targets"))
        return []
    fault = mismatch(policy.targets.requirements, _labels(policy, scopes), noun)
    where = selector.at(fault.key, fault.value)
    message = f"{subject}: {fault.reason}"
    diagnostics.warnings.append(Problem(message, where, fault.advice, "policy-without-targets"))
    return [replace(policy, targets=Selector(fault.meant))] if fault.meant else []


def _labels(policy: CompiledPolicy, scopes: Scopes) -> list[Mapping[str, str]]:
    """Return the labels of all targets that a policy may select by its workspace."""
    return [
        target.labels
        for scope in scopes
        for target in scope.all_targets
        if policy.workspace in {"", target.workspace}
    ]


def _repaired(policy: CompiledPolicy, old: Requirement, new: Requirement) -> CompiledPolicy:
    requirements = (new if item is old else item for item in policy.targets.requirements)
    return replace(policy, targets=Selector(tuple(requirements)))


def _unknown_value(
    policy: CompiledPolicy,
    selector: LabelSelector,
    key: str,
    value: str,
    known: Sequence[Mapping[str, str]],
    noun: str,
) -> Problem:
    return Problem(
        f"SchedulingPolicy {policy.name!r} names {key} = {value}, which no {noun} has",
        selector.at(key, value),
        label_advice(key, [value], known, noun),
        "selector-value-unknown",
    )


def _unknown_workspace(policy: CompiledPolicy, scopes: Scopes) -> tuple[str, Problem] | None:
    """Return the workspace that was probably meant, "" for none, and the warning."""
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
    return close, Problem(
        f"SchedulingPolicy {policy.name!r} selects no deployment target: no WorkloadRegistration "
        f"has the workspace {policy.workspace!r}",
        policy.policy.workspace_where or policy.policy.where,
        f"{suggestion}Workspaces: {abbreviated(sorted(known), MAX_LISTED) or 'none'}",
        "policy-workspace-unknown",
    )


def _equal(view: FleetView) -> Iterator[Problem]:
    """Report the later of two policies with equal selectors, at its name."""
    for scope in view.scopes:
        first: dict[object, SchedulingPolicy] = {}
        for compiled in sorted(scope.policies, key=lambda item: _order(item.policy, scope)):
            policy = compiled.policy
            selectors = (
                policy.workspace,
                frozenset(compiled.targets.requirements),
                frozenset(compiled.cluster_types.requirements),
            )
            other = first.setdefault(selectors, policy)
            if other is not policy:
                yield Problem(
                    f"SchedulingPolicy {policy.name!r} selects the same as {other.name!r} in "
                    f"{other.where}",
                    policy.name_where or policy.where,
                    "remove one of the two, or correct its selectors",
                    "policies-equal",
                    related=(other.where,),
                )


def _order(policy: SchedulingPolicy, scope: FleetScope) -> tuple[bool, Location]:
    """Sort the policies of main before those of the environment, then by their places."""
    return scope.is_own(policy), policy.where


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
