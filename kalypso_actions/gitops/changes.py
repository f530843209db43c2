"""Compute which files of a GitOps tree a run adds, changes, deletes and keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.own_files import (
    README_ID,
    cluster_type_folders,
    in_folder,
    record_paths,
)
from kalypso_actions.gitops.preserved_folders import PreservedFolders
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import (
    PLACEMENTS_FILE,
    PROMOTED_COMMIT_FILE,
    README_FILE,
    README_TEXT,
    SOURCES_FILE,
    TARGET_FILES,
)
from kalypso_actions.model.object_ids import FileContent, blob_id
from kalypso_actions.model.tree import BaseTree, TreeChanges
from kalypso_actions.model.tree_listing import ListedFolder, bytewise, folders_of


@dataclass(frozen=True, slots=True)
class DesiredTree:
    """The content of one environment's tree.

    `folders` maps `<cluster type>/<target>` to its files; `cluster_types` are all cluster types of
    the fleet, with or without assignments. `taken_over` are further folders, with exactly the files
    of the base tree; for `whole` and `partly` see `UnchangedFolders`. Without a `promoted_commit`
    the tracking file stays as it is.
    """

    cluster_types: tuple[str, ...]
    folders: Mapping[str, Mapping[str, FileContent]]
    promoted_commit: str | None
    sources: bytes
    preserved: PreservedFolders = field(default_factory=PreservedFolders)
    placements: bytes | None = None
    taken_over: Collection[str] = frozenset()
    whole: frozenset[str] = frozenset()
    partly: frozenset[str] = frozenset()


def tree_files(desired: DesiredTree, folder: str) -> dict[str, FileContent]:
    """Return our files by path from the repository's root; the tree lies in `folder`.

    Files that are taken over are left out, with the README.md of whole cluster types. The tracking
    file has no newline at its end, as in upstream.
    """
    prefix = f"{folder}/" if folder else ""
    files: dict[str, FileContent] = {
        f"{prefix}{name}/{README_FILE}": README_TEXT
        for name in desired.cluster_types
        if name not in desired.whole
    }
    for place, contents in desired.folders.items():
        for name, content in contents.items():
            files[f"{prefix}{place}/{name}"] = content
    if desired.promoted_commit is not None:
        files[prefix + PROMOTED_COMMIT_FILE] = desired.promoted_commit.encode()
    files[prefix + SOURCES_FILE] = desired.sources
    if desired.placements is not None:
        files[prefix + PLACEMENTS_FILE] = desired.placements
    return files


def compute_changes(desired: DesiredTree, base: BaseTree | None) -> TreeChanges:
    """Return the desired files and how they differ from `base` (None: an empty tree).

    A run deletes files of ours that it no longer produces, the whole folder of a target that is no
    longer assigned, and our files of a removed cluster type. Everything else stays.
    """
    files = tree_files(desired, base.path if base else "")
    kept = [*_listed(desired, base)] if base else []
    base = base.without(kept) if base else None
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
    survey = _Survey(desired, base, files) if base else None
    if survey:
        unchanged += survey.taken_over
    unchanged += (path for folder in kept for path in folder.files())
    problems = list(_collisions(files, base)) + list(_misplaced(base)) if base else []
    listed = _path_lister(base)
    return TreeChanges(
        files=files,
        added=listed(added),
        modified=listed(modified),
        deleted=(*_left_record(files, base), *listed(survey.deleted)) if survey else (),
        unchanged=listed(unchanged),
        foreign_deleted=listed(survey.foreign) if survey else (),
        removed_folders=tuple(sorted(survey.removed_folders)) if survey else (),
        preserved_folders=tuple(sorted(survey.preserved_folders)) if survey else (),
        taken_over=tuple(sorted(desired.taken_over)),
        listed=tuple(kept),
        existing_folders=(len(survey.target_folders) if survey else 0)
        + sum(folder.lines.count(" tree ") for folder in kept)
        - len(desired.whole),
        problems=tuple(problems),
        warnings=tuple(survey.warnings) if survey else (),
    )


def _listed(desired: DesiredTree, base: BaseTree) -> Iterator[ListedFolder]:
    """Yield the folders of the base tree of which nothing changes, and no line need be parsed."""
    folders = base.folders()
    yield from (folders[name] for name in sorted(desired.whole))
    for place in desired.taken_over if desired.partly else ():
        cluster_type, _, target = place.partition("/")
        if cluster_type in desired.partly:
            yield base.folders(cluster_type)[target]


@dataclass(slots=True)
class _Folder:
    """The files of one target folder in the base tree."""

    ours: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


class _Survey:
    """Sorts the files of the base tree into those that stay and those that are deleted."""

    def __init__(self, desired: DesiredTree, base: BaseTree, files: Collection[str]) -> None:
        self._desired = desired
        self._base = base
        self._files = files
        self._cluster_types = frozenset(desired.cluster_types)
        self._prefix = base.prefix
        self._top_folders = cluster_type_folders(base.entries, base.path, self._cluster_types)
        self.deleted: list[str] = []
        self.foreign: list[str] = []
        self.taken_over: list[str] = []
        self.warnings: list[Problem] = []
        self.removed_folders: list[str] = []
        self.preserved_folders: list[str] = []
        self._unknown: dict[str, str] = {}
        self.target_folders = self._find_target_folders()
        for place, folder in self.target_folders.items():
            self._sort_target_folder(place, folder)
        self.warnings += [self._warning(*entry) for entry in sorted(self._unknown.items())]

    def _find_target_folders(self) -> dict[str, _Folder]:
        """Return the folders below a present or former cluster type that have a file of ours.

        Also record unknown folders and files, and the README.md files to delete.
        """
        paths_by_folder: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._base.entries:
            paths_by_folder[path.rpartition("/")[0]].append(path)
        folders: dict[str, _Folder] = {}
        for place, segments in in_folder(paths_by_folder, self._base.path, depth=3):
            paths = paths_by_folder[place]
            top = segments[0]
            if not top or top.startswith("."):
                continue
            if top not in self._top_folders:
                self._unknown.setdefault(top, "folder")
            elif len(segments) == 1:
                self._sort_loose_files(paths, top)
            else:
                folder = folders.setdefault("/".join(segments[:2]), _Folder())
                own_names = TARGET_FILES if len(segments) == 2 else ()
                for path in paths:
                    name = path.rpartition("/")[2]
                    if name in KUSTOMIZATIONS and len(segments) == 2:
                        self._unknown.setdefault(f"{'/'.join(segments)}/{name}", "file")
                    is_own = path.rpartition("/")[2] in own_names
                    (folder.ours if is_own else folder.foreign).append(path)
        self._unknown |= {place: "folder" for place, folder in folders.items() if not folder.ours}
        return {place: folder for place, folder in folders.items() if folder.ours}

    def _sort_loose_files(self, paths: Iterable[str], top: str) -> None:
        for path in paths:
            name = path.rpartition("/")[2]
            if name != README_FILE:
                self._unknown.setdefault(f"{top}/{name}", "file")
            elif top not in self._cluster_types:
                self.deleted.append(path)

    def _sort_target_folder(self, place: str, folder: _Folder) -> None:
        cluster_type, _, target = place.partition("/")
        exists = cluster_type in self._cluster_types
        if place in self._desired.taken_over:
            self.taken_over += folder.ours
        elif exists and place in self._desired.folders:
            self.deleted += [path for path in folder.ours if path not in self._files]
        elif exists and self._desired.preserved.includes(cluster_type, target):
            self.preserved_folders.append(place)
        else:
            self.removed_folders.append(place)
            self.deleted += folder.ours + folder.foreign
            self.foreign += folder.foreign

    def _warning(self, place: str, what: str) -> Problem:
        """Report what is kept; with a kustomization, Flux and Argo CD apply what it lists alone."""
        folder, _, name = place.rpartition("/")
        is_kustomization = what == "file" and name in KUSTOMIZATIONS
        return Problem(
            f"the {what} {place!r} in the GitOps repository is not ours; it is kept"
            + (f", and of {folder}, only what it lists is applied" if is_kustomization else ""),
            Location(self._base.repository, self._prefix + place),
            f"remove it, or list everything of {folder} in it, also what comes later"
            if is_kustomization
            else "remove it if it is not wanted",
            "gitops-file-foreign",
        )


KUSTOMIZATIONS: Final = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})
"""Without one, Flux lists all files of a folder itself: https://fluxcd.io/flux/components/kustomize/
kustomizations/#generate-kustomizationyaml."""


