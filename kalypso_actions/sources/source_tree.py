"""The files of a source as Flux sees them, by folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.sources.ignore_rules import IgnoreRules
from kalypso_actions.sources.kustomization import FILE_NAMES
from kalypso_actions.sources.paths import join, parent, within

YAML_SUFFIXES = (".yaml", ".yml")
NON_FILE_MODES = frozenset({GIT_LINK_MODE, SYMLINK_MODE})


@dataclass(slots=True)
class Folder:
    """What is right in a folder: the paths of its files and of its folders."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)


class SourceTree:
    """Regular files that are not excluded; symlinks and git links are no part of a source."""

    def __init__(
        self, entries: Mapping[str, FileEntry], ignore: IgnoreRules, *, kustomized: bool = True
    ) -> None:
        """Without `kustomized`, kustomizations are no files either, and none has an effect."""
        self._entries = entries
        self._ignore = ignore
        self._kustomized = kustomized
        self.folders: dict[str, Folder] = {"": Folder()}
        for path, entry in entries.items():
            if entry.mode not in NON_FILE_MODES:
                self._add_folder(parent(path)).files.append(path)

    def _add_folder(self, path: str) -> Folder:
        missing = []
        while path not in self.folders:
            missing.append(path)
            path = parent(path)
        for folder in reversed(missing):
            self.folders[parent(folder)].folders.append(folder)
            self.folders[folder] = Folder()
        return self.folders[missing[0] if missing else path]

    def has_file(self, path: str) -> bool:
        """Whether it is a regular file that is not excluded."""
        entry = self._entries.get(path)
        return (
            entry is not None
            and entry.mode not in NON_FILE_MODES
            and not self._ignore.excludes(path)
        )

    def symlinks(self, root: str) -> list[str]:
        """The symbolic links below a folder."""
        return [
            path
            for path, entry in self._entries.items()
            if entry.mode == SYMLINK_MODE and within(path, root) and not self._ignore.excludes(path)
        ]

    def kustomizations(self, folder: str) -> list[str]:
        """The kustomization files of a folder; more than one is a mistake."""
        if not self._kustomized:
            return []
        return [path for name in FILE_NAMES if self.has_file(path := join(folder, name))]

    def manifests(self, folder: str) -> list[str]:
        """The YAML files right in a folder that is walked."""
        return [
            path
            for path in self.folders[folder].files
            if path.endswith(YAML_SUFFIXES)
            and path.rpartition("/")[2] not in FILE_NAMES
            and not self._ignore.excludes(path)
        ]

    def files(self, folder: str) -> list[str]:
        """Every file in a folder and below it."""
        found: list[str] = []
        pending = [folder]
        while pending:
            inner = self.folders[pending.pop()]
            found.extend(path for path in inner.files if not self._ignore.excludes(path))
            pending.extend(inner.folders)
        return found
