"""Render only the assignments whose inputs have changed since the base tree was written.

    rendered = render_changed(snapshot, fleet, assignments, layout, make_renderer, progress, ...)
    rendered.planned, rendered.folders, rendered.taken_over

There is one digest for all inputs of each cluster type, and one for those of each target, so there
are far fewer digests than assignments. A folder is unchanged if one of its two digests is that of
an earlier run: a changed value of a target does not affect the digests of other targets, and a
changed value of a cluster type does not affect those of other cluster types. Rendering uses neither
a clock nor random numbers: equal digests mean equal files.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions import rendering
from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.own_files import README_ID
from kalypso_actions.gitops.provenance import InputsRecord, read_sources
from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet
from kalypso_actions.model.layout import README_FILE, TARGET_FILES
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.processes import Progress
from kalypso_actions.model.tree import BaseTree, Snapshot, TreeChanges
from kalypso_actions.planning.assignment_rendering import (
    AssignmentRenderer,
    Folders,
    PlannedAssignment,
)
from kalypso_actions.planning.fleet_manifests import ManifestJudgement, are_own, wanted_of
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

    Only when all of them are rendered is it known whether others have the same object. The same is
    true of the folders with an object to which another assignment refers.
    """
    assignments, rendered = list(assignments), list(rendered)
    is_wanted = wanted_of(item.checked for item in rendered)
    cluster_types = {
        item.assignment.cluster_type.name
        for item in rendered
        if not are_own(item.assignment, item.checked)
    }
    return frozenset(
        item.folder
        for item in assignments
        if item.cluster_type.name in cluster_types or is_wanted(item)
    )


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


LENGTH: Final = 32
"""Hexadecimal digits of a digest."""


def input_digests(
    fleet: Fleet,
    platform_config: PlatformConfig,
    layout: rendering.Options,
    code: str,
    assignments: Sequence[Assignment],
) -> InputsRecord:
    """Return the digests of all assignments; `code` identifies the code that renders.

    The digest of a cluster type changes with its own inputs, with those of each target that it
    gets, and with the configuration that applies to both together; that of a target likewise.
    """
    inputs = _Inputs(fleet, platform_config, layout, code, assignments)
    of_both: dict[str, Callable[[DeploymentTarget], bytes]] = {}
    cluster_types: dict[str, list[bytes]] = {}
    targets: dict[str, list[bytes]] = {}
    for item in assignments:
        cluster_type, target = item.cluster_type.name, item.target.name
        if cluster_type not in cluster_types:
            cluster_types[cluster_type] = [inputs.of_cluster_type(item.cluster_type)]
            of_both[cluster_type] = platform_config.digests.of_both(item.cluster_type)
        if target not in targets:
            targets[target] = [inputs.of_target(item.target)]
        both = of_both[cluster_type](item.target)
        cluster_types[cluster_type].append(targets[target][0] + both)
        targets[target].append(cluster_types[cluster_type][0] + both)
    return InputsRecord(
        cluster_types={name: _joined(digests) for name, digests in cluster_types.items()},
        targets={name: _joined(digests) for name, digests in targets.items()},
    )


def without_folders(record: InputsRecord, unfit: Collection[str]) -> InputsRecord:
    """Return a record without the `unfit` folders, which a later run has to render again.

    These folders have failures or warnings, which the tree does not contain.
    """
    without = [folder.partition("/") for folder in unfit]
    unfit_types = {cluster_type for cluster_type, _, _ in without}
    unfit_targets = {target for _, _, target in without}
    return InputsRecord(
        cluster_types={
            name: None if name in unfit_types else digest
            for name, digest in record.cluster_types.items()
        },
        targets={name: None if name in unfit_targets else d for name, d in record.targets.items()},
    )


class _Inputs:
    """The digests of a cluster type and of a target alone, with what applies to each of them."""

    def __init__(
        self,
        fleet: Fleet,
        platform_config: PlatformConfig,
        layout: rendering.Options,
        code: str,
        assignments: Sequence[Assignment],
    ) -> None:
        self._config = platform_config.digests
        self._common = _digest([code, fleet.environment, layout.namespace_scheme])
        self._common += _digest([layout.config_file, layout.registration_text])
        self._templates = {
            item.name: _digest(
                [item.type, item.content_type, item.manifests, [*item.annotations.items()]]
            )
            for item in fleet.templates
        }
        self._registered = Counter(item.target.registration for item in assignments)

    def of_cluster_type(self, item: ClusterType) -> bytes:
        names = (item.reconciler, item.namespace_service, item.config_type)
        templates = b"".join(self._templates.get(name, bytes(32)) for name in names)
        own = self._common + _digest([item.name, names]) + templates
        return _hashed(own + self._config.of_cluster_type(item))

    def of_target(self, item: DeploymentTarget) -> bytes:
        own = _digest(
            [
                item.name,
                item.workload,
                item.workspace,
                [*item.labels.items()],
                [*item.manifests.items()],
                item.config_schemas,
                item.registration,
                self._share(item.registration),
            ]
        )
        return _hashed(own + self._config.of_target(item))

    def _share(self, registration: str) -> int:
        """Return the share of each assignment in the excess of its registration."""
        count = self._registered[registration]
        return rendering.share_of_registration(count) if registration else 0


