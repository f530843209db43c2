"""The ConfigMaps of a fleet → the configuration of each assignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kalypso_actions.errors import Location
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import (
    PLATFORM_CONFIG_LABEL,
    Assignment,
    ConfigMap,
    ConfigSchema,
    Fleet,
)
from kalypso_actions.platform_config.matching import Label, LabelMasks, matched_labels
from kalypso_actions.platform_config.merging import Layers
from kalypso_actions.platform_config.values import parse_value

AZURE_APP_CONFIG_PREFIX = "azure-app-config"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of one ConfigMap, and the labels that it requires."""

    config_map: str
    key: str
    text: str
    labels: tuple[Label, ...]
    where: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class AppliedSchema:
    """A schema that applies to an assignment; `name` says which and where, for people."""

    name: str
    text: str
    where: Location


class PlatformConfig:
    """The configuration and the schemas of each assignment.

    Many assignments have the same layers; each distinct combination is merged once.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._masks = LabelMasks()
        self._entries = tuple(
            (self._masks.required(entry.labels), entry) for entry in read_entries(fleet.config_maps)
        )
        self._schemas = tuple(
            (self._masks.required(matched_labels(schema.labels)), _applied(schema))
            for schema in fleet.config_schemas
        )
        self._merged: dict[int, MergedConfig] = {}
        self._texts: dict[int, tuple[str, ...]] = {}

    def config_of(self, assignment: Assignment) -> MergedConfig:
        """Return the merged configuration of an assignment, one object for equal combinations."""
        provided = self._masks.provided(assignment)
        merged = self._merged.get(provided)
        if merged is None:
            merged = self._merged[provided] = self._merge(provided)
        return merged

    def schemas_of(self, assignment: Assignment) -> tuple[str, ...]:
        """Return the texts of all schemas that apply: the fleet's by name, then the target's."""
        provided = self._masks.provided(assignment)
        texts = self._texts.get(provided)
        if texts is None:
            texts = self._texts[provided] = tuple(
                schema.text for schema in self._schemas_of_fleet(provided)
            )
        return texts + assignment.target.config_schemas

    def applied_schemas(self, assignment: Assignment) -> tuple[AppliedSchema, ...]:
        """Return the schemas of `schemas_of`, with their names."""
        target = assignment.target
        name = f"configSchemas of {target.name!r} in {target.where.path}:{target.where.line}"
        own = (AppliedSchema(name, text, target.where) for text in target.config_schemas)
        return (*self._schemas_of_fleet(self._masks.provided(assignment)), *own)

    @property
    def entries(self) -> Iterator[Entry]:
        """All keys of the fleet's ConfigMaps, in the order in which they are merged."""
        return (entry for _, entry in self._entries)

    def lacking(self, assignment: Assignment, entry: Entry) -> tuple[Label, ...]:
        """Return the labels that an entry requires and an assignment lacks; () if it applies."""
        provided = self._masks.provided(assignment)
        return tuple(
            label for label in entry.labels if not self._masks.required((label,)) & provided
        )

    def _schemas_of_fleet(self, provided: int) -> Iterator[AppliedSchema]:
        return (schema for mask, schema in self._schemas if mask & provided == mask)

    def _merge(self, provided: int) -> MergedConfig:
        layers = Layers()
        texts: dict[str, str] = {}
        config_maps: dict[str, None] = {}
        for mask, entry in self._entries:
            if mask & provided == mask:
                layers.add(entry.key, parse_value(entry.text), entry.where)
                texts[entry.key] = entry.text
                config_maps[entry.config_map] = None
        return MergedConfig(layers.values, texts, layers.origins, tuple(config_maps))


def read_entries(config_maps: Iterable[ConfigMap]) -> Iterator[Entry]:
    """Yield every key in the order in which it is merged.

    First, the ConfigMaps that are labelled as platform configuration, by name. Then those of Azure
    App Configuration, by name, with their keys by length; keys of the same length have no order in
    upstream, and come by name here.
    """
    ordered = sorted(config_maps, key=lambda config_map: config_map.name)
    for config_map in ordered:
        if config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true":
            labels = matched_labels(config_map.labels)
            for key, text in config_map.data.items():
                yield Entry(config_map.name, key, text, labels, config_map.at(key))
    for config_map in ordered:
        if config_map.name.startswith(AZURE_APP_CONFIG_PREFIX):
            for full_key in sorted(config_map.data, key=lambda k: (len(k.encode()), k)):
                key, labels = split_azure_key(full_key)
                text, where = config_map.data[full_key], config_map.at(full_key)
                yield Entry(config_map.name, key, text, labels, where)


def _applied(schema: ConfigSchema) -> AppliedSchema:
    where = schema.where
    name = f"ConfigSchema {schema.name!r} in {where.path}:{where.line}"
    return AppliedSchema(name, schema.schema, where)


def split_azure_key(full_key: str) -> tuple[str, tuple[Label, ...]]:
    """Split `region.eu.DB` into the key `DB` and the label region = eu.

    The last segment is the key; labels and their values precede it. A label without a value is
    ignored, as in upstream.
    """
    *segments, key = full_key.split(".")
    labels = dict(zip(segments[0::2], segments[1::2], strict=False))
    return key, matched_labels(labels)
