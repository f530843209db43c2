"""A scheduler for Kalypso: each policy gets the cheapest of the cluster types that it selects."""

from __future__ import annotations

import json
from pathlib import Path

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import ClusterType, DeploymentTarget, Fleet
from kalypso_actions.scheduling import (
    CompiledPolicy,
    Decision,
    DecisionStep,
    Schedule,
    assignments_of,
    compile_policy,
)

PRICES: dict[str, float] = json.loads(Path(__file__).with_name("acme_prices.json").read_text())


class PriceScheduler:
    """Places by the price table of this package; a cluster type without a price is a problem."""

    def schedule(self, fleet: Fleet) -> Schedule:
        """Assign the targets of each policy to one cluster type."""
        results = [compile_policy(policy) for policy in fleet.policies]
        problems = [problem for _, faults in results for problem in faults]
        unpriced = [item for item in fleet.cluster_types if item.name not in PRICES]
        problems += [Problem(f"{item.name} has no price", item.where) for item in unpriced]
        policies = [policy for policy, _ in results if policy is not None]
        cheapest = {policy.name: _cheapest(policy, fleet) for policy in policies}
        pairs: dict[tuple[str, str], list[str]] = {}
        for policy in policies:
            for target in filter(policy.selects_target, fleet.targets):
                if chosen := cheapest[policy.name]:
                    pairs.setdefault((chosen, target.name), []).append(policy.name)

        def explain(target: DeploymentTarget, item: ClusterType) -> tuple[Decision, ...]:
            detail = f"costs {PRICES.get(item.name)}"
            return tuple(
                Decision(
                    policy.name,
                    policy.explain_target(target),
                    policy.cluster_types.explain(item.labels),
                    (DecisionStep("price", detail, cheapest[policy.name] == item.name),),
                )
                for policy in policies
            )

        return Schedule(assignments_of(fleet, pairs), tuple(problems), explain)


def _cheapest(policy: CompiledPolicy, fleet: Fleet) -> str:
    types = [item.name for item in fleet.cluster_types if policy.cluster_types.matches(item.labels)]
    priced = [(PRICES[name], name) for name in types if name in PRICES]
    return min(priced)[1] if priced else ""
