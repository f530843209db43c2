"""Assignments → configuration, validated → files, or failures."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
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
    files: tuple[str, ...]
    platform_config: PlatformConfig = field(repr=False, compare=False)
    failure: rendering.Failure | None = None

    @property
    def config(self) -> MergedConfig:
        """The configuration, merged again unless it is one of the last."""
        return self.platform_config.config_of(self.assignment)

    @property
    def combination(self) -> Hashable:
        """What assignments with the same configuration have in common."""
        return self.platform_config.combination(self.assignment)


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
        configs = self._platform_config
        for done, assignment in enumerate(assignments):
            progress(done, total)
            config = configs.config_of(assignment)
            namespace = rendering.namespace_of(
                assignment, self._fleet.environment, self._layout.namespace_scheme
            )
            outcome = self._outcome(assignment, config)
            if isinstance(outcome, rendering.Failure):
                yield PlannedAssignment(assignment, namespace, (), configs, outcome)
            else:
                folders[assignment.folder] = outcome
                yield PlannedAssignment(assignment, namespace, tuple(outcome), configs)
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
