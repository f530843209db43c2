"""Find the assignments that a change of ConfigMaps or schemas affects, without merging."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from kalypso_actions.model.kinds import Assignment, ConfigSchema, Fleet
from kalypso_actions.platform_config.layers import Entry, read_entries
from kalypso_actions.platform_config.matching import Label, LabelMasks, matched_labels

Layer = TypeVar("Layer", bound=Hashable)

_Schema = tuple[str, str, tuple[Label, ...]]


class ConfigChanges:
    """The layers of configuration and the schemas that only one of two fleets has."""

    def __init__(self, base: Fleet, head: Fleet) -> None:
        self._provided = LabelMasks()
        entries: set[Entry] = _differing(
            list(read_entries(base.config_maps)), list(read_entries(head.config_maps))
        )
        schemas: set[_Schema] = _differing(
            list(map(_schema, base.config_schemas)), list(map(_schema, head.config_schemas))
        )
        labels = {*(entry.labels for entry in entries), *(labels for *_, labels in schemas)}
        self._masks = {self._provided.required(each) for each in labels}

    def affect(self, assignment: Assignment) -> bool:
        """Return whether the configuration or the schemas of an assignment may differ.

        Both fleets must have the assignment with the same labels.
        """
        if not self._masks:
            return False
        provided = self._provided.provided(assignment)
        return any(mask & provided == mask for mask in self._masks)


def _schema(schema: ConfigSchema) -> _Schema:
    return schema.name, schema.schema, matched_labels(schema.labels)


def _differing(base: Sequence[Layer], head: Sequence[Layer]) -> set[Layer]:
    """Return the layers that only one side has, or all if the others differ in order."""
    base_set, head_set = set(base), set(head)
    if _common(base, head_set) != _common(head, base_set):
        return base_set | head_set
    return base_set ^ head_set


def _common(layers: Iterable[Layer], others: set[Layer]) -> list[Layer]:
    return [layer for layer in layers if layer in others]
