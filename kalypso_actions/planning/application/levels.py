"""The tree of a configs branch → targets, and the levels of their values."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.application import VALUES_FILE, Compatibility, Target
from kalypso_actions.model.documents import SYMLINK_MODE, FileEntry


def find_targets(
    entries: Mapping[str, FileEntry],
    repository: str,
    compatibility: Compatibility,
    *,
    with_command: bool = False,
) -> tuple[tuple[Target, ...], Diagnostics]:
    """Return the targets of a configs tree, sorted, and the problems of the tree.

    Upstream's targets are the folders with a values.yaml and without subfolders. With `none`, a
    subfolder counts only if a values.yaml is in it or below it, so a folder of documentation does
    not make a group. If there is a command, folders for it are targets, too. Do not follow symbolic
    links, since a link to a folder above never ends.
    """
    counted = (
        path
        for path in entries
        if compatibility != "none" or posixpath.basename(path) == VALUES_FILE
    )
    tree = _Tree(entries, repository, _groups(counted))
    folders = [folder for folder in tree.with_values if folder and not tree.subfolders(folder)]
    folders += tree.for_command(set(folders)) if with_command else []
    targets = tuple(Target(folder, tree.levels(folder)) for folder in sorted(folders))
    findings = Diagnostics(
        problems=list(tree.links()),
        warnings=[*tree.hidden_by_subfolders(), *tree.at_root()],
        notes=list(tree.without_values(targets)),
    )
    return targets, findings


@dataclass(frozen=True, slots=True)
class _Tree:
    entries: Mapping[str, FileEntry]
    repository: str
    groups: Mapping[str, Set[str]]

    @property
    def with_values(self) -> Sequence[str]:
        """The folders that hold a values.yaml, "" for the root."""
        return [
            posixpath.dirname(path)
            for path, entry in self.entries.items()
            if posixpath.basename(path) == VALUES_FILE
            and entry.mode != SYMLINK_MODE
            and not path.startswith(".")
        ]

    def subfolders(self, folder: str) -> Set[str]:
        """Return the subfolders that make a folder a group."""
        return self.groups.get(folder, frozenset())

    def for_command(self, targets: Set[str]) -> list[str]:
        """Return the folders without values and subfolders that hold more than documentation."""
        files = [
            path
            for path in self.entries
            if not any(part.startswith(".") for part in path.split("/"))
            and not path.lower().endswith(".md")
        ]
        folders = {posixpath.dirname(path) for path in files}
        above = {parent for folder in folders for parent in folders_above(folder)}
        known = {*above, *self.with_values, *targets, ""}
        return [
            folder
            for folder in folders - known
            if not any(parent in targets for parent in folders_above(folder))
        ]

    def levels(self, folder: str) -> tuple[str, ...]:
        paths = (f"{level}/{VALUES_FILE}" for level in (*folders_above(folder), folder))
        return tuple(path for path in paths if path in self.entries)

    def links(self) -> Iterator[Problem]:
        for path, entry in self.entries.items():
            if entry.mode == SYMLINK_MODE and not path.startswith("."):
                yield Problem(
                    "symbolic links of configs are not followed",
                    self._at(path),
                    "write the file or folder in its place",
                    "configs-link",
                )

    def hidden_by_subfolders(self) -> Iterator[Problem]:
        """Warn of folders with values that upstream skips: neither targets nor above a target."""
        leaves = [folder for folder in self.with_values if not self.subfolders(folder)]
        for folder in self.with_values:
            if not folder or folder in leaves:
                continue
            if not any(leaf.startswith(f"{folder}/") for leaf in leaves):
                names = ", ".join(sorted(self.subfolders(folder)))
                yield Problem(
                    f"no manifests are made for {folder!r}: its subfolders ({names}) make it a "
                    "group, and none of them has a values.yaml",
                    self._at(f"{folder}/{VALUES_FILE}"),
                    "remove the subfolders, or set compatibility to none",
                    "configs-group",
                )

    def at_root(self) -> Iterator[Problem]:
        if VALUES_FILE in self.entries:
            yield Problem(
                "the values.yaml at the root of the configs is not read",
                self._at(VALUES_FILE),
                "move its values to the chart's values.yaml, or to the folders",
                "configs-root-values",
            )

    def without_values(self, targets: Sequence[Target]) -> Iterator[Problem]:
        """Note folders that have files, but no values.yaml in, above or below them."""
        known = {target.folder for target in targets} | set(self.with_values)
        folders = {posixpath.dirname(path) for path in self.entries} - {""}
        for folder in sorted(folders):
            near = (item for item in known if item and _is_near(folder, item))
            if not folder.startswith(".") and not any(near):
                yield Problem(
                    f"the folder {folder!r} has no values.yaml; no manifests are made for it",
                    self._at(folder),
                    "add a values.yaml, which may be empty, if it is a target",
                    "configs-folder-without-values",
                )

    def _at(self, path: str) -> Location:
        return Location(self.repository, path)


def folders_above(folder: str) -> list[str]:
    """Return the folders above a folder or file, from the first level down."""
    parts = folder.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _groups(paths: Iterable[str]) -> Mapping[str, Set[str]]:
    """Map each folder above these files to its subfolders, if it has any."""
    groups: dict[str, set[str]] = {}
    for path in paths:
        parts = path.split("/")[:-1]
        for count in range(1, len(parts)):
            groups.setdefault("/".join(parts[:count]), set()).add(parts[count])
    return groups


def _is_near(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(f"{other}/") or other.startswith(f"{folder}/")


def new_groups(
    targets: Sequence[Target], existing: Sequence[str], repository: str
) -> Iterator[Problem]:
    """Warn of folders that had manifests until now, but have become groups.

    `existing` are the folders with manifests in the GitOps tree.
    """
    for folder in existing:
        below = [target for target in targets if target.folder.startswith(f"{folder}/")]
        if below:
            names = ", ".join(target.folder for target in below)
            yield Problem(
                f"{folder!r} was a target and is a group now, because of {names}: its manifests "
                "are deleted",
                Location(repository, f"{below[0].folder}/{VALUES_FILE}"),
                "register the new targets in workload.yaml, or move them out of the folder",
                "configs-new-group",
            )
