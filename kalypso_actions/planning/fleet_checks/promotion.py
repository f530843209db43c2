"""PromotionPolicies that never let a commit in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC

from kalypso_actions.errors import Diagnostics, Problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.promotion_policy import PromotionPolicy
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.promotion.environments import (
    in_order,
    near_environment,
    requires_later,
)
from kalypso_actions.promotion.policy import endless

Policies = Mapping[str, PromotionPolicy]


def check_promotion(view: FleetView, diagnostics: Diagnostics) -> None:
    """Report faulty policies, requirements that nothing fulfils, and freezes without an end."""
    policies = {
        scope.environment: scope.policy.policy for scope in view.scopes if scope.policy.policy
    }
    diagnostics.problems += (item for scope in view.scopes for item in scope.policy.problems)
    if view.environments:
        diagnostics.problems += _unknown_environments(policies, view.environments)
        diagnostics.problems += _later_environments(policies, view.environments)
    for scope in view.scopes:
        diagnostics.notes += _ended_holds(scope)
        diagnostics.warnings += _copies(scope, view.environments or {})
    for name, policy in policies.items():
        diagnostics.warnings += _endless_freezes(name, policy)


def _unknown_environments(
    policies: Policies, environments: Mapping[str, Environment]
) -> Iterator[Problem]:
    for name, policy in policies.items():
        for required in policy.deployed:
            if required not in environments:
                yield Problem(
                    f"the PromotionPolicy of {name!r} requires {required!r}, which does not exist: "
                    "nothing enters",
                    policy.places.get(required, policy.where),
                    near_environment(required, environments),
                    "policy-environment-unknown",
                )


def _later_environments(
    policies: Policies, environments: Mapping[str, Environment]
) -> Iterator[Problem]:
    required = {name: policy.deployed for name, policy in policies.items()}
    for name, later in requires_later(environments, required):
        order = in_order(environments)
        earlier = [each for each in order[: order.index(name)] if each != later]
        yield Problem(
            f"the PromotionPolicy of {name!r} requires {later!r}, which a commit reaches only "
            f"after {name!r}: nothing enters"
            if later != name
            else f"the PromotionPolicy of {name!r} requires {name!r} itself: nothing enters",
            policies[name].places.get(later, policies[name].where),
            f"name an environment before {name}: {abbreviated(earlier, MAX_LISTED)}"
            if earlier
            else f"remove {later} from spec.requires.deployed: no environment is before {name}",
            "policy-environment-later",
        )


def _copies(scope: FleetScope, environments: Mapping[str, Environment]) -> Iterator[Problem]:
    """Report a policy that has the name of another environment: it may be a copy of that one's."""
    policy = scope.policy.policy
    if policy and policy.name in environments and policy.name != scope.environment:
        yield Problem(
            f"the PromotionPolicy of {scope.environment!r} is called {policy.name!r}, as another "
            "environment: if it is a copy, its rules may be those of that environment",
            policy.where,
            f"check spec.requires, and write name: {scope.environment}",
            "policy-of-another",
        )


def _ended_holds(scope: FleetScope) -> Iterator[Problem]:
    policy, now = scope.policy.policy, scope.now
    for hold in policy.holds if policy else ():
        if hold.until and now and hold.until <= now:
            yield Problem(
                f"the hold {hold.reason!r} of {scope.environment!r} ended at "
                f"{hold.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}: it holds nothing",
                hold.where,
                "write a later end, or remove it",
                "policy-hold-ended",
            )


def _endless_freezes(environment: str, policy: PromotionPolicy) -> Iterator[Problem]:
    freezes = endless(policy.freezes)
    if not freezes:
        return
    together = ", ".join(repr(freeze.reason) for freeze in freezes)
    are = "never ends" if len(freezes) == 1 else "leave no time together"
    yield Problem(
        f"the freeze {together} of {environment!r} {are}: a window begins before the one before it "
        "ends, and nothing enters",
        freezes[0].where or policy.where,
        "write a shorter duration; to close an environment, write a hold",
        "policy-freeze-endless",
        related=tuple(freeze.where for freeze in freezes[1:] if freeze.where),
    )
