"""Render the assignments whose inputs have changed, and keep the folders of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions import rendering
from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.provenance import InputsRecord
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.processes import Progress
from kalypso_actions.model.tree import Snapshot, TreeChanges
from kalypso_actions.planning.assignment_rendering import (
    AssignmentRenderer,
    Folders,
    PlannedAssignment,
)
from kalypso_actions.planning.fleet_manifests import ManifestJudgement, are_own
from kalypso_actions.planning.unchanged.same_inputs import (
    UnchangedFolders,
    input_digests,
    unchanged_folders,
    without_folders,
)
from kalypso_actions.platform_config import PlatformConfig


@dataclass(frozen=True, slots=True)
class RenderedAssignments:
    """All assignments of a run, and the files of those that it rendered.

    The folders `taken_over` stay as they are in the base tree, because no input has changed; for
    `whole` and `partly` see `UnchangedFolders`. `inputs` is the record for the next run; None if
    that run has nothing to compare. `unchanged` are the folders with the inputs of the base tree,
    whether they were rendered or not. `manifests` has the findings of the rendered files,
    `platform_config` the configuration by which they were rendered.
    """

    planned: tuple[PlannedAssignment, ...]
    folders: Folders
    taken_over: Collection[str]
    whole: frozenset[str]
    partly: frozenset[str]
    inputs: InputsRecord | None
    unchanged: Collection[str]
    manifests: ManifestJudgement
    platform_config: PlatformConfig

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

    def refuted(self, changes: TreeChanges, repository: str) -> Iterator[Problem]:
        """Yield a problem for each rendered file that differs though its inputs are unchanged."""
        for path in (*changes.added, *changes.modified, *changes.deleted):
            folder = "/".join(path.split("/")[-3:-1])
            if folder in self.unchanged:
                yield Problem(
                    "the file changed although none of its inputs did",
                    Location(repository, path),
                    "report this as an error of Kalypso: without verify, the old file would stay",
                )


def render_changed(
    snapshot: Snapshot,
    fleet: Fleet,
    assignments: Sequence[Assignment],
    layout: rendering.Options,
    make_renderer: Callable[[], AssignmentRenderer],
    progress: Progress,
    *,
    code: str,
    verify: bool,
) -> RenderedAssignments:
    """Render the assignments whose inputs have changed, and with `verify` the others too.

    `code` identifies the code that renders; with "", no folder counts as unchanged. If a rendered
    assignment fails or has much excess, others of its registration may fail because of it: then
    this renders all of them.
    """
    inputs, unchanged = None, UnchangedFolders()
    if code and assignments:
        inputs = input_digests(fleet, PlatformConfig(fleet), layout, code, assignments)
        assigned = defaultdict(list)
        for item in assignments:
            assigned[item.cluster_type.name].append(item.target.name)
        unchanged = unchanged_folders(snapshot.base_trees, snapshot.environment, assigned, inputs)
    known = {} if verify else dict(unchanged.files)
    places = [item.folder for item in assignments]
    while True:
        renderer, folders = make_renderer(), Folders()
        changed = [
            item for item, place in zip(assignments, places, strict=True) if place not in known
        ]
        rendered = dict(
            zip(
                (item.folder for item in changed),
                renderer.render_all(changed, folders, progress),
                strict=True,
            )
        )
        doubtful = _doubtful(assignments, rendered.values())
        doubtful |= _sharing(assignments, rendered.values())
        if doubtful.isdisjoint(known):
            break
        for place in doubtful:
            known.pop(place, None)
    judged, manifests = renderer.judge([*rendered.values()], folders)
    rendered = {item.assignment.folder: item for item in judged}
    changed_types = {item.cluster_type.name for item in changed}
    known_types = {place.partition("/")[0] for place in known}
    return RenderedAssignments(
        planned=tuple(
            rendered.get(place) or renderer.taken_over(item, known[place])
            for item, place in zip(assignments, places, strict=True)
        ),
        folders=folders,
        taken_over=known.keys(),
        whole=unchanged.whole - changed_types,
        partly=(unchanged.partly | unchanged.whole & changed_types) & known_types,
        inputs=_record(inputs, rendered, folders, doubtful | manifests.folders) if inputs else None,
        unchanged=unchanged.files.keys(),
        manifests=manifests,
        platform_config=renderer.platform_config,
    )


def _doubtful(
    assignments: Iterable[Assignment], rendered: Iterable[PlannedAssignment]
) -> frozenset[str]:
    """Return the folders of registrations with an assignment that fails or has much excess.

    It has much if it has more than its share.
    """
    counts = Counter(item.target.registration for item in assignments)
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
        item.folder for item in assignments if item.target.registration in registrations
    )


def _sharing(
    assignments: Iterable[Assignment], rendered: Iterable[PlannedAssignment]
) -> frozenset[str]:
    """Return the folders of cluster types with an object that is not that of one target alone.

    Only when all of them are rendered is it known whether others have the same object.
    """
    cluster_types = {
        item.assignment.cluster_type.name
        for item in rendered
        if not are_own(item.assignment, item.checked)
    }
    if not cluster_types:
        return frozenset()
    return frozenset(item.folder for item in assignments if item.cluster_type.name in cluster_types)


def _record(
    inputs: InputsRecord,
    rendered: Mapping[str, PlannedAssignment],
    folders: Folders,
    doubtful: Collection[str],
) -> InputsRecord:
    """Return the record of the inputs for the next run.

    Each run renders assignments that fail, have a warning, or may fail because of others.
    """
    unfit = {place for place, item in rendered.items() if item.failure}
    unfit |= {
        folder
        for folder, files in folders.items()
        if any(map(rendering.lacks_value, files.values()))
    }
    return without_folders(inputs, unfit.union(doubtful))
