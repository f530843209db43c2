"""Assignments → configuration, validated → files, or failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from kalypso_actions import rendering
from kalypso_actions.config_checks import ConfigValidator
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.processes import Keep, Processes
from kalypso_actions.model.progress import Progress
from kalypso_actions.platform_config import PlatformConfig

Outcome = tuple[dict[str, FileContent] | rendering.Failure, int]
"""The files or a failure, and the work that its registration pays for."""

Folders = dict[str, Mapping[str, FileContent]]


class PlannedAssignment(NamedTuple):
    """One assignment with the names of its files, or its failure; a plan has many.

    `work` is the work that its registration pays for.
    """

    assignment: Assignment
    namespace: str
    files: tuple[str, ...]
    platform_config: PlatformConfig
    failure: rendering.Failure | None = None
    work: int = 0

    @property
    def config(self) -> MergedConfig:
        """The merged configuration; this merges it again if the cache does not have it."""
        return self.platform_config.config_of(self.assignment)

    @property
    def combination(self) -> Hashable:
        """A key that is equal for assignments with the same configuration."""
        return self.platform_config.combination(self.assignment)


class AssignmentRenderer:
    """Configures, validates and renders assignments of one fleet; many of them in `processes`."""

    def __init__(
        self,
        fleet: Fleet,
        layout: rendering.Options,
        missing_values: Literal["warn", "error"],
        unpromoted_templates: Collection[str] = (),
        processes: Processes | None = None,
    ) -> None:
        self._processes = processes
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
        folders: Folders,
        progress: Progress,
    ) -> Iterator[PlannedAssignment]:
        """Yield each assignment; the files go into `folders`."""
        total = len(assignments)
        configs = self._platform_config
        for done, (assignment, (outcome, work)) in enumerate(
            zip(assignments, self._outcomes(assignments), strict=True)
        ):
            progress(done, total)
            namespace = self._namespace(assignment)
            if isinstance(outcome, rendering.Failure):
                yield PlannedAssignment(assignment, namespace, (), configs, outcome, work)
            else:
                folders[assignment.folder] = outcome
                names = tuple(outcome)
                yield PlannedAssignment(assignment, namespace, names, configs, work=work)
        progress(total, total)

    def taken_over(self, assignment: Assignment, files: tuple[str, ...]) -> PlannedAssignment:
        """Return an assignment whose files are in the base tree already."""
        namespace = self._namespace(assignment)
        return PlannedAssignment(assignment, namespace, files, self._platform_config)

    def _namespace(self, assignment: Assignment) -> str:
        return rendering.namespace_of(
            assignment, self._fleet.environment, self._layout.namespace_scheme
        )

    def _outcomes(self, assignments: Sequence[Assignment]) -> Iterator[Outcome]:
        processes = self._processes
        count = processes.usable(len(assignments)) if processes else 1
        if processes is None or count == 1:
            return (self._outcome(item, _unchanged) for item in assignments)
        owners = divided(assignments, count)
        return processes.compute(
            owners, lambda index, keep: self._outcome(assignments[index], keep)
        )

    def _outcome(self, assignment: Assignment, keep: Keep) -> Outcome:
        registration = assignment.target.registration
        before = self._renderer.work_of(registration)
        files = self._rendered(assignment)
        work = self._renderer.work_of(registration) - before
        if isinstance(files, rendering.Failure):
            return files, work
        # Later stages look for missing values in the contents.
        return {
            name: content if rendering.lacks_value(content) else keep(content)
            for name, content in files.items()
        }, work

    def _rendered(self, assignment: Assignment) -> dict[str, bytes] | rendering.Failure:
        config = self._platform_config.config_of(assignment)
        outcome = self._renderer.render(
            assignment, config, partial(self._validator.failure, assignment, config)
        )
        if self._missing_values == "error" and not isinstance(outcome, rendering.Failure):
            rendered = assignment, outcome
            return rendering.missing_value_failure(rendered, self._fleet.templates) or outcome
        return outcome


def _unchanged(content: bytes) -> bytes:
    return content


def divided(assignments: Sequence[Assignment], count: int) -> list[int]:
    """Return which of `count` processes renders each assignment, in shares of about equal size.

    All assignments of a registration have one budget, and are rendered in order by one process.
    Those of the control plane's own targets stay together by cluster type.
    """
    groups = [
        ("registration", item.target.registration)
        if item.target.registration
        else ("cluster type", item.cluster_type.name)
        for item in assignments
    ]
    shares = [0] * count
    owners: dict[tuple[str, str], int] = {}
    for group, size in Counter(groups).most_common():
        owners[group] = shares.index(min(shares))
        shares[owners[group]] += size
    return [owners[group] for group in groups]
