"""The files of a source by folder, without those that Flux ignores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kalypso_actions.model.documents import GIT_LINK_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.sources.ignore_rules import IgnoreRules
from kalypso_actions.sources.kustomization import FILE_NAMES
from kalypso_actions.sources.paths import join, parent, within

YAML_SUFFIXES = (".yaml", ".yml")
_MISNAMED = (*YAML_SUFFIXES, ".ymal", ".yaml.txt", ".yml.txt")
NON_FILE_MODES = frozenset({GIT_LINK_MODE, SYMLINK_MODE})


@dataclass(slots=True)
class Folder:
    """The paths of the files and folders directly in a folder."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)


class SourceTree:
    """Regular files that are not excluded; a source has no symbolic links and no submodules."""

    def __init__(
        self, entries: Mapping[str, FileEntry], ignore: IgnoreRules, *, kustomized: bool = True
    ) -> None:
        """If not `kustomized`, kustomizations have no effect."""
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
        """Whether a path is a regular file that is not excluded."""
        entry = self._entries.get(path)
        return (
            entry is not None
            and entry.mode not in NON_FILE_MODES
            and not self._ignore.excludes(path)
        )

    def symlinks(self, root: str) -> list[str]:
        """Return the symbolic links below a folder."""
        return [
            path
            for path, entry in self._entries.items()
            if entry.mode == SYMLINK_MODE and within(path, root) and not self._ignore.excludes(path)
        ]

    def kustomizations(self, folder: str) -> list[str]:
        """Return the kustomization files of a folder; more than one is an error."""
        if not self._kustomized:
            return []
        return [path for name in FILE_NAMES if self.has_file(path := join(folder, name))]

    def manifests(self, folder: str) -> list[str]:
        """Return the YAML files directly in a folder, without kustomizations."""
        return [
            path
            for path in self.folders[folder].files
            if path.endswith(YAML_SUFFIXES)
            and path.rpartition("/")[2] not in FILE_NAMES
            and not self._ignore.excludes(path)
        ]

    def misnamed(self, folder: str) -> list[str]:
        """Return the files directly in a folder that look like YAML, but are not read as such."""
        return [
            path
            for path in self.folders[folder].files
            if path.lower().endswith(_MISNAMED)
            and not path.endswith(YAML_SUFFIXES)
            and not self._ignore.excludes(path)
        ]

    def other_texts(self, folder: str) -> list[str]:
        """Return the JSON files and the files without a suffix directly in a folder."""
        return [
            path
            for path in self.folders[folder].files
            if (path.endswith(".json") or "." not in path.rpartition("/")[2])
            and not self._ignore.excludes(path)
        ]

    def files(self, folder: str) -> list[str]:
        """Return all files below a folder."""
        files: list[str] = []
        pending = [folder]
        while pending:
            inner = self.folders[pending.pop()]
            files.extend(path for path in inner.files if not self._ignore.excludes(path))
            pending.extend(inner.folders)
        return files
