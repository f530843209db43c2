"""The scheduler `placement`, for policies that name a Placement or select by labels alone.

A policy that names a Placement assigns its targets to the cluster types that its
`clusterTypeSelector` and the Placement select. A misconfigured Placement keeps its last decision
and is reported as a problem.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kalypso_actions.errors import Finding, KalypsoError, Problem, UsageError
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet
from kalypso_actions.model.nearest import suggestion
from kalypso_actions.model.placements import (
    EVERY_TARGET,
    PLACEMENT_ANNOTATION,
    SCOPE_ANNOTATION,
    PlacedDecision,
    PlacementState,
)
from kalypso_actions.scheduling.interface import (
    Decision,
    DecisionStep,
    Schedule,
    Scheduler,
    compile_selector,
)
from kalypso_actions.scheduling.labels import (
    CompiledPolicy,
    assignments_of,
    compile_policy,
    pairs_of,
)
from kalypso_placement.cel import CelExpressions
from kalypso_placement.filters import (
    PREDICATE,
    Status,
    earliest,
    end_of_toleration,
    untolerated_taint,
)
from kalypso_placement.hub import ALL, Hub, HubObjects, hub_of
from kalypso_placement.instants import as_datetime, format_instant, of_datetime
from kalypso_placement.objects import Cluster, ClusterSelector, EarlierDecision, Placement
from kalypso_placement.reconciliation import (
    NegativeNumberError,
    SchedulingResult,
    first,
    requeue_instant,
    schedule,
    spread_evenly,
)
from kalypso_placement.schemas import json_schemas


class PlacementScheduler(Scheduler):
    """Decides as Open Cluster Management does, and executes `spreadPolicy`."""

    def schedule(self, fleet: Fleet) -> Schedule:
        """Decide every unit of every policy; equal fleets, states and times give equal results."""
        run = _SchedulingRun(fleet)
        run.decide()
        return run.result()

    def check(self, documents: Sequence[Document]) -> list[Finding]:
        """Return what OCM's API server refuses in documents of OCM's kinds."""
        objects = HubObjects()
        objects.add(documents)
        return objects.problems

    def json_schemas(self) -> dict[str, dict[str, Any]]:
        """Return the schemas of OCM's kinds that people write in a control plane."""
        return json_schemas()


