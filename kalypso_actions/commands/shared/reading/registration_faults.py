"""Decide whether failing assignments are the fault of their registration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import islice
from typing import Final

from kalypso_actions import rendering
from kalypso_actions.planning.assignment_rendering import PlannedAssignment
from kalypso_actions.planning.config_checks import ConfigValidator
from kalypso_actions.planning.plan import Plan, PlanOptions, layout_options
from kalypso_actions.platform_config import PlatformConfig

_MAX_FAILURES: Final = 200
"""The most failures of a registration to examine; the others rarely have a different cause."""

_MAX_OTHERS: Final = 5
"""The most registrations whose texts are tried."""


def is_own_fault(items: Iterable[PlannedAssignment], plan: Plan, options: PlanOptions) -> bool:
    """Whether a registration causes the failures of its assignments.

    It does if its own schemas refuse a configuration that the platform's schemas accept, or if the
    same Templates render other registrations' targets, or its own targets with usual texts or with
    the texts of others.
    """
    renderer = rendering.Renderer(plan.environment, plan.fleet.templates, layout_options(options))
    validator = ConfigValidator(PlatformConfig(plan.fleet))
    renders = [item.assignment for item in plan.assignments if item.failure is None]
    rendered = {(item.cluster_type.name, item.target.registration) for item in renders}
    targets = {item.target.registration: item.target for item in renders}

    def is_own(item: PlannedAssignment) -> bool:
        assignment, target = item.assignment, item.assignment.target
        match item.failure:
            case rendering.Failure(code="config-refused"):
                bare = dataclasses.replace(target, config_schemas=())
                other = dataclasses.replace(assignment, target=bare)
                return validator.failure(other, item.config) is None
            case rendering.Failure(code="template-failed"):
                renders_others = any(
                    cluster_type == assignment.cluster_type.name and name != target.registration
                    for cluster_type, name in rendered
                )
                if renders_others:
                    return True
                others = [other for name, other in targets.items() if name != target.registration]
                return renderer.renders_other_texts(assignment, item.config, others[:_MAX_OTHERS])
        return False

    return all(map(is_own, islice(items, _MAX_FAILURES)))
