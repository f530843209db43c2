"""The ConfigMaps of a fleet → the configuration of each assignment, and what a change affects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, groupby
from typing import Final, TypeVar

from kalypso_actions.errors import Location
from kalypso_actions.model.caches import SizedCache
from kalypso_actions.model.config import MergedConfig, Origins
from kalypso_actions.model.kinds import (
    PLATFORM_CONFIG_LABEL,
    Assignment,
    ConfigMap,
    ConfigSchema,
    Fleet,
)
from kalypso_actions.platform_config.matching import (
    Applicable,
    ConfigDigests,
    Label,
    LabelMasks,
    matched_labels,
)
from kalypso_actions.platform_config.merging import Layers, parse_value

AZURE_APP_CONFIG_PREFIX = "azure-app-config"

KEPT_KEYS: Final = 200_000
"""The limit on the keys of cached configurations: some thousand ordinary ones, about 30 MB."""


@dataclass(frozen=True, slots=True)
class LayerKey:
    """One key of one ConfigMap, and the labels that it requires.

    `full_key` is the key with its labels, which decides the order in Azure App Configuration.
    """

    config_map: str
    key: str
    text: str
    labels: tuple[Label, ...]
    where: Location = field(compare=False)
    full_key: str = ""


@dataclass(frozen=True, eq=False)
class _Layer:
    """Consecutive keys of one ConfigMap that require the same labels."""

    entries: tuple[LayerKey, ...]

    @cached_property
    def values(self) -> list[object]:
        """The parsed value of each entry."""
        return [parse_value(entry.text) for entry in self.entries]


@dataclass(frozen=True, slots=True)
class AppliedSchema:
    """A schema that applies to an assignment; `name` tells people which schema it is, and where."""

    name: str
    text: str
    where: Location
    locate: Callable[[int], Location] = field(compare=False, repr=False)
    """Return the place of a position in the text."""


class PlatformConfig:
    """The configuration and the schemas of each assignment.

    Many assignments have the same layers, so this caches the latest combinations; a large fleet has
    too many to cache them all.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._masks = LabelMasks()
        self._layers: Applicable[_Layer] = Applicable()
        entries = read_entries(fleet.config_maps)
        for (_, labels), group in groupby(entries, lambda entry: (entry.config_map, entry.labels)):
            self._layers.add(self._masks.required(labels), _Layer(tuple(group)))
        self._schemas: Applicable[AppliedSchema] = Applicable()
        for schema in fleet.config_schemas:
            required = self._masks.required(matched_labels(schema.labels))
            self._schemas.add(required, _applied(schema))
        self._merged: SizedCache[MergedConfig] = SizedCache(KEPT_KEYS)
        self._shared: SizedCache[MergedConfig] = SizedCache(KEPT_KEYS)

    def combination(self, assignment: Assignment) -> Hashable:
        """Return a key for the layers and the fleet's schemas that apply to an assignment."""
        return self._masks.provided(assignment)

    def combinations(
        self, assignments: Iterable[Assignment], keys: Collection[str]
    ) -> list[list[Assignment]]:
        """Return assignments to which the same entries of these configuration keys apply."""
        entries = chain.from_iterable(map(self.entries_of, keys))
        labels = {label for entry in entries for label in entry.labels}
        mask = self._masks.required(tuple(labels))
        groups: dict[int, list[Assignment]] = {}
        for assignment in assignments:
            groups.setdefault(self._masks.provided(assignment) & mask, []).append(assignment)
        return list(groups.values())

    def config_of(self, assignment: Assignment) -> MergedConfig:
        """Return the merged configuration of an assignment."""
        provided = self._masks.provided(assignment)
        merged = self._merged.get(provided)
        if merged is None:
            layers = self._layers.to(provided)
            shared = self._merge_shared(tuple(layers[:-1]))
            merged = _merge(shared, layers[-1:], partial(_origins, layers))
            self._merged.put(provided, merged, len(merged.values) + 1)
        return merged

    def _merge_shared(self, layers: tuple[_Layer, ...]) -> MergedConfig:
        """Merge all layers but the last; most targets of a cluster type share the result."""
        merged = self._shared.get(layers)
        if merged is None:
            merged = _merge(_NO_CONFIG, layers, _NO_CONFIG.trace)
            self._shared.put(layers, merged, len(merged.values) + 1)
        return merged

    def schemas_of(self, assignment: Assignment) -> tuple[str, ...]:
        """Return the texts of all schemas that apply: the fleet's by name, then the target's."""
        fleet_schemas = self._schemas.to(self._masks.provided(assignment))
        return (*(schema.text for schema in fleet_schemas), *assignment.target.config_schemas)

    def applied_schemas(self, assignment: Assignment) -> tuple[AppliedSchema, ...]:
        """Return the schemas of `schemas_of`, with their names."""
        target = assignment.target
        name = f"configSchemas of {target.name!r} in {target.where.path}:{target.where.line}"
        own = (
            AppliedSchema(name, text, target.where, partial(target.schema_at, text))
            for text in target.config_schemas
        )
        return (*self._schemas.to(self._masks.provided(assignment)), *own)

    @cached_property
    def digests(self) -> ConfigDigests:
        """The digests of the keys and schemas of the fleet that apply to assignments."""
        return ConfigDigests(self._masks, self._objects())

    def _objects(self) -> Iterator[tuple[int, object]]:
        """Yield each key and schema as JSON, with the mask of the labels that it requires."""
        for required, layer in self._layers.with_masks():
            for entry in layer.entries:
                yield required, (entry.config_map, entry.full_key, entry.key, entry.text)
        for required, schema in self._schemas.with_masks():
            yield required, schema.text

    @property
    def entries(self) -> Iterator[LayerKey]:
        """All keys of the fleet's ConfigMaps, in the order of merging."""
        return (entry for layer in self._layers for entry in layer.entries)

    def entries_of(self, key: str) -> Sequence[LayerKey]:
        """Return the entries of one key, in the order of merging."""
        return self._entries_by_key.get(key, ())

    @cached_property
    def _entries_by_key(self) -> Mapping[str, Sequence[LayerKey]]:
        by_key: dict[str, list[LayerKey]] = {}
        for entry in self.entries:
            by_key.setdefault(entry.key, []).append(entry)
        return by_key

    def lacking(self, assignment: Assignment, entry: LayerKey) -> tuple[Label, ...]:
        """Return the labels that an entry requires and an assignment lacks; () if it applies."""
        provided = self._masks.provided(assignment)
        return tuple(
            label for label in entry.labels if not self._masks.required((label,)) & provided
        )