class _SchedulingRun:
    """One run over a fleet; only explanations `keep` all scores, which need much memory."""

    def __init__(self, fleet: Fleet, *, keep: bool = False) -> None:
        self.fleet = fleet
        self.keep = keep
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        compiled = [compile_policy(policy) for policy in fleet.policies]
        self.policies = [policy for policy, _ in compiled if policy is not None]
        self.problems += [problem for _, problems in compiled for problem in problems]
        objects = HubObjects()
        objects.add(fleet.placement.documents)
        self.problems += objects.problems
        self.placements = self._placements(objects)
        self.problems += _policy_faults(self.policies, self.placements, objects.refused)
        self.units = list(_units(self.policies, self.placements, fleet))
        self.hub, faults = hub_of(
            fleet.cluster_types,
            (policy.name for policy in self.policies),
            _decisions_so_far(self.units, fleet.placement),
            objects.scores,
        )
        self.problems += faults
        self.now = of_datetime(fleet.placement.now or datetime(1970, 1, 1, tzinfo=UTC))
        self.expressions = CelExpressions(self.hub)
        self.scored: list[UnitDecision] = []
        self.decided: list[PlacedDecision] = []
        decisions = fleet.placement.decisions or ()
        self.before = {(each.policy, each.placement, each.target): each for each in decisions}
        self.requeue: int | None = None

    def _placements(self, objects: HubObjects) -> dict[str, Placement]:
        """Return the Placements by name; report duplicate and unused ones."""
        placements: dict[str, Placement] = {}
        used = {_placement_of(policy) for policy in self.policies}
        for placement in objects.placements:
            earlier = placements.setdefault(placement.name, placement)
            if earlier is not placement:
                message = f"the Placement {placement.name!r} is already defined in {earlier.where}"
                advice = "rename one of them"
                problem = Problem(message, placement.where, advice, "placement-duplicate")
                self.problems.append(problem)
            elif placement.name not in used:
                message = f"no SchedulingPolicy names the Placement {placement.name!r}"
                advice = f"annotate a policy with kalypso.io/placement: {placement.name}"
                self.warnings.append(Problem(message, placement.where, advice, "placement-unused"))
        return placements

    def decide(self) -> None:
        """Decide all units in order, because a unit for one target affects later units."""
        hub = self.hub
        for unit in self.units:
            scored = self._decide(unit, hub)
            self.scored.append(scored)
            names = tuple(sorted(cluster.name for cluster in scored.decisions))
            self.decided.append(self._placed(unit, names))
            if unit.target != EVERY_TARGET:
                hub = _with_decision(hub, unit, names)

    def _decide(self, unit: Unit, hub: Hub) -> UnitDecision:
        """Decide a unit; one that cannot be decided keeps its last decision."""
        wanted = unit.placement.cluster_sets or (ALL,)
        candidates = [
            cluster
            for cluster in hub.candidates([name for name in wanted if name in hub.sets])
            if unit.policy.cluster_types.matches(cluster.labels)
        ]
        scheduled = self._scheduled(unit, hub, candidates)
        self._note(unit, scheduled)
        chosen: Sequence[Cluster] = scheduled.decisions
        if scheduled.status.failed:
            incumbents = hub.incumbents(unit.own_placement)
            chosen = [cluster for name, cluster in hub.clusters.items() if name in incumbents]
        else:
            instant = requeue_instant(unit.own_placement, hub, scheduled, self.now)
            self.requeue = earliest((self.requeue, instant))
        if not self.keep:
            candidates, scheduled = [], SchedulingResult(status=scheduled.status)
        return UnitDecision(unit, tuple(candidates), scheduled, tuple(chosen))

    def _scheduled(self, unit: Unit, hub: Hub, candidates: Sequence[Cluster]) -> SchedulingResult:
        placement = unit.own_placement
        choose = spread_evenly if placement.spread else first
        message = "it is disabled"
        try:
            if not placement.disabled:
                return schedule(placement, hub, candidates, self.expressions, self.now, choose)
        except UsageError:
            raise
        except KalypsoError as error:
            message = error.problem.message
        except NegativeNumberError:
            message = "numberOfClusters is negative"
        return SchedulingResult(status=Status("Misconfigured", "", message))

    def _note(self, unit: Unit, scheduled: SchedulingResult) -> None:
        """Report a misconfiguration, expired scores, and too few cluster types."""
        name, where, status = unit.placement.name, unit.placement.where, scheduled.status
        if status.failed:
            plugin = f"{status.plugin}: " if status.plugin else ""
            message = f"the Placement {name!r} is misconfigured: {plugin}{status.message}"
            advice = "correct it; until then the last decision stays"
            problem = Problem(message, where, advice, "placement-misconfigured")
            if problem not in self.problems:
                self.problems.append(problem)
            return
        if status.code == "Warning":
            problem = Problem(status.message, where, "", "placement-scores-expired")
            if problem not in self.warnings:
                self.warnings.append(problem)
        if not scheduled.decisions:
            message = f"the Placement {name!r} selects no cluster type for {unit.policy.name!r}"
            advice = "kalypso explain names the filter that drops each"
            self.warnings.append(Problem(message, where, advice, "placement-finds-nothing"))
        elif scheduled.unscheduled > 0:
            message = f"the Placement {name!r} lacks {scheduled.unscheduled} cluster types"
            message += f" for {unit.policy.name!r}"
            self.warnings.append(Problem(message, where, "", "placement-finds-too-few"))

    def _placed(self, unit: Unit, names: tuple[str, ...]) -> PlacedDecision:
        """Return the decision with the time of its last change."""
        old = self.before.get((unit.policy.name, unit.placement.name, unit.target))
        time = as_datetime(self.now).strftime("%Y-%m-%dT%H:%M:%SZ")
        if old is not None and old.cluster_types == names:
            time = old.time
        return PlacedDecision(unit.policy.name, unit.placement.name, unit.target, names, time)

    def result(self) -> Schedule:
        """Return the schedule."""
        by_labels = [policy for policy in self.policies if not _placement_of(policy)]
        pairs = pairs_of(by_labels, self.fleet)
        for scored in self.scored:
            for cluster in scored.decisions:
                for target in scored.unit.targets:
                    names = pairs.setdefault((cluster.name, target.name), [])
                    names.append(scored.unit.policy.name)
        for names in pairs.values():
            names.sort()
        explainer = _PairExplainer(self.fleet)
        return Schedule(
            assignments=assignments_of(self.fleet, pairs),
            problems=tuple(self.problems),
            explain=explainer,
            warnings=tuple(self.warnings),
            placements=tuple(self.decided),
            requeue_time=None if self.requeue is None else as_datetime(self.requeue),
            explain_assignment=explainer.of_assignment,
        )


def _with_decision(hub: Hub, unit: Unit, names: tuple[str, ...]) -> Hub:
    """Return the hub after a decision, so that Balance counts the decision for later units."""
    placement = unit.own_placement
    others = [item for item in hub.decisions if not item.is_of(placement)]
    own = EarlierDecision(placement.namespace, placement.name, names)
    return dataclasses.replace(hub, decisions=[*others, own], _counts=None)


