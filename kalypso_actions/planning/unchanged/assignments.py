"""Render the assignments whose inputs have changed, and keep the folders of the others.

`input_digests` computes digests of the inputs, `gitops.unchanged_folders` finds the folders that
have the same digests in the base trees, and `assignment_rendering` renders the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions import gitops, rendering
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import Snapshot, TreeChanges
from kalypso_actions.planning.assignment_rendering import (
    AssignmentRenderer,
    Folders,
    PlannedAssignment,
)
from kalypso_actions.planning.unchanged.input_digests import input_digests
from kalypso_actions.platform_config import PlatformConfig


@dataclass(frozen=True, slots=True)
class RenderedAssignments:
    """All assignments of a run, and the files of those that it rendered.

    The folders `taken_over` stay as they are in the base tree, because no input has changed; for
    `whole` and `partly` see `gitops.UnchangedFolders`. `inputs` is the record for the next run;
    None if that run has nothing to compare.
    """

    planned: tuple[PlannedAssignment, ...]
    folders: Folders
    taken_over: Collection[str]
    whole: frozenset[str]
    partly: frozenset[str]
    inputs: gitops.InputsRecord | None

    @property
    def failed(self) -> list[PlannedAssignment]:
        """The assignments that failed, and have no files."""
        return [item for item in self.planned if item.failure]

    @property
    def written(self) -> list[tuple[Assignment, Mapping[str, FileContent]]]:
        """The assignments that were rendered, with their files."""
        if not self.folders:
            return []
        places = ((item.assignment, item.assignment.folder) for item in self.planned)
        return [(item, self.folders[place]) for item, place in places if place in self.folders]


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
        """Render the assignments whose inputs have changed, and with `verify` the others too.

        If a rendered assignment fails or has much excess, others of its registration may fail
        because of it: then this renders all of them.
        """
        known = {} if verify else dict(self.folders.files)
        places = [item.folder for item in self._assignments]
        while True:
            renderer, folders = make_renderer(), Folders()
            changed = [
                item
                for item, place in zip(self._assignments, places, strict=True)
                if place not in known
            ]
            rendered = dict(
                zip(
                    (item.folder for item in changed),
                    renderer.render_all(changed, folders, progress),
                    strict=True,
                )
            )
            doubtful = self._doubtful(rendered.values())
            if doubtful.isdisjoint(known):
                break
            for place in doubtful:
                known.pop(place, None)
        planned = tuple(
            rendered.get(place) or renderer.taken_over(item, known[place])
            for item, place in zip(self._assignments, places, strict=True)
        )
        changed_types = {item.cluster_type.name for item in changed}
        known_types = {place.partition("/")[0] for place in known}
        return RenderedAssignments(
            planned,
            folders,
            known.keys(),
            self.folders.whole - changed_types,
            (self.folders.partly | self.folders.whole & changed_types) & known_types,
            self._record(rendered, folders, doubtful),
        )

    def _doubtful(self, rendered: Iterable[PlannedAssignment]) -> frozenset[str]:
        """Return the folders of registrations with an assignment that fails or has much excess.

        It has much if it has more than its share.
        """
        counts = Counter(item.target.registration for item in self._assignments)
        registrations = {
            item.assignment.target.registration
            for item in rendered
            if item.failure
            or item.excess
            > rendering.share_of_registration(counts[item.assignment.target.registration])
        } - {""}
        if not registrations:
            return frozenset()
        return frozenset(
            item.folder for item in self._assignments if item.target.registration in registrations
        )

    def _record(
        self,
        rendered: Mapping[str, PlannedAssignment],
        folders: Folders,
        doubtful: Collection[str],
    ) -> gitops.InputsRecord | None:
        """Return the record of the inputs; None without code or assignments.

        Each run renders assignments that fail, have a warning, or may fail because of others.
        """
        if self._inputs is None:
            return None
        unfit = {place for place, item in rendered.items() if item.failure}
        unfit |= {
            folder
            for folder, files in folders.items()
            if any(map(rendering.lacks_value, files.values()))
        }
        return gitops.without_folders(self._inputs, unfit.union(doubtful))

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
