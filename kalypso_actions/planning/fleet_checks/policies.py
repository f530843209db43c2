"""Policies that select nothing or the same as another, and cluster types without policies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model import kinds
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.kinds import (
    MAIN_BASE_REPO,
    ClusterType,
    LabelSelector,
    SchedulingPolicy,
)
from kalypso_actions.model.nearest import misspelled, nearest
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.scheduling import CompiledPolicy, compile_policy
from kalypso_actions.scheduling.interface import Requirement, Selector
from kalypso_actions.scheduling.labels import LabelIndex, TargetIndex

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
            _always_true(compiled, scopes, view, diagnostics)
            repaired = _check_targets(compiled, scopes, view, diagnostics)
            meant += (MeantPolicy(scope.environment, item) for scope in scopes for item in repaired)
    diagnostics.warnings += _equal(view)
    diagnostics.warnings += _on_main(view)
    diagnostics.notes += _unselected_cluster_types(view)
    return meant


def _on_main(view: FleetView) -> Iterator[Problem]:
    for scope in view.scopes:
        others = {name for kind, name in scope.own if kind == "BaseRepo"} - {MAIN_BASE_REPO}
        if view.environments and not others:
            yield from (
                policy_on_main(item) for item in scope.fleet.policies if not scope.is_own(item)
            )


def policy_on_main(policy: SchedulingPolicy) -> Problem:
    """Return the warning on a policy that is not on the branch of an environment."""
    return Problem(
        f"SchedulingPolicy {policy.name!r} is on main: it places workloads in every environment as "
        "soon as the commit is promoted there",
        policy.where,
        "move it to the branches of the environments that it is for",
        "policy-on-main",
    )


def _of_cluster_types(policy: CompiledPolicy, scopes: Scopes, view: FleetView) -> Iterator[Problem]:
    """Report a policy without cluster types, or else the misspelled values of its selector."""
    selector = policy.policy.cluster_types
    by_label = (scope.cluster_types_by_label for scope in scopes)
    if not any(True for index in by_label for _ in index.selected(policy.cluster_types)):
        labels = _cluster_type_labels(scopes)
        fault = mismatch(policy.cluster_types.requirements, labels, "cluster type")
        yield Problem(
            f"SchedulingPolicy {policy.name!r} selects no cluster type{_placed(policy, scopes)}: "
            f"{fault.reason}",
            selector.at(fault.key, fault.value),
            fault.advice,
            "policy-without-cluster-types",
        )
        return
    for requirement in policy.cluster_types.requirements:
        key = requirement.key
        present = [scope.cluster_types_by_label.having(key) for scope in view.scopes]
        for value, _ in misspelled_values(requirement, present):
            known = _cluster_type_labels(view.scopes)
            yield _unknown_value(policy, selector, key, value, known, "cluster type")


def _cluster_type_labels(scopes: Scopes) -> list[Mapping[str, str]]:
    return [item.labels for scope in scopes for item in scope.fleet.cluster_types]


def _placed(policy: CompiledPolicy, scopes: Scopes) -> str:
    """Say how many targets a policy without cluster types selects but places nowhere."""
    targets = {
        target.name
        for scope in scopes
        for target in policy.selected_targets(scope.targets_by_label)
    }
    return f" for its {counted(len(targets), 'target')}" if targets else ""


def _check_targets(
    policy: CompiledPolicy, scopes: Scopes, view: FleetView, diagnostics: Diagnostics
) -> list[CompiledPolicy]:
    """Report a policy without targets; add a note if targets of other environments match.

    Return the corrected policy if a label or value is misspelled.
    """
    unknown_workspace = _unknown_workspace(policy, scopes, view)
    if unknown_workspace:
        close, warning = unknown_workspace
        # A registration without workspace, which has its own problem, may belong to this workspace.
        if close or not any(scope.without_workspace for scope in scopes):
            diagnostics.warnings.append(warning)
        return [replace(policy, policy=replace(policy.policy, workspace=close))] if close else []
    if any(scope.may_have_more_targets(policy.workspace) for scope in scopes):
        return []
    selector = policy.policy.deployment_targets
    noun = f"deployment target of {policy.workspace}" if policy.workspace else "deployment target"
    if _selects_any(policy, (scope.targets_by_label for scope in scopes)):
        meant = []
        by_label = [scope.all_targets_by_label.of(policy.workspace) for scope in view.scopes]
        for requirement in policy.targets.requirements:
            key = requirement.key
            present = [index.having(key) for index in by_label]
            for value, as_meant in misspelled_values(requirement, present):
                known = _target_labels(policy, view.scopes)
                warning = _unknown_value(policy, selector, key, value, known, noun)
                diagnostics.warnings.append(warning)
                meant.append(_repaired(policy, requirement, as_meant))
        return meant
    subject = f"SchedulingPolicy {policy.name!r} selects no deployment target"
    if _selects_any(policy, (scope.all_targets_by_label for scope in scopes)):
        names = ", ".join(scope.environment for scope in scopes)
        message = f"{subject} of {names}, only targets of other environments"
        diagnostics.notes.append(Problem(message, selector.where, code="policy-without-targets"))
        return []
    fault = mismatch(policy.targets.requirements, _target_labels(policy, scopes), noun)
    where = selector.at(fault.key, fault.value)
    message = f"{subject}: {fault.reason}"
    diagnostics.warnings.append(Problem(message, where, fault.advice, "policy-without-targets"))
    return [replace(policy, targets=Selector(fault.meant))] if fault.meant else []


def _always_true(
    policy: CompiledPolicy, scopes: Scopes, view: FleetView, diagnostics: Diagnostics
) -> None:
    """Report NotIn and DoesNotExist over labels that no object has: they exclude nothing.

    A label that may be meant for future objects is a note, unless it resembles one that exists.
    """
    of_targets = _target_labels(policy, view.scopes)
    if any(scope.may_have_more_targets(policy.workspace) for scope in scopes):
        of_targets = []
    for selector, compiled, objects, noun in (
        (
            policy.policy.cluster_types,
            policy.cluster_types,
            _cluster_type_labels(view.scopes),
            "cluster type",
        ),
        (policy.policy.deployment_targets, policy.targets, of_targets, "deployment target"),
    ):
        keys = {key for labels in objects for key in labels} - FLUX_LABELS
        for requirement in compiled.requirements:
            key = requirement.key
            if requirement.operator in {"In", "Exists"} or not keys or key in {*keys, *FLUX_LABELS}:
                continue
            meant = misspelled(key, keys) or _with_value(requirement, objects)
            suggestion = f"did you mean {meant}? " if meant else ""
            known = abbreviated(sorted(keys), MAX_LISTED)
            problem = Problem(
                f"SchedulingPolicy {policy.name!r}: {requirement} excludes nothing: no {noun} has "
                f"the label {key}",
                selector.at(key),
                f"{suggestion}A {noun} has the labels {known}",
                "selector-label-unknown",
            )
            (diagnostics.warnings if meant else diagnostics.notes).append(problem)


def _with_value(requirement: Requirement, objects: Iterable[Labels]) -> str:
    """Return a similar label that has one of the required values; "" without one."""
    values = requirement.values - _BOOLEANS
    keys = {key for labels in objects for key, value in labels.items() if value in values}
    return nearest(requirement.key, sorted(keys - FLUX_LABELS))


def _selects_any(policy: CompiledPolicy, targets: Iterable[TargetIndex]) -> bool:
    return any(True for index in targets for _ in policy.selected_targets(index))


def _target_labels(policy: CompiledPolicy, scopes: Scopes) -> list[Mapping[str, str]]:
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


def _unknown_workspace(
    policy: CompiledPolicy, scopes: Scopes, view: FleetView
) -> tuple[str, Problem] | None:
    """Return the workspace that was probably meant, "" for none, and the warning."""
    if not policy.workspace or any(policy.workspace in scope.workspaces for scope in scopes):
        return None
    known = sorted(set[str]().union(*(scope.workspaces for scope in scopes)))
    close = nearest(policy.workspace, known)
    suggestion = f"did you mean {close}? " if close else ""
    of_others = (
        f"the WorkloadRegistration {item.name!r} is on the branch of {scope.environment} alone "
        f"({item.where.path}): move it to main. "
        for scope in view.scopes
        for item in scope.fleet.registrations
        if item.workspace == policy.workspace
    )
    suggestion = next(of_others, suggestion)
    return close, Problem(
        f"SchedulingPolicy {policy.name!r} selects no deployment target: no WorkloadRegistration "
        f"has the workspace {policy.workspace!r}",
        policy.policy.workspace_where or policy.policy.where,
        f"{suggestion}Workspaces: {abbreviated(known, MAX_LISTED) or 'none'}",
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
    judged = list(view.judged(lambda fleet: fleet.cluster_types))
    judged_in: dict[FleetScope, list[ClusterType]] = {scope: [] for scope in view.scopes}
    for cluster_type, scopes in judged:
        for scope in scopes:
            judged_in[scope].append(cluster_type)
    selected = {
        scope: _selected(cluster_types, scope.policies)
        for scope, cluster_types in judged_in.items()
    }
    for cluster_type, scopes in judged:
        if not any(cluster_type.name in selected[scope] for scope in scopes):
            yield Problem(
                f"no SchedulingPolicy selects the cluster type {cluster_type.name!r}",
                cluster_type.where,
                "add a policy if workloads belong there",
                "cluster-type-unselected",
            )


def _selected(cluster_types: Sequence[ClusterType], policies: Iterable[CompiledPolicy]) -> Set[str]:
    """Return the names of the cluster types that at least one policy selects."""
    by_label = LabelIndex(cluster_types)
    names: set[str] = set()
    for policy in policies:
        names |= {item.name for item in by_label.selected(policy.cluster_types, besides=names)}
    return names


FLUX_LABELS: Final = frozenset({kinds.FLUX_NAME_LABEL, kinds.FLUX_NAMESPACE_LABEL})

Labels = Mapping[str, str]

_BOOLEANS: Final = frozenset({"true", "false"})
"""Values that many labels have: an equal value does not tell which label is meant."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why nothing matches: the deciding label ("" for none), a sentence, and advice.

    `value` is the value that no object has; "" if no object has the label at all. `meant` are the
    requirements, with the deciding one corrected; None if no label resembles it.
    """

    key: str
    reason: str
    advice: str
    meant: tuple[Requirement, ...] | None = None
    value: str = ""


def mismatch(requirements: Sequence[Requirement], objects: Sequence[Labels], noun: str) -> Mismatch:
    """Explain why none of the objects, each a `noun`, has all of these labels."""
    if not objects:
        return Mismatch("", f"there is no {noun}", f"add a {noun}, or remove this")
    for requirement in requirements:
        if not any(requirement.matches(labels) for labels in objects):
            advice = label_advice(requirement.key, requirement.values, objects, noun)
            if requirement.operator in {"NotIn", "DoesNotExist"}:
                known = abbreviated(_values(requirement.key, objects), MAX_LISTED)
                advice = (
                    f"every {noun} has what this leaves out: remove the requirement, or leave less "
                    f"out; values of {requirement.key}: {known}"
                )
            meant = _meant(requirement, objects)
            misspelled_label = None if meant else _misspelled_label((requirement,), objects)
            if misspelled_label:
                key, label = misspelled_label
                advice = f"a {noun} has {label}: did you mean {key} there? Otherwise {advice}"
            repaired = tuple(meant if r is requirement else r for r in requirements if meant)
            is_known = any(requirement.key in labels for labels in objects)
            return Mismatch(
                requirement.key,
                f"no {noun} has {requirement}",
                advice,
                repaired or None,
                min(requirement.values, default="") if is_known else "",
            )
    both = ", ".join(map(str, requirements))
    counts = dict.fromkeys((r.key for r in requirements), 0)
    for labels in objects:
        failing = [r.key for r in requirements if not r.matches(labels)]
        if len(failing) == 1:
            counts[failing[0]] += 1
    key = max(counts, key=lambda name: counts[name], default="")
    advice = f"remove a requirement, or label a {noun} so that it has all of them"
    misspelled_label = _misspelled_label(requirements, objects)
    if misspelled_label:
        key, label = misspelled_label
        advice = f"a {noun} has {label}: did you mean {key} there? Otherwise {advice}"
    return Mismatch(key, f"no {noun} has all of {both}", advice)


def label_advice(key: str, values: Collection[str], objects: Sequence[Labels], noun: str) -> str:
    """Return advice with the label that was probably meant and the existing labels."""
    known = _values(key, objects)
    if known:
        close = _nearest_value(values, known)
        suggestion = f"did you mean {key}: {close}? " if close else ""
        others = f"values of {key}: {abbreviated(known, MAX_LISTED)}"
        return suggestion.rstrip() if known == [close] else f"{suggestion}{others}"
    if any(key in item for item in objects):
        return f"a {noun} has the label {key}, but it is empty there: write its value"
    labels = _labels(objects)
    close = _nearest_key(key, values, labels)
    suggestion = (
        f"did you mean the label {close}? If {close} is misspelled, rename it there. "
        if close
        else ""
    )
    keys = sorted({name for name, _ in labels})
    if not keys:
        return f"no {noun} has labels"
    return f"{suggestion}A {noun} has the labels {abbreviated(keys, MAX_LISTED)}"


def misspelled_values(
    requirement: Requirement, present: Sequence[Collection[str]]
) -> Iterator[tuple[str, Requirement]]:
    """Yield each probably misspelled value, with the corrected requirement.

    `present` are the values of the label by environment. A value that no object has may be meant
    for a future object, so it only counts as misspelled if it resembles a value that objects have
    and the requirement does not list.
    """
    values = requirement.values
    unknown = [value for value in sorted(values) if not any(value in known for known in present)]
    if not unknown or requirement.key in FLUX_LABELS:
        return
    others = set[str]().union(*present) - values
    for value in unknown:
        meant = misspelled(value, others)
        if meant:
            yield value, replace(requirement, values=values - {value} | {meant})


def _misspelled_label(
    requirements: Sequence[Requirement], objects: Iterable[Labels]
) -> tuple[str, str] | None:
    """Find an object that lacks one required key only; return the key and a similar label."""
    for labels in objects:
        failing = [item for item in requirements if not item.matches(labels)]
        if len(failing) == 1 and failing[0].key not in labels:
            with_value = not failing[0].values.isdisjoint(labels.values())
            close = nearest(failing[0].key, labels) if with_value else ""
            if close and labels[close] in failing[0].values:
                return failing[0].key, f"{close}: {labels[close]}"
    return None


def _meant(requirement: Requirement, objects: Sequence[Labels]) -> Requirement | None:
    """Return a requirement with the nearest value or label that exists, if one is near."""
    known = _values(requirement.key, objects)
    if known:
        close = _nearest_value(requirement.values, known)
        return replace(requirement, values=frozenset({close})) if close else None
    close = _nearest_key(requirement.key, requirement.values, _labels(objects))
    return replace(requirement, key=close) if close else None


def _values(key: str, objects: Iterable[Labels]) -> list[str]:
    """Return the values of a label, sorted."""
    return [] if key in FLUX_LABELS else sorted({item.get(key, "") for item in objects} - {""})


def _labels(objects: Iterable[Labels]) -> set[tuple[str, str]]:
    pairs = {pair for labels in objects for pair in labels.items()}
    return {(key, value) for key, value in pairs if value and key not in FLUX_LABELS}


def _nearest_value(values: Collection[str], known: Sequence[str]) -> str:
    return next(filter(None, (nearest(value, known) for value in sorted(values))), "")


def _nearest_key(key: str, values: Collection[str], labels: Collection[tuple[str, str]]) -> str:
    distinctive = {*values} - _BOOLEANS
    of_value = sorted({name for name, value in labels if value in distinctive})
    return nearest(key, sorted({name for name, _ in labels})) or next(iter(of_value), "")
