"""Render the assignments of two plans, and compare both sides of each, without secrets.

If there are many assignments, processes render and compare them, and return only the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions import rendering
from kalypso_actions.comparison import Mask, ValueDifference, ValueDifferences
from kalypso_actions.model.differences import Change, FileChange, FileDiff
from kalypso_actions.model.kinds import Assignment, Fleet
from kalypso_actions.model.processes import Processes
from kalypso_actions.model.progress import Progress, no_progress
from kalypso_actions.planning.assignment_rendering import (
    AssignmentRenderer,
    Folders,
    PlannedAssignment,
    divided,
)
from kalypso_actions.planning.secret_texts import SecretTexts

Pair = tuple[Assignment | None, Assignment | None]
"""An assignment before and after a change; None on a side without it."""

Lines = tuple[tuple[str, bytes], ...]
"""Lines of files, each with the name of its file."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of an assignment: the names of its files, or its failure.

    `repositories` are the URLs of all repositories whose content the files or the failure may have.
    """

    files: tuple[str, ...]
    failure: rendering.Failure | None
    repositories: frozenset[str]


@dataclass(frozen=True, slots=True)
class ComparedAssignment:
    """Both sides of an assignment, and how they differ.

    If the assignment fails after the change, there are no `diffs`: its files stay as they are.
    `gaps_new` are the lines with a missing value that only the second side has. `secrets` are the
    texts to mask in everything else that is shown.
    """

    before: ComparedSide | None
    after: ComparedSide | None
    diffs: tuple[FileDiff, ...]
    values: Sequence[ValueDifference]
    gaps_new: Lines
    gaps_known: Lines
    secrets: frozenset[str]


class AssignmentComparer:
    """Compares the assignments of two fleets, each with its renderer."""

    def __init__(
        self,
        before: tuple[Fleet, AssignmentRenderer],
        after: tuple[Fleet, AssignmentRenderer],
        mask: Mask,
        processes: Processes | None = None,
    ) -> None:
        self._mask = mask
        self._before, self._after = _Side(*before, mask), _Side(*after, mask)
        self._processes = processes
        self._values = ValueDifferences()

    def compare(self, pairs: Sequence[Pair], progress: Progress) -> Iterator[ComparedAssignment]:
        """Yield the comparison of each pair; their order is that of both schedules."""
        sizes = [sum(1 for side in pair if side) for pair in pairs]
        done, total = 0, sum(sizes)
        progress(done, total)
        for size, compared in zip(sizes, self._all(pairs, total), strict=True):
            yield compared
            done += size
            progress(done, total)

    def _all(self, pairs: Sequence[Pair], total: int) -> Iterator[ComparedAssignment]:
        processes = self._processes
        count = processes.usable(total) if processes else 1
        if processes is None or count == 1 or any(map(_moves, pairs)):
            return (self._compared(*pair) for pair in pairs)
        assignments = [item for pair in pairs for item in [pair[1] or pair[0]] if item]
        owners = divided(assignments, count)
        return processes.compute(owners, lambda index, _: self._compared(*pairs[index]))

    def _compared(self, before: Assignment | None, after: Assignment | None) -> ComparedAssignment:
        old = self._before.render(before) if before else None
        new = self._after.render(after) if after else None
        old_files, new_files = (side.contents if side else {} for side in (old, new))
        gaps_new, gaps_known = _gaps(old_files, new_files)
        return ComparedAssignment(
            old.compared if old else None,
            new.compared if new else None,
            () if new and new.item.failure else tuple(self._diffs(old, new)),
            self._values.of(old.item.config, new.item.config) if old and new else (),
            gaps_new,
            gaps_known,
            _secrets(old, new),
        )

    def _diffs(self, old: _Rendered | None, new: _Rendered | None) -> Iterator[FileDiff]:
        folder = next(side.item.assignment.folder for side in (new, old) if side)
        before, after = (side.contents if side else {} for side in (old, new))
        repositories = self._after.shared(
            frozenset(name for side in (old, new) if side for name in side.compared.repositories)
        )
        secrets = _secrets(old, new)
        for name in before.keys() | after.keys():
            file = file_change(f"{folder}/{name}", before.get(name), after.get(name), repositories)
            if file:
                yield self._mask.diff(file, secrets)


def file_change(
    path: str, before: bytes | None, after: bytes | None, repositories: frozenset[str]
) -> FileChange | None:
    """Return how a file differs; None if it does not."""
    if before == after:
        return None
    change: Change = "added" if before is None else "deleted" if after is None else "modified"
    return FileChange(path, change, before, after, repositories)


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A rendered side of an assignment; `contents` is empty if it fails."""

    item: PlannedAssignment
    contents: Mapping[str, bytes]
    compared: ComparedSide
    secrets: frozenset[str]


class _Side:
    """Renders the assignments of one side."""

    def __init__(self, fleet: Fleet, renderer: AssignmentRenderer, mask: Mask) -> None:
        self._renderer = renderer
        self._secrets = SecretTexts(mask)
        self._templates = {each.name: each.where.repository for each in fleet.templates}
        self._config_maps = {each.name: each for each in fleet.config_maps}
        self._of_layers: dict[str, frozenset[str]] = {}
        self._shared: dict[frozenset[str], frozenset[str]] = {}

    def render(self, assignment: Assignment) -> _Rendered:
        """Render an assignment; this process keeps all contents."""
        folders: Folders = {}
        (item,) = self._renderer.render_all([assignment], folders, no_progress)
        files = folders.get(assignment.folder, {})
        contents = {name: text for name, text in files.items() if isinstance(text, bytes)}
        compared = ComparedSide(item.files, item.failure, self._repositories(item))
        return _Rendered(item, contents, compared, self._secrets.of(item))

    def shared(self, repositories: frozenset[str]) -> frozenset[str]:
        """Return the first equal set, so that processes send and keep few sets."""
        return self._shared.setdefault(repositories, repositories)

    def _repositories(self, item: PlannedAssignment) -> frozenset[str]:
        """Return the repositories whose content may be in the files of an assignment."""
        cluster_type = item.assignment.cluster_type
        names = (cluster_type.reconciler, cluster_type.namespace_service, cluster_type.config_type)
        places = (item.assignment.target.where.repository, cluster_type.where.repository)
        templates = (self._templates[name] for name in names if name in self._templates)
        layers = map(self._of_layer, item.config.config_maps)
        return self.shared(frozenset().union(places, templates, *layers))

    def _of_layer(self, config_map: str) -> frozenset[str]:
        known = self._of_layers.get(config_map)
        if known is None:
            layer = self._config_maps[config_map]
            known = frozenset(layer.at(key).repository for key in layer.data)
            self._of_layers[config_map] = known
        return known


def _secrets(*sides: _Rendered | None) -> frozenset[str]:
    return frozenset(text for side in sides if side for text in side.secrets)


def _moves(pair: Pair) -> bool:
    """Whether an assignment moves to another registration, and so to another budget."""
    return len({item.target.registration for item in pair if item}) > 1


def _gaps(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[Lines, Lines]:
    """Return the lines with a missing value: new ones, and those that the file had before."""
    new: list[tuple[str, bytes]] = []
    known: list[tuple[str, bytes]] = []
    for name, content in after.items():
        if rendering.lacks_value(content):
            known_lines = set(before.get(name, b"").splitlines())
            for line in filter(rendering.lacks_value, content.splitlines()):
                (known if line in known_lines else new).append((name, line))
    return tuple(new), tuple(known)
