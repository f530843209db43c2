"""Find the policies that select a target and a cluster type, and the terms that fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kalypso_actions.errors import Location
from kalypso_actions.planning.explanation.environment import ExplainedEnvironment
from kalypso_actions.planning.explanation.names import Question
from kalypso_actions.report.documents import Where
from kalypso_actions.report.explain_document import (
    DecisionEntry,
    PairEntry,
    PolicyEntry,
    StepEntry,
    TermEntry,
)
from kalypso_actions.scheduling import Decision, RequirementMatch


def explain_pairs(question: Question) -> tuple[PairEntry, ...]:
    """Return the reason why each pair of a question is assigned or not.

    The decisions on a pair are sorted from the nearest to the farthest: by the number of failing
    terms, then by the number of matching ones; a policy for the target precedes one for the cluster
    type. For several pairs, return only the decisions that select a pair, or else the nearest.
    """
    environment = question.environment
    places = {policy.name: policy.where for policy in environment.fleet.policies}
    policies = {
        (item.target.name, item.cluster_type.name): item.policies
        for item in environment.schedule.assignments
    }
    entries = []
    for target, cluster_type in question.pairs:
        decisions = environment.schedule.explain(target, cluster_type)
        ordered = sorted((decision_entry(item, places) for item in decisions), key=_distance)
        if not question.names_a_pair:
            ordered = [item for item in ordered if item.selected] or ordered[:1]
        entries.append(
            PairEntry(
                target=target.name,
                cluster_type=cluster_type.name,
                target_where=Where.of(target.where),
                cluster_type_where=Where.of(cluster_type.where),
                policies=policies.get((target.name, cluster_type.name), ()),
                decisions=tuple(ordered),
            )
        )
    return tuple(entries)


def explain_policies(
    environment: ExplainedEnvironment,
) -> tuple[tuple[PolicyEntry, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the policies with their assignments, the unassigned targets, the empty cluster types.

    All of them come from the schedule, whatever scheduler made it.
    """
    fleet, assignments = environment.fleet, environment.schedule.assignments
    targets: dict[str, dict[str, None]] = {policy.name: {} for policy in fleet.policies}
    cluster_types: dict[str, dict[str, None]] = {policy.name: {} for policy in fleet.policies}
    for item in assignments:
        for name in item.policies:
            targets.setdefault(name, {})[item.target.name] = None
            cluster_types.setdefault(name, {})[item.cluster_type.name] = None
    places = {policy.name: policy.where for policy in fleet.policies}
    assigned = {item.target.name for item in assignments}
    used = {item.cluster_type.name for item in assignments}
    return (
        tuple(
            PolicyEntry(
                policy=name,
                where=Where.of(places.get(name)),
                targets=tuple(sorted(targets[name])),
                cluster_types=tuple(sorted(cluster_types[name])),
            )
            for name in targets
        ),
        tuple(item.name for item in fleet.targets if item.name not in assigned),
        tuple(item.name for item in fleet.cluster_types if item.name not in used),
    )


def decision_entry(decision: Decision, places: Mapping[str, Location]) -> DecisionEntry:
    """Return a decision as part of an answer; `places` are the places of the policies by name."""
    return DecisionEntry(
        policy=decision.policy,
        where=Where.of(places.get(decision.policy)),
        selected=decision.selected,
        target_terms=_terms(decision.target_matches),
        cluster_type_terms=_terms(decision.cluster_type_matches),
        steps=tuple(
            StepEntry(name=step.name, detail=step.detail, passed=step.passed)
            for step in decision.steps
        ),
    )


def _terms(matches: Iterable[RequirementMatch]) -> tuple[TermEntry, ...]:
    return tuple(
        TermEntry(
            requirement=match.requirement,
            value=match.value,
            matched=match.matched,
            where=Where.of(match.where),
        )
        for match in matches
    )


def _distance(entry: DecisionEntry) -> tuple[int, int, bool, str]:
    misses_target = not all(term.matched for term in entry.target_terms)
    return entry.misses, entry.misses - len(entry.terms), misses_target, entry.policy