def _joined(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()[:LENGTH]


def _digest(value: object) -> bytes:
    """Return the digest of strings and collections; the order of keys counts."""
    return _hashed(json.dumps(value, default=repr).encode())


def _hashed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@dataclass(frozen=True, slots=True)
class UnchangedFolders:
    """Folders of targets, `<cluster type>/<target>`, with the names of their files.

    A run does not look at single files of `whole` and `partly`. Cluster types that are `whole` have
    nothing but unchanged folders, in the base trees as well. Those that are `partly` unchanged have
    others beside unchanged folders, which have nothing but these files.
    """

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    partly: frozenset[str] = frozenset()


def unchanged_folders(
    bases: Sequence[BaseTree],
    environment: str,
    assigned: Mapping[str, Collection[str]],
    now: InputsRecord,
) -> UnchangedFolders:
    """Return the folders that all base trees have with the same inputs.

    `assigned` are the targets of each cluster type, `now` is the record of their present inputs. A
    tree counts only if a run wrote it and nobody has changed it since.
    """
    sources = [read_sources(base.sources, environment) for base in bases if base.is_as_written]
    records = [item.inputs for item in sources if item and item.inputs]
    if len(records) < max(1, len(bases)):
        return UnchangedFolders()
    unchanged = dict(_unchanged(records, assigned, now))
    whole: set[str] = set()
    partly: set[str] = set()
    files: dict[str, tuple[str, ...]] = {}
    for name, targets in unchanged.items():
        exact = [_exact(base, name, targets) for base in bases]
        names = exact[0][1]
        if names and all(item == names for _, item in exact):
            is_whole = len(targets) == len(assigned[name]) and all(item for item, _ in exact)
            (whole if is_whole else partly).add(name)
            files |= {f"{name}/{target}": names for target in targets}
    others = unchanged.keys() - whole - partly
    if others:
        base = bases[0].without([bases[0].folders()[name] for name in whole])
        places = (f"{name}/{target}" for name in others for target in unchanged[name])
        files |= {place: _names(base, place) for place in places}
    return UnchangedFolders(files, frozenset(whole), frozenset(partly))


def _unchanged(
    records: Iterable[InputsRecord], assigned: Mapping[str, Collection[str]], now: InputsRecord
) -> Iterator[tuple[str, Collection[str]]]:
    """Yield the targets of each cluster type whose inputs equal those in every record."""
    same_types = [_same(record.cluster_types, now.cluster_types) for record in records]
    same_targets = [_same(record.targets, now.targets) for record in records]
    for name, targets in assigned.items():
        same = [
            others
            for types, others in zip(same_types, same_targets, strict=True)
            if name not in types
        ]
        left = [item for item in targets if all(item in others for others in same)]
        if left:
            yield name, left


def _same(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> frozenset[str]:
    """Return the names with the same digest."""
    return frozenset(name for name, digest in now.items() if before.get(name) == digest)


def _names(base: BaseTree, folder: str) -> tuple[str, ...]:
    folder = base.prefix + folder
    return tuple(name for name in TARGET_FILES if f"{folder}/{name}" in base.entries)


def _exact(
    base: BaseTree, cluster_type: str, targets: Collection[str]
) -> tuple[bool, tuple[str, ...]]:
    """Return whether a cluster type has only these targets, and the names of the files of each.

    Beside them, it may have our up-to-date README.md only. There are no names if the targets have
    different files, or if their folders have any others.
    """
    folder = base.folders().get(cluster_type)
    if folder is None:
        return False, ()
    depth = folder.path.count("/") + 1
    paths = {folder.path, *(f"{folder.path}/{target}" for target in targets)}
    if set(folder.folders()) == paths:
        end_of_own_line = folder.lines.find("\0", 1)
        lines = folder.lines[end_of_own_line:]
        readme = f"\0{FILE_MODE} blob {README_ID}\t{folder.path}/{README_FILE}\0"
        if readme in f"{lines}\0":
            names = _files_of_each(lines, depth, len(targets), others=1)
            if names:
                return True, names
    inside = base.folders(cluster_type)
    if not inside.keys() >= set(targets):
        return False, ()
    lines = "".join([inside[target].lines for target in targets])
    return False, _files_of_each(lines, depth, len(targets), others=0)


def _files_of_each(lines: str, depth: int, count: int, others: int) -> tuple[str, ...]:
    """Return the names of the files that each of `count` folders has; () if there is anything else.

    The paths of folders have `depth` slashes, and so have those of `others`, files beside them.
    """
    text = f"{lines}\0"
    names = tuple(name for name in TARGET_FILES if f"/{name}\0" in text)
    files = count * len(names)
    total = count + others + files
    is_exact = (
        all(text.count(f"/{name}\0") == count for name in names)
        # Otherwise a file without a folder of its own could stand for one that is missing.
        and text.count("/") == depth * (count + others) + (depth + 1) * files
        and text.count(" blob ") == files + others
        # No other line, and in each line only the blanks and the tab before its path.
        and text.count("\0") - 1 == text.count("\t") == total
        and text.count(" ") == 2 * total
    )
    return names if is_exact else ()
