"""Targets and cluster types by label, because each of hundreds of policies selects a few."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from kalypso_actions.model.kinds import ClusterType, DeploymentTarget
from kalypso_actions.scheduling.selectors import Selector

Item = TypeVar("Item", DeploymentTarget, ClusterType)


class LabelIndex(Generic[Item]):
    """Targets or cluster types, indexed by each label for which a caller asks."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items: Sequence[Item] = items
        self._by_key: dict[str, dict[str, list[Item]]] = {}

    def having(self, key: str) -> Mapping[str, Sequence[Item]]:
        """Return the objects that have a label, by its value."""
        by_value = self._by_key.get(key)
        if by_value is None:
            by_value = self._by_key[key] = {}
            for item in self._items:
                if key in item.labels:
                    by_value.setdefault(item.labels[key], []).append(item)
        return by_value

    def selected(self, selector: Selector, besides: Container[str] = ()) -> Iterator[Item]:
        """Yield the objects that a selector matches, except those with the names `besides`."""
        for item in self._candidates(selector):
            if item.name not in besides and selector.matches(item.labels):
                yield item

    def _candidates(self, selector: Selector) -> Sequence[Item]:
        """Return the objects that the most selective `In` matches; without an `In`, all objects."""
        fewest = self._items
        for requirement in selector.requirements:
            if requirement.operator == "In":
                having = self.having(requirement.key)
                groups = [having.get(value, ()) for value in requirement.values]
                if sum(map(len, groups)) < len(fewest):
                    fewest = [item for group in groups for item in group]
        return fewest


class TargetIndex:
    """Targets by workspace, then by label."""

    def __init__(self, targets: Iterable[DeploymentTarget]) -> None:
        by_workspace: dict[str, list[DeploymentTarget]] = {}
        all_targets = list(targets)
        for target in all_targets:
            by_workspace.setdefault(target.workspace, []).append(target)
        by_workspace[""] = all_targets
        self._by_workspace = {name: LabelIndex(items) for name, items in by_workspace.items()}

    def of(self, workspace: str) -> LabelIndex[DeploymentTarget]:
        """Return the targets that a policy of a workspace ("" for any) may select."""
        return self._by_workspace.get(workspace, _NONE)


_NONE: LabelIndex[DeploymentTarget] = LabelIndex(())