_NO_CONFIG: Final = MergedConfig({}, {}, ())


def _merge(
    lower: MergedConfig, upper: Sequence[_Layer], trace: Callable[[str | None], Origins]
) -> MergedConfig:
    """Merge layers over a configuration; `trace` finds the origins of the values."""
    merged = Layers(lower.values, with_origins=False)
    texts = {**lower.texts}
    for layer in upper:
        for entry, value in zip(layer.entries, layer.values, strict=True):
            merged.add(entry.key, value, entry.where)
            texts[entry.key] = entry.text
    names = (entry.config_map for layer in upper for entry in layer.entries[:1])
    config_maps = tuple(dict.fromkeys((*lower.config_maps, *names)))
    return MergedConfig(merged.values, texts, config_maps, trace)


def _origins(layers: Sequence[_Layer], key: str | None) -> Origins:
    """Merge the values of a key, or all values; no value depends on those of other keys."""
    merged = Layers()
    for layer in layers:
        for entry, value in zip(layer.entries, layer.values, strict=True):
            if key is None or entry.key == key:
                merged.add(entry.key, value, entry.where)
    return merged.origins


def read_entries(config_maps: Iterable[ConfigMap]) -> Iterator[LayerKey]:
    """Yield every key in the order of merging.

    First come the ConfigMaps with the label of platform configuration, by name. Then come those of
    Azure App Configuration, by name, with their keys by length. Upstream defines no order for keys
    of the same length; here they come by name.
    """
    ordered = sorted(config_maps, key=lambda config_map: config_map.name)
    for config_map in ordered:
        if config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true":
            labels = matched_labels(config_map.labels)
            for key, text in config_map.data.items():
                yield LayerKey(config_map.name, key, text, labels, config_map.at(key))
    for config_map in ordered:
        if config_map.name.startswith(AZURE_APP_CONFIG_PREFIX):
            for full_key in sorted(config_map.data, key=lambda k: (len(k.encode()), k)):
                key, labels = split_azure_key(full_key)
                text, where = config_map.data[full_key], config_map.at(full_key)
                yield LayerKey(config_map.name, key, text, labels, where, full_key)


def _applied(schema: ConfigSchema) -> AppliedSchema:
    where = schema.where
    name = f"ConfigSchema {schema.name!r} in {where.path}:{where.line}"
    return AppliedSchema(name, schema.schema, where, schema.at)


def split_azure_key(full_key: str) -> tuple[str, tuple[Label, ...]]:
    """Split `region.eu.DB` into the key `DB` and the label region = eu.

    The last segment is the key; labels and their values precede it. Like upstream, this ignores a
    label without a value.
    """
    *segments, key = full_key.split(".")
    labels = dict(zip(segments[0::2], segments[1::2], strict=False))
    return key, matched_labels(labels)


Layer = TypeVar("Layer", bound=Hashable)

_Schema = tuple[str, str, tuple[Label, ...]]


class ConfigChanges:
    """The layers of configuration and the schemas that only one of two fleets has."""

    def __init__(self, base: Fleet, head: Fleet) -> None:
        self._provided = LabelMasks()
        entries: set[LayerKey] = _differing(
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
