"""The files of a change that determine the settings of its preview."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.model.documents import FileEntry

FOLDERS: Final = (".github/workflows/", ".github/actions/")


def changed_settings(
    base: Mapping[str, FileEntry], head: Mapping[str, FileEntry]
) -> tuple[str, ...]:
    """Return the workflows and actions that differ between two trees, sorted.

    GitHub runs the workflows of the merge, so the inputs, such as allowed-repositories, come from
    the change and not from the base.
    """
    paths = {path for path in base.keys() | head.keys() if path.startswith(FOLDERS)}
    return tuple(sorted(path for path in paths if base.get(path) != head.get(path)))
