"""Render some assignments of an environment, to find what fails before it is promoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Literal

from kalypso_actions import rendering
from kalypso_actions.config_checks import ConfigValidator
from kalypso_actions.errors import Location, Problem
from kalypso_actions.fleet import Diagnostics
from kalypso_actions.fleet_checks import FleetScope
from kalypso_actions.model.kinds import Assignment, Fleet, Template
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.scheduling import find_scheduler

_Failures = dict[tuple[Location, str, bool], Problem]
"""Failures by place, message, and whether a registered repository's text is at fault."""


def try_rendering(
    scopes: Iterable[FleetScope],
    diagnostics: Diagnostics,
    missing_values: Literal["warn", "error"] = "warn",
    registration_text: Literal["strict", "any"] = "strict",
) -> None:
    """Configure, validate and render assignments, and add each failure once, with an example.

    A failure of a registered repository's text is a warning: it does not stop a fleet.
    """
    options = rendering.Options(registration_text=registration_text)
    failures: _Failures = {}
    rendered: list[rendering.Rendered] = []
    templates: dict[str, Template] = {}
    for scope in scopes:
        rendered += _rendered(scope.fleet, options, failures)
        templates |= {template.name: template for template in scope.fleet.templates}
    for (_, _, is_delivered), problem in failures.items():
        (diagnostics.warnings if is_delivered else diagnostics.problems).append(problem)
    gaps = rendering.missing_values(rendered, [*templates.values()])
    (diagnostics.problems if missing_values == "error" else diagnostics.warnings).extend(gaps)


def _rendered(
    fleet: Fleet, options: rendering.Options, failures: _Failures
) -> Iterator[rendering.Rendered]:
    """Yield what an environment renders, and add its failures."""
    platform_config = PlatformConfig(fleet)
    validator = ConfigValidator(platform_config)
    renderer = rendering.Renderer(fleet.environment, fleet.templates, options)
    for alike in _alike(fleet):
        assignment = alike[0]
        config = platform_config.config_of(assignment)
        check = partial(validator.failure, assignment, config)
        outcome = renderer.render(assignment, config, check)
        if not isinstance(outcome, rendering.Failure):
            yield from ((other, outcome) for other in alike)
        elif outcome.code not in rendering.OF_TEMPLATES:  # their check needs no assignment
            key = outcome.where, outcome.message, outcome.is_delivered
            failures.setdefault(key, outcome.problem_of(assignment))


def _alike(fleet: Fleet) -> Iterable[list[Assignment]]:
    """Return the assignments of each kind of target on each cluster type; one is an example.

    Targets of a kind have the same keys of manifests and labels, which templates read. Special
    characters in texts make a kind of their own.
    """
    by_kind: dict[object, list[Assignment]] = {}
    for assignment in find_scheduler().schedule(fleet).assignments:
        target = assignment.target
        kind = (
            assignment.cluster_type.name,
            frozenset(target.manifests),
            frozenset(target.labels),
            frozenset(target.manifests[key] for key in rendering.special_texts(target.manifests)),
        )
        by_kind.setdefault(kind, []).append(assignment)
    return by_kind.values()
