"""The contents that people removed from a GitOps branch, and those that they asked for again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tests.chain.machine.acme import FOREIGN


def digest(files: Mapping[str, bytes]) -> str:
    """Return a digest of the owned files of a tree, without the tracking files."""
    owned = sorted(
        (path, content)
        for path, content in files.items()
        if path.startswith("large/") and path not in FOREIGN
    )
    return hashlib.sha256(repr(owned).encode()).hexdigest()


class Content:
    """The contents of one GitOps branch: those that our merges brought and people removed."""

    def __init__(self, now: str) -> None:
        self.merged = now
        """The content after our last merge."""
        self._held = {now}
        self.removed: set[str] = set()
        """The contents that must not be proposed again."""

    def we_merged(self, now: str) -> None:
        """Record that our pull request was merged."""
        self.merged = now
        self._held.add(now)
        self.removed.discard(now)

    def people_changed(self, before: str, now: str) -> None:
        """Record a person's commit, which may remove the content of an earlier merge."""
        if before != now and before in self._held:
            self.removed.add(before)
        self.removed.discard(now)

    def people_closed(self, proposed: str) -> None:
        """Record that a person closed a pull request without merging it."""
        self.removed.add(proposed)

    def people_wish(self) -> None:
        """Record that a person forces a proposal, or changes its sources."""
        self.removed.clear()

    def base_repo_changed(self) -> None:
        """Forget removals for the previous commit of main."""
        self.removed.clear()
        self._held.clear()
