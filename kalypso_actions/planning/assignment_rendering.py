"""Assignments → configuration, validated → files, or failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

from kalypso_actions import rendering
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.processes import Keep, Processes, Progress
from kalypso_actions.planning.config_checks import ConfigKeyReads, ConfigValidator
from kalypso_actions.planning.fleet_manifests import (
    Checked,
    ManifestChecker,
    ManifestJudgement,
    Manifests,
    judge_manifests,
)
from kalypso_actions.platform_config import PlatformConfig

Outcome = tuple[dict[str, FileContent] | rendering.Failure, int, Checked]
"""The files or a failure, the work of the texts beyond that of usual ones, and what the check of
the files found."""

Folders = dict[str, Mapping[str, FileContent]]


PART: Final = 100
"""The most assignments of a registration that one process must render.

Results are taken in order: a process with a thousand in a row would fill its pipe and wait.
"""


class PlannedAssignment(NamedTuple):
    """One assignment with the names of its files, or its failure; a plan has many.

    `excess` is the work of its texts beyond that of usual ones.
    """

    assignment: Assignment
    namespace: str
    files: tuple[str, ...]
    platform_config: PlatformConfig
    failure: rendering.Failure | None = None
    excess: int = 0
    checked: Checked = Checked()

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
        manifests: Manifests,
        unpromoted_templates: Collection[str] = (),
        processes: Processes | None = None,
    ) -> None:
        self._processes = processes
        self._fleet = fleet
        self._layout = layout
        self._manifests = manifests
        self._checker = ManifestChecker(fleet.templates)
        self.platform_config = PlatformConfig(fleet)
        is_error = missing_values == "error"
        self._key_reads = ConfigKeyReads(fleet, self.platform_config) if is_error else None
        self._validator = ConfigValidator(self.platform_config)
        self._renderer = rendering.Renderer(
            fleet.environment,
            fleet.templates,
            self._layout,
            unpromoted_templates,
            self._checker.is_sound,
        )

    def render_all(
        self,
        assignments: Sequence[Assignment],
        folders: Folders,
        progress: Progress,
    ) -> list[PlannedAssignment]:
        """Return each assignment; the files go into `folders`.

        All assignments of a registration fail if they have too much excess together.
        """
        total = len(assignments)
        configs = self.platform_config
        excess: Counter[str] = Counter()
        planned = []
        for done, (assignment, (outcome, own_excess, checked)) in enumerate(
            zip(assignments, self._outcomes(assignments), strict=True)
        ):
            progress(done, total)
            namespace = self._namespace(assignment)
            excess[assignment.target.registration] += own_excess
            if isinstance(outcome, rendering.Failure):
                item = PlannedAssignment(assignment, namespace, (), configs, outcome, own_excess)
            else:
                folders[assignment.folder], names = outcome, tuple(outcome)
                item = PlannedAssignment(
                    assignment, namespace, names, configs, None, own_excess, checked
                )
            planned.append(item)
        progress(total, total)
        return _without_excessive(planned, folders, excess)

    def judge(
        self, planned: Sequence[PlannedAssignment], folders: Folders
    ) -> tuple[list[PlannedAssignment], ManifestJudgement]:
        """Judge the manifests of all rendered assignments together.

        With `strict`, those with a fault fail, and have no files.
        """
        rows = ((item.assignment, item.checked) for item in planned)
        config_of = self.platform_config.config_of
        judgement = judge_manifests(rows, self._fleet.templates, self._manifests, config_of)
        if self._manifests != "strict" or not judgement.faulty:
            return list(planned), judgement
        result = []
        for item in planned:
            failure = judgement.faulty.get(item.assignment.folder)
            if failure:
                folders.pop(item.assignment.folder, None)
            result.append(item._replace(files=(), failure=failure) if failure else item)
        return result, judgement

    def taken_over(self, assignment: Assignment, files: tuple[str, ...]) -> PlannedAssignment:
        """Return an assignment whose files are in the base tree already."""
        namespace = self._namespace(assignment)
        return PlannedAssignment(assignment, namespace, files, self.platform_config)

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
        before = self._renderer.excess_of(registration)
        files = self._rendered(assignment)
        excess = self._renderer.excess_of(registration) - before
        if isinstance(files, rendering.Failure):
            return files, excess, Checked()
        # Later stages look for missing values in the contents.
        kept = {
            name: content if rendering.lacks_value(content) else keep(content)
            for name, content in files.items()
        }
        return kept, excess, self._checker.check(assignment, files)

    def _rendered(self, assignment: Assignment) -> dict[str, bytes] | rendering.Failure:
        config = self.platform_config.config_of(assignment)
        outcome = self._renderer.render(
            assignment, config, partial(self._validator.failure, assignment, config)
        )
        if self._key_reads and not isinstance(outcome, rendering.Failure):
            rendered = assignment, outcome
            return (
                self._key_reads.failure(assignment, of_config=True)
                or rendering.missing_value_failure(rendered, self._fleet.templates, config)
                or self._key_reads.failure(assignment, of_config=False)
                or outcome
            )
        return outcome


def _unchanged(content: bytes) -> bytes:
    return content


def _without_excessive(
    planned: list[PlannedAssignment], folders: Folders, excess: Mapping[str, int]
) -> list[PlannedAssignment]:
    """Let the assignments of registrations fail that have too much excess in all processes."""
    refused = {name for name, work in excess.items() if rendering.is_excessive(work)}
    told: set[str] = set()
    for index, item in enumerate(planned) if refused else ():
        target = item.assignment.target
        if target.registration in refused:
            folders.pop(item.assignment.folder, None)
            is_consequence = target.registration in told
            failure = rendering.too_large(target, is_consequence=is_consequence)
            planned[index] = item._replace(files=(), failure=failure)
            told.add(target.registration)
    return planned


def divided(assignments: Sequence[Assignment], count: int) -> list[int]:
    """Return which of `count` processes renders each assignment, in shares of about equal size.

    Assignments of a registration share results and stay together in parts of `PART`, as do those of
    the control plane's own targets by cluster type.
    """
    groups = []
    seen: Counter[tuple[str, str]] = Counter()
    for item in assignments:
        registration = item.target.registration
        group = ("", registration) if registration else ("cluster type", item.cluster_type.name)
        groups.append((*group, seen[group] // PART))
        seen[group] += 1
    shares = [0] * count
    owners: dict[tuple[str, str, int], int] = {}
    for part, size in Counter(groups).most_common():
        owners[part] = shares.index(min(shares))
        shares[owners[part]] += size
    return [owners[part] for part in groups]
