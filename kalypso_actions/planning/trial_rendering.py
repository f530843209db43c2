"""Render sample assignments of an environment, to find failures before a promotion."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from kalypso_actions import rendering
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.model.delivery import DELIVERY, DeliveryRules
from kalypso_actions.model.kinds import Assignment, Fleet, Template
from kalypso_actions.planning.config_checks import ConfigValidator
from kalypso_actions.planning.fleet_checks import FleetScope, FleetView
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.scheduling.registry import scheduler_of

_Failures = dict[tuple[Location, str], Problem]
"""Failures by place and message."""


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """How to plan the trial; `scheduler` overrides the Environments' annotations."""

    missing_values: Literal["warn", "error"] = "warn"
    delivery: DeliveryRules = DELIVERY
    scheduler: str = ""
    now: datetime | None = None


def try_rendering(view: FleetView, diagnostics: Diagnostics, trial: TrialOptions) -> None:
    """Schedule, configure, validate and render, and add each failure once, with an example.

    Raises UsageError for an unknown `scheduler` of the options.
    """
    options = rendering.Options(registration_text=trial.delivery.text)
    failures: _Failures = {}
    rendered: list[rendering.Rendered] = []
    templates: dict[str, Template] = {}
    for scope in view.scopes:
        assignments = _assignments(scope, view, trial, diagnostics)
        rendered += _rendered(scope.fleet, assignments, options, failures)
        templates |= {template.name: template for template in scope.fleet.templates}
    diagnostics.problems += failures.values()
    gaps = rendering.missing_values(rendered, [*templates.values()])
    (diagnostics.problems if trial.missing_values == "error" else diagnostics.warnings).extend(gaps)


def _assignments(
    scope: FleetScope, view: FleetView, trial: TrialOptions, diagnostics: Diagnostics
) -> tuple[Assignment, ...]:
    """Schedule an environment, and add the findings of its scheduler.

    The trial does not know which cluster types have the targets now. It assumes all of them: some
    taints spare cluster types that already have a target, but could otherwise empty a Placement.
    """
    declared = (view.environments or {}).get(scope.environment)
    try:
        scheduler = scheduler_of(declared, trial.scheduler)
    except UsageError:
        raise
    except KalypsoError:
        return ()  # the check of the Environments reports it
    names = tuple(cluster_type.name for cluster_type in scope.fleet.cluster_types)
    assigned = {target.name: names for target in scope.fleet.targets}
    state = dataclasses.replace(scope.fleet.placement, assigned=assigned, now=trial.now)
    schedule = scheduler.schedule(dataclasses.replace(scope.fleet, placement=state))
    diagnostics.problems += schedule.problems
    diagnostics.warnings += schedule.warnings
    return schedule.assignments


def _rendered(
    fleet: Fleet,
    assignments: Iterable[Assignment],
    options: rendering.Options,
    failures: _Failures,
) -> Iterator[rendering.Rendered]:
    """Yield the rendered assignments of an environment, and add its failures to `failures`."""
    platform_config = PlatformConfig(fleet)
    validator = ConfigValidator(platform_config)
    renderer = rendering.Renderer(fleet.environment, fleet.templates, options)
    excess: Counter[str] = Counter()
    for alike in _alike(assignments):
        assignment = alike[0]
        config = platform_config.config_of(assignment)
        check = partial(validator.failure, assignment, config)
        registration = assignment.target.registration
        before = renderer.excess_of(registration)
        outcome = renderer.render(assignment, config, check)
        excess[registration] += len(alike) * (renderer.excess_of(registration) - before)
        if rendering.is_excessive(excess[registration]):
            outcome = rendering.too_large(assignment.target)
        if not isinstance(outcome, rendering.Failure):
            yield from ((other, outcome) for other in alike)
        elif not outcome.is_consequence and outcome.code not in rendering.OF_TEMPLATES:
            # Validation reports the failures of Templates.
            key = outcome.where, outcome.message
            failures.setdefault(key, outcome.problem_of(assignment))


def _alike(assignments: Iterable[Assignment]) -> Iterable[list[Assignment]]:
    """Group the assignments by cluster type and kind of target; one of each group is rendered.

    Targets of one kind have the same keys in manifests and labels, which templates read, and the
    same texts with special characters.
    """
    by_kind: dict[object, list[Assignment]] = {}
    for assignment in assignments:
        target = assignment.target
        kind = (
            assignment.cluster_type.name,
            frozenset(target.manifests),
            frozenset(target.labels),
            frozenset(target.manifests[key] for key in rendering.special_texts(target.manifests)),
        )
        by_kind.setdefault(kind, []).append(assignment)
    return by_kind.values()
