"""Numbers of changed manifests, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from kalypso_actions.model.layout import TRACKING_FOLDER

CHANGES: Final = ("added", "modified", "deleted")


class Changes(Protocol):
    """Paths by the kind of their change."""

    @property
    def added(self) -> Sequence[str]:
        """New files."""

    @property
    def modified(self) -> Sequence[str]:
        """Files with other content."""

    @property
    def deleted(self) -> Sequence[str]:
        """Files that are removed."""

    @property
    def unchanged(self) -> Sequence[str]:
        """All other files."""


def manifests(paths: Sequence[str]) -> tuple[str, ...]:
    """Leave out the files that track the promotion, which are not manifests."""
    # A tree may have very many files, and few of these.
    tracking = {
        path for path in paths if TRACKING_FOLDER in path and f"/{TRACKING_FOLDER}/" in f"/{path}"
    }
    return tuple(path for path in paths if path not in tracking) if tracking else tuple(paths)


def change_counts(changes: Changes, *, with_unchanged: bool = False) -> str:
    """Return `1 added, 2 modified, 0 deleted`, optionally with the number of unchanged files."""
    words = (*CHANGES, "unchanged") if with_unchanged else CHANGES
    return ", ".join(f"{len(manifests(getattr(changes, word)))} {word}" for word in words)