def _left_record(files: Collection[str], base: BaseTree | None) -> Iterator[str]:
    """Yield the path of the record of Placements if no Placement decides anything any more."""
    path = base.prefix + PLACEMENTS_FILE if base else ""
    if base and path in base.entries and path not in files:
        yield path


def _collisions(files: Mapping[str, FileContent], base: BaseTree) -> Iterator[Problem]:
    """Yield a problem for each file where a folder is needed, and the other way round."""
    for folder in sorted(folders_of(files) & base.entries.keys()):
        yield _in_the_way(base, folder, "a file stands where a folder is needed")
    new = files.keys() - base.entries.keys()
    if not new:
        return
    for path in sorted(new & folders_of(base.entries)):
        yield _in_the_way(base, path, "a folder stands where a file is needed")


def _misplaced(base: BaseTree) -> Iterator[Problem]:
    """Yield a problem for a tree at the root: upstream ignores a GitOpsRepo's path."""
    tops = [
        top
        for path, entry in sorted(base.entries.items() if base.path else ())
        for top, _, name in [path.partition("/")]
        if name == README_FILE and entry.object_id == README_ID and top != base.path
    ]
    if tops:
        others = f" (and {counted(len(tops) - 1, 'other')})" if tops[1:] else ""
        yield Problem(
            f"the GitOpsRepo names the path {base.path!r}, but the cluster type folder {tops[0]!r}"
            f"{others} stands at the root",
            Location(base.repository, f"{tops[0]}/{README_FILE}"),
            f"move the cluster type folders and .github/tracking below {base.path!r}, or set "
            "the GitOpsRepo's path to '.'",
            "gitops-path-misplaced",
        )


def _in_the_way(base: BaseTree, path: str, fault: str) -> Problem:
    return Problem(
        fault, Location(base.repository, path), "remove or rename it", "gitops-path-blocked"
    )


def _path_lister(base: BaseTree | None) -> Callable[[Iterable[str]], tuple[str, ...]]:
    """Return a function that sorts paths bytewise and leaves records out."""
    left_out = record_paths(base.path if base else "")

    def listed(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(bytewise(path for path in paths if path not in left_out))

    return listed
