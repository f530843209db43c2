"""A plain folder as the files of a revision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kalypso_actions.model.documents import FileEntry


class FolderFiles:
    """Every file below a folder (`.git` aside), with the blob ids that git would give them."""

    commit: str | None = None

    def __init__(self, folder: Path, *, repository: str = "") -> None:
        """`repository` is how the user names it (default: the path)."""
        self.repository = repository or str(folder)

    def entries(self) -> Mapping[str, FileEntry]:
        """Every file by its path. Raises KalypsoError when the folder cannot be read."""
        raise NotImplementedError

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Contents of these files."""
        raise NotImplementedError

    def tree_id(self, path: str) -> str | None:
        """None: a folder has no trees."""
        raise NotImplementedError
