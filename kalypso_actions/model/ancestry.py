"""The ancestors of a commit, and which of them contain which others.

`Relation` and `ON_BRANCH` in `model.github` answer this from GitHub's comparison of two commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Ancestry:
    """The ancestors of a branch's head, each with its parents."""

    head: str
    parents: Mapping[str, tuple[str, ...]]
    _ancestors: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def __contains__(self, commit: object) -> bool:
        """Whether the branch contains the commit."""
        return commit in self.parents

    def contains(self, newer: str, older: str) -> bool:
        """Whether `newer` is `older` or its descendant; False for commits not on the branch."""
        if newer not in self._ancestors:
            self._ancestors[newer] = self._reachable(newer)
        return older in self._ancestors[newer]

    def since(self, commit: str) -> tuple[str, ...] | None:
        """Return the commits after this one up to the head; None if it is not on the branch."""
        if commit not in self:
            return None
        before = self._reachable(commit)
        return tuple(item for item in self.parents if item not in before)

    def first_parents(self) -> Iterator[str]:
        """Yield the commits on the first-parent line of the head, the newest first."""
        seen: set[str] = set()
        commit = self.head
        while commit in self.parents and commit not in seen:
            seen.add(commit)
            yield commit
            commit = next(iter(self.parents[commit]), "")

    def _reachable(self, commit: str) -> frozenset[str]:
        reachable: set[str] = set()
        pending = [commit] if commit in self.parents else []
        while pending:
            ancestor = pending.pop()
            if ancestor not in reachable:
                reachable.add(ancestor)
                pending += self.parents.get(ancestor, ())
        return frozenset(reachable)
