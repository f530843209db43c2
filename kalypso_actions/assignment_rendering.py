"""Assignments → configuration, validated → files, or failures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from kalypso_actions import rendering
from kalypso_actions.config_checks import ConfigValidator
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.progress import Progress
from kalypso_actions.platform_config import PlatformConfig


@dataclass(frozen=True, slots=True)
class PlannedAssignment:
    """One assignment with the names of its files, or its failure."""

    assignment: Assignment
    namespace: str
    config: MergedConfig
    files: tuple[str, ...]
    failure: rendering.Failure | None = None


class AssignmentRenderer:
    """Configures, validates and renders assignments of one fleet."""

    def __init__(
        self,
        fleet: Fleet,
        layout: rendering.Options,
        missing_values: Literal["warn", "error"],
        unpromoted_templates: Collection[str] = (),
    ) -> None:
        self._fleet = fleet
        self._layout = layout
        self._missing_values = missing_values
        self._platform_config = PlatformConfig(fleet)
        self._validator = ConfigValidator(self._platform_config)
        self._renderer = rendering.Renderer(
            fleet.environment, fleet.templates, self._layout, unpromoted_templates
        )

    def render_all(
        self,
        assignments: Sequence[Assignment],
        folders: dict[str, dict[str, bytes]],
        progress: Progress,
    ) -> Iterator[PlannedAssignment]:
        """Yield each assignment; the files go into `folders`."""
        total = len(assignments)
        for done, assignment in enumerate(assignments):
            progress(done, total)
            config = self._platform_config.config_of(assignment)
            namespace = rendering.namespace_of(
                assignment, self._fleet.environment, self._layout.namespace_scheme
            )
            outcome = self._outcome(assignment, config)
            if isinstance(outcome, rendering.Failure):
                yield PlannedAssignment(assignment, namespace, config, (), outcome)
            else:
                folders[assignment.folder] = outcome
                yield PlannedAssignment(assignment, namespace, config, tuple(outcome))
        progress(total, total)

    def _outcome(
        self, assignment: Assignment, config: MergedConfig
    ) -> dict[str, bytes] | rendering.Failure:
        outcome = self._renderer.render(
            assignment, config, partial(self._validator.failure, assignment, config)
        )
        if self._missing_values == "error" and not isinstance(outcome, rendering.Failure):
            rendered = assignment, outcome
            return rendering.missing_value_failure(rendered, self._fleet.templates) or outcome
        return outcome