class _PairExplainer:
    """Explains pairs; the first call repeats the run and keeps every score."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._run: _SchedulingRun | None = None
        self._policies: dict[str, CompiledPolicy] = {}
        self._explanations: dict[tuple[str, str], Explanation] = {}

    def __call__(self, target: DeploymentTarget, cluster_type: ClusterType) -> tuple[Decision, ...]:
        """Return how each policy matches the pair, and the steps of its Placement."""
        policies = self._repeated().policies
        return tuple(self._decision(policy, target, cluster_type) for policy in policies)

    def of_assignment(self, assignment: Assignment) -> tuple[Decision, ...]:
        """Return the decisions of the policies that select an assignment."""
        self._repeated()
        return tuple(
            self._decision(self._policies[name], assignment.target, assignment.cluster_type)
            for name in assignment.policies
        )

    def _repeated(self) -> _SchedulingRun:
        if self._run is None:
            self._run = _SchedulingRun(self._fleet, keep=True)
            self._run.decide()
            self._policies = {policy.name: policy for policy in self._run.policies}
            for scored in self._run.scored:
                own = Explanation(scored, self._run.hub, self._run.expressions, self._run.now)
                for target in scored.unit.targets:
                    self._explanations.setdefault((scored.unit.policy.name, target.name), own)
        return self._run

    def _decision(
        self, policy: CompiledPolicy, target: DeploymentTarget, cluster_type: ClusterType
    ) -> Decision:
        run, decision = self._repeated(), policy.decision(target, cluster_type)
        explanation = self._explanations.get((policy.name, target.name))
        if explanation is not None and decision.selected:
            steps = tuple(explanation.steps(cluster_type.name))
            return dataclasses.replace(decision, steps=steps)
        if (name := _placement_of(policy)) and name not in run.placements:
            step = DecisionStep(f"Placement {name}", "there is no such Placement", passed=False)
            return dataclasses.replace(decision, steps=(step,))
        return decision


SCOPES = ("policy", "target")


@dataclass(frozen=True, slots=True)
class Unit:
    """The subject of one decision: a policy, its Placement, and one target or all of them."""

    policy: CompiledPolicy
    placement: Placement
    target: str
    targets: tuple[DeploymentTarget, ...]

    @property
    def own_placement(self) -> Placement:
        """The Placement, renamed to the unit, so that each unit has its own decisions."""
        name = _target_name(self.target)
        return dataclasses.replace(self.placement, name=name, namespace=self.policy.name)


def _units(
    policies: Sequence[CompiledPolicy], placements: Mapping[str, Placement], fleet: Fleet
) -> Iterator[Unit]:
    """Yield the units of the policies that name a known Placement, in the order of names."""
    for policy in policies:
        placement = placements.get(_placement_of(policy))
        if placement is None:
            continue
        targets = tuple(target for target in fleet.targets if policy.selects_target(target))
        if _scope_of(policy) == "target":
            for target in targets:
                yield Unit(policy, placement, target.name, (target,))
        else:
            yield Unit(policy, placement, EVERY_TARGET, targets)


def _placement_of(policy: CompiledPolicy) -> str:
    """Return the name of the Placement that a policy names; "" for none."""
    return policy.policy.annotations.get(PLACEMENT_ANNOTATION, "").strip()


def _scope_of(policy: CompiledPolicy) -> str:
    """Return `policy` for one decision of a policy, `target` for one decision for each target."""
    return policy.policy.annotations.get(SCOPE_ANNOTATION, "").strip() or SCOPES[0]


def _policy_faults(
    policies: Sequence[CompiledPolicy], placements: Mapping[str, Placement], refused: Set[str]
) -> Iterator[Problem]:
    """Report invalid annotations of policies; `refused` Placements already have a problem."""
    known = ", ".join(sorted(placements)) or "none"
    for policy in policies:
        owner = f"SchedulingPolicy {policy.name!r}"
        where = policy.policy.placement_where or policy.policy.where
        name = _placement_of(policy)
        if name and name not in placements and name not in refused:
            meant = suggestion(name, sorted(placements))
            advice = f"{meant}The Placements of .github/kalypso are: {known}"
            message = f"{owner} names the Placement {name!r}, which does not exist"
            yield Problem(message, where, advice, "placement-unknown")
        if _scope_of(policy) not in SCOPES:
            message = f"{owner} has the placement-scope {_scope_of(policy)!r}"
            yield Problem(message, where, "write policy or target", "placement-scope-invalid")


def _decisions_so_far(all_units: Sequence[Unit], state: PlacementState) -> list[EarlierDecision]:
    """Return the decisions of all units, or the cluster types that hold their targets."""
    if state.decisions is not None:
        return [
            EarlierDecision(item.policy, _target_name(item.target), item.cluster_types)
            for item in state.decisions
        ]
    return [
        EarlierDecision(unit.policy.name, _target_name(unit.target), tuple(sorted(holders)))
        for unit in all_units
        if (holders := {c for target in unit.targets for c in state.assigned.get(target.name, ())})
    ]


def _target_name(target: str) -> str:
    return "all" if target == EVERY_TARGET else target


@dataclass(frozen=True, slots=True)
class UnitDecision:
    """The decisions for a unit; if the Placement failed, the earlier decisions for the unit."""

    unit: Unit
    candidates: tuple[Cluster, ...]
    scheduled: SchedulingResult
    decisions: tuple[Cluster, ...]


class Explanation:
    """Explains the decision of one unit on a hub at a given time."""

    def __init__(self, scored: UnitDecision, hub: Hub, cel: CelExpressions, now: int) -> None:
        self._scored = scored
        self._placement = scored.unit.own_placement
        self._hub = hub
        self._cel = cel
        self._now = now
        self._chosen = {cluster.name for cluster in scored.decisions}
        self._candidates = {cluster.name for cluster in scored.candidates}
        self._passed = [(stage, set(names)) for stage, names in scored.scheduled.filtered]
        self._totals = dict(scored.scheduled.totals)
        self._ranks = {name: rank for rank, name in enumerate(self._totals, 1)}

    def steps(self, name: str) -> Iterator[DecisionStep]:
        """Yield the steps of one cluster type, up to the one that drops it."""
        scored, scheduled = self._scored, self._scored.scheduled
        owner = f"Placement {scored.unit.placement.name}"
        chosen = name in self._chosen
        if name in self._hub.incumbents(self._placement):
            yield DecisionStep(f"{owner}: so far", "selected")
        if scheduled.status.failed:
            detail = f"{scheduled.status.message}; the last decision stays"
            yield DecisionStep(owner, detail, passed=chosen)
            return
        if name not in self._candidates:
            yield DecisionStep(f"{owner}: cluster sets", self._sets(name), passed=False)
            return
        cluster = self._hub.clusters[name]
        for stage, names in self._passed:
            plugin = stage.rpartition(",")[2]
            reason = self._unmatched if plugin == PREDICATE else self._untolerated
            passed = name in names
            yield DecisionStep(f"{owner}: {plugin}", "" if passed else reason(cluster), passed)
            if not passed:
                return
        for result in scheduled.prioritized:
            detail = f"{result.scores.get(name, 0)} × {result.weight}"
            yield DecisionStep(f"{owner}: {result.name}", detail)
        yield DecisionStep(f"{owner}: cut", self._rank(name), passed=chosen)

    def _sets(self, name: str) -> str:
        cluster = self._hub.clusters[name]
        own = [item for item in self._hub.sets if cluster in self._hub.members(item)]
        sets = ", ".join(sorted(item for item in own if item != ALL)) or "no set"
        return f"is in {sets}, not in {' or '.join(self._placement.cluster_sets)}"

    def _unmatched(self, cluster: Cluster) -> str:
        """Return the failing terms of each predicate."""
        predicates = self._placement.predicates
        reasons = [" and ".join(self._failing_terms(item, cluster)) for item in predicates]
        if len(reasons) == 1:
            return reasons[0]
        return "; ".join(f"predicate {at}: {reason}" for at, reason in enumerate(reasons, 1))

    def _failing_terms(self, predicate: ClusterSelector, cluster: Cluster) -> Iterator[str]:
        parts = (
            ("label", predicate.labels, cluster.labels),
            ("claim", predicate.claims, cluster.claims),
        )
        for kind, selector, values in parts:
            compiled, _ = compile_selector(selector, kind)
            for match in compiled.explain(values) if compiled else ():
                if not match.matched:
                    value = "absent" if match.value is None else match.value or "empty"
                    yield f"{kind} {match.requirement} (it is {value})"
        for expression in predicate.expressions:
            if reason := self._cel.why_not(expression, cluster):
                yield f"CEL {expression} ({reason})"

    def _untolerated(self, cluster: Cluster) -> str:
        tolerations = self._placement.tolerations
        is_incumbent = cluster.name in self._hub.incumbents(self._placement)
        taint = untolerated_taint(cluster, tolerations, is_incumbent, self._now)
        if taint is None:
            return ""
        text = f"the taint {taint.key}={taint.value}:{taint.effect}"
        end = end_of_toleration(taint, tolerations)
        if end is None:
            return f"{text} is not tolerated"
        return f"{text} is not tolerated since {format_instant(end)}"

    def _rank(self, name: str) -> str:
        wanted = self._placement.number_of_clusters
        limit = "all" if wanted is None else str(wanted)
        total, rank = self._totals[name], self._ranks[name]
        return f"total {total}, place {rank} of {len(self._ranks)}, {limit} wanted"
