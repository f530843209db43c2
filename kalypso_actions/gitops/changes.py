"""The proposed tree held against the existing one: what is written, what goes, what stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.own_files import README_ID, cluster_type_folders, in_folder
from kalypso_actions.gitops.proposal import Proposal, tree_files
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import README_FILE, SOURCES_FILE, TARGET_FILES
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges

SMALL_REMOVAL = 5
"""Up to so many removed targets are never a mass removal."""


def compute_changes(proposal: Proposal, base: BaseTree | None) -> TreeChanges:
    """The proposal's files and how they differ from `base` (None: an empty tree).

    Deleted are: files of ours that are no longer produced, the whole folder of a target that is no
    longer assigned, and what a removed cluster type held of ours. Everything else stays.
    """
    files = tree_files(proposal, base.path if base else "")
    entries: Mapping[str, FileEntry] = base.entries if base else {}
    added, modified, unchanged = [], [], []
    for path, content in files.items():
        entry = entries.get(path)
        if entry is None:
            added.append(path)
        elif (entry.mode, entry.object_id) != (FILE_MODE, blob_id(content)):
            modified.append(path)
        else:
            unchanged.append(path)
    survey = _Survey(proposal, base, files) if base else None
    problems = list(_collisions(files, base)) + list(_misplaced(base)) if base else []
    listed = _path_lister(base)
    return TreeChanges(
        files=files,
        added=listed(added),
        modified=listed(modified),
        deleted=listed(survey.deleted) if survey else (),
        unchanged=listed(unchanged),
        foreign_deleted=listed(survey.foreign) if survey else (),
        removed_folders=tuple(sorted(survey.removed_folders)) if survey else (),
        kept_folders=tuple(sorted(survey.kept_folders)) if survey else (),
        existing_folders=len(survey.target_folders) if survey else 0,
        problems=tuple(problems),
        warnings=tuple(survey.warnings) if survey else (),
    )


def mass_removal(changes: TreeChanges, percent: int) -> str:
    """What is to be said where more than `percent` of an environment's assignments would go."""
    removed = len(changes.removed_folders)
    if removed <= SMALL_REMOVAL or removed * 100 <= changes.existing_folders * percent:
        return ""
    return (
        f"{removed} of {changes.existing_folders} assignments would be removed, which is more "
        f"than {percent}%: {', '.join(changes.removed_folders[:10])}"
        + (" …" if removed > 10 else "")
    )


@dataclass(slots=True)
class _Folder:
    """The files of one target folder in the base."""

    ours: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


class _Survey:
    """Goes through the base tree once and sorts out what the proposal ends."""

    def __init__(self, proposal: Proposal, base: BaseTree, files: Mapping[str, bytes]) -> None:
        self._proposal = proposal
        self._base = base
        self._files = files
        self._cluster_types = frozenset(proposal.cluster_types)
        self._prefix = f"{base.path}/" if base.path else ""
        self._top_folders = cluster_type_folders(base.entries, base.path, self._cluster_types)
        self.deleted: list[str] = []
        self.foreign: list[str] = []
        self.warnings: list[Problem] = []
        self.removed_folders: list[str] = []
        self.kept_folders: list[str] = []
        self.target_folders = self._find_target_folders()
        self._strangers: dict[str, str] = {}
        self._judge()
        self.warnings += [self._warn(*stranger) for stranger in sorted(self._strangers.items())]

    def _find_target_folders(self) -> dict[str, _Folder]:
        """Folders below a cluster type, past or present, that hold a file of ours."""
        folders: dict[str, _Folder] = {}
        for path, segments in in_folder(self._base.entries, self._base.path):
            if len(segments) < 3 or segments[0] not in self._top_folders:
                continue
            folder = folders.setdefault("/".join(segments[:2]), _Folder())
            ours = len(segments) == 3 and segments[2] in TARGET_FILES
            (folder.ours if ours else folder.foreign).append(path)
        return {place: folder for place, folder in folders.items() if folder.ours}

    def _judge(self) -> None:
        for path, segments in in_folder(self._base.entries, self._base.path):
            if len(segments) == 1 or segments[0].startswith("."):
                continue
            top = segments[0]
            if top not in self._top_folders:
                self._strangers.setdefault(top, "folder")
            elif len(segments) == 2:
                self._judge_loose_file(path, top, segments[1])
            elif "/".join(segments[:2]) not in self.target_folders:
                self._strangers.setdefault("/".join(segments[:2]), "folder")
        for place, folder in self.target_folders.items():
            self._judge_target_folder(place, folder)

    def _judge_loose_file(self, path: str, top: str, name: str) -> None:
        if name != README_FILE:
            self._strangers.setdefault(f"{top}/{name}", "file")
        elif top not in self._cluster_types:
            self.deleted.append(path)

    def _judge_target_folder(self, place: str, folder: _Folder) -> None:
        cluster_type, _, target = place.partition("/")
        lives = cluster_type in self._cluster_types
        if lives and place in self._proposal.folders:
            self.deleted += [path for path in folder.ours if path not in self._files]
        elif lives and self._proposal.kept.keeps(cluster_type, target):
            self.kept_folders.append(place)
        else:
            self.removed_folders.append(place)
            self.deleted += folder.ours + folder.foreign
            self.foreign += folder.foreign

    def _warn(self, place: str, what: str) -> Problem:
        return Problem(
            f"the {what} {place!r} in the GitOps repository is not ours; it is kept",
            Location(self._base.repository, self._prefix + place),
            "remove it if it is not wanted",
        )


def _collisions(files: Mapping[str, bytes], base: BaseTree) -> Iterator[Problem]:
    """A file stands where we need a folder, or a folder where we need a file."""
    folders = {folder for path in files for folder in _parents(path)}
    for folder in sorted(folders):
        if folder in base.entries:
            yield _in_the_way(base, folder, "a file stands where a folder is needed")
    occupied = {folder for path in base.entries for folder in _parents(path)}
    for path in sorted(files):
        if path in occupied:
            yield _in_the_way(base, path, "a folder stands where a file is needed")


def _misplaced(base: BaseTree) -> Iterator[Problem]:
    """Upstream ignores a GitOpsRepo's path and writes to the root: that tree must move first."""
    if not base.path:
        return
    for path, entry in sorted(base.entries.items()):
        top, _, name = path.partition("/")
        if name == README_FILE and entry.object_id == README_ID and top != base.path:
            yield Problem(
                f"the GitOpsRepo names the path {base.path!r}, but the cluster type folder {top!r} "
                "stands at the root",
                Location(base.repository, path),
                f"move the cluster type folders and .github/tracking below {base.path!r}, or set "
                "the GitOpsRepo's path to '.'",
            )


def _in_the_way(base: BaseTree, path: str, fault: str) -> Problem:
    return Problem(fault, Location(base.repository, path), "remove or rename it")


def _parents(path: str) -> Iterator[str]:
    position = path.find("/")
    while position >= 0:
        yield path[:position]
        position = path.find("/", position + 1)


def _path_lister(base: BaseTree | None) -> Callable[[Iterable[str]], tuple[str, ...]]:
    """Sorts paths bytewise and leaves provenance out."""
    left_out = f"{base.path}/{SOURCES_FILE}" if base and base.path else SOURCES_FILE

    def listed(paths: Iterable[str]) -> tuple[str, ...]:
        kept = (path for path in paths if path != left_out)
        return tuple(sorted(kept, key=lambda path: path.encode("utf-8", "surrogateescape")))

    return listed
