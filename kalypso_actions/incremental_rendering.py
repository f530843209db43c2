"""Render the assignments whose inputs have changed, and keep the folders of the others.

`input_digests` computes digests of the inputs, `gitops.unchanged_folders` finds the folders that
have the same digests in the base trees, and `assignment_rendering` renders the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions import gitops, rendering
from kalypso_actions.assignment_rendering import AssignmentRenderer, Folders, PlannedAssignment
from kalypso_actions.errors import Location, Problem
from kalypso_actions.input_digests import input_digests
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import Snapshot, TreeChanges
from kalypso_actions.platform_config import PlatformConfig


@dataclass(frozen=True, slots=True)
class RenderedAssignments:
    """All assignments of a run, and the files of those that it rendered.

    `inputs` is the record for the next run; None if that run has nothing to compare. `whole` are
    cluster types of which the base trees have nothing but unchanged folders.
    """

    planned: tuple[PlannedAssignment, ...]
    folders: Folders
    inputs: gitops.InputsRecord | None
    whole: frozenset[str] = frozenset()

    @property
    def failed(self) -> list[PlannedAssignment]:
        """The assignments that failed, and have no files."""
        return [item for item in self.planned if item.failure]

    @property
    def written(self) -> list[tuple[Assignment, Mapping[str, FileContent]]]:
        """The assignments that were rendered, with their files."""
        return [
            (item.assignment, self.folders[item.assignment.folder])
            for item in self.planned
            if item.assignment.folder in self.folders
        ]

    @property
    def taken_over(self) -> frozenset[str]:
        """The folders that stay as they are in the base tree, because no input has changed."""
        return frozenset(
            item.assignment.folder
            for item in self.planned
            if not item.failure and item.assignment.folder not in self.folders
        )


class UnchangedAssignments:
    """The folders that the base trees have with the same inputs as this run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fleet: Fleet,
        layout: rendering.Options,
        code: str,
        assignments: Sequence[Assignment],
    ) -> None:
        """Without `code`, which identifies the code that renders, no folder counts as unchanged."""
        self._assignments = assignments
        self._inputs: gitops.InputsRecord | None = None
        self.folders = gitops.UnchangedFolders()
        if code and assignments:
            inputs = input_digests(fleet, PlatformConfig(fleet), layout, code, assignments)
            self._inputs = inputs
            assigned = defaultdict(list)
            for item in assignments:
                assigned[item.cluster_type.name].append(item.target.name)
            self.folders = gitops.unchanged_folders(
                snapshot.base_trees, snapshot.environment, assigned, inputs
            )

    def render_others(
        self, make_renderer: Callable[[], AssignmentRenderer], progress: Progress, *, verify: bool
    ) -> RenderedAssignments:
        """Render the assignments whose inputs have changed, and with `verify` the others too."""
        known = {} if verify else self.folders.files
        planned, folders = _render_changed(make_renderer, self._assignments, known, progress)
        failed = (item.assignment.folder for item in planned if item.failure)
        changed = {folder.partition("/")[0] for folder in (*folders, *failed)}
        return RenderedAssignments(
            planned, folders, self._record(planned, folders), self.folders.whole - changed
        )

    def _record(
        self, planned: Sequence[PlannedAssignment], folders: Folders
    ) -> gitops.InputsRecord | None:
        """Return the record of the inputs; None without code or assignments.

        Each run renders assignments that fail, have a warning, or may fail because of others.
        """
        if self._inputs is None:
            return None
        unfit = {item.assignment.folder for item in planned if item.failure}
        unfit |= {
            folder
            for folder, files in folders.items()
            if any(map(rendering.lacks_value, files.values()))
        }
        doubtful = _doubtful_registrations(planned, self._assignments)
        unfit |= {item.folder for item in self._assignments if item.target.registration in doubtful}
        return gitops.without_folders(self._inputs, unfit)

    def refuted(self, changes: TreeChanges, repository: str) -> Iterator[Problem]:
        """Yield a problem for each rendered file that differs though its inputs are unchanged."""
        for path in (*changes.added, *changes.modified, *changes.deleted):
            folder = "/".join(path.split("/")[-3:-1])
            if folder in self.folders.files:
                yield Problem(
                    "the file differs, though everything that decides it is as it was",
                    Location(repository, path),
                    "report this as an error of Kalypso: without verify, the old file would stay",
                )


def _render_changed(
    make_renderer: Callable[[], AssignmentRenderer],
    assignments: Sequence[Assignment],
    known: Mapping[str, tuple[str, ...]],
    progress: Progress,
) -> tuple[tuple[PlannedAssignment, ...], Folders]:
    """Render the assignments whose folders are not `known`; return all, and the new files.

    `known` has the names of the files that the base tree has for unchanged inputs. If a rendered
    assignment fails or is expensive, others of its registration may fail because of it: then this
    renders all of them.
    """
    while True:
        renderer, folders = make_renderer(), Folders()
        changed = [item for item in assignments if item.folder not in known]
        rendered = {
            item.assignment.folder: item for item in renderer.render_all(changed, folders, progress)
        }
        doubtful = _doubtful_registrations(rendered.values(), assignments)
        again = {item.folder for item in assignments if item.target.registration in doubtful}
        if again.isdisjoint(known):
            return tuple(
                rendered.get(item.folder) or renderer.taken_over(item, known[item.folder])
                for item in assignments
            ), folders
        known = {folder: names for folder, names in known.items() if folder not in again}


def _doubtful_registrations(
    rendered: Iterable[PlannedAssignment], assignments: Sequence[Assignment]
) -> frozenset[str]:
    """Return the registrations with an assignment that fails or takes more than its share."""
    counts = Counter(item.target.registration for item in assignments)
    doubtful = {
        item.assignment.target.registration
        for item in rendered
        if item.failure
        or item.work > rendering.share_of_registration(counts[item.assignment.target.registration])
    }
    return frozenset(doubtful - {""})
