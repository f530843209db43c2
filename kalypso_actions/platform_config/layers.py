"""The ConfigMaps of a fleet → the configuration of each assignment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kalypso_actions.errors import Location
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import PLATFORM_CONFIG_LABEL, Assignment, ConfigMap, Fleet
from kalypso_actions.platform_config.matching import Term, Terms, terms_of
from kalypso_actions.platform_config.merging import Layers
from kalypso_actions.platform_config.values import parse_value

AZURE_APP_CONFIG_PREFIX = "azure-app-config"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of one layer and the bits that it needs."""

    config_map: str
    key: str
    text: str
    where: Location
    mask: int


class PlatformConfig:
    """Answers, for each assignment, which configuration and which schemas apply.

    Many assignments meet the same layers; each distinct combination is merged once.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._terms = Terms()
        self._entries = tuple(self._layers(fleet.config_maps))
        self._schemas = tuple(
            (self._terms.mask(terms_of(schema.labels)), schema.schema)
            for schema in fleet.config_schemas
        )
        self._merged: dict[int, MergedConfig] = {}
        self._applying_schemas: dict[int, tuple[str, ...]] = {}

    def config_of(self, assignment: Assignment) -> MergedConfig:
        """The merged configuration of an assignment; one object for equal combinations."""
        held = self._terms.held(assignment)
        merged = self._merged.get(held)
        if merged is None:
            merged = self._merged[held] = self._merge(held)
        return merged

    def schemas_of(self, assignment: Assignment) -> tuple[str, ...]:
        """The texts of all schemas that apply: the fleet's by name, then the target's own."""
        held = self._terms.held(assignment)
        schemas = self._applying_schemas.get(held)
        if schemas is None:
            schemas = self._applying_schemas[held] = tuple(
                text for mask, text in self._schemas if mask & held == mask
            )
        return schemas + assignment.target.config_schemas

    def _merge(self, held: int) -> MergedConfig:
        layers = Layers()
        texts: dict[str, str] = {}
        used: dict[str, None] = {}
        for entry in self._entries:
            if entry.mask & held == entry.mask:
                layers.add(entry.key, parse_value(entry.text), entry.where)
                texts[entry.key] = entry.text
                used[entry.config_map] = None
        return MergedConfig(layers.values, texts, layers.origins, tuple(used))

    def _layers(self, config_maps: tuple[ConfigMap, ...]) -> Iterator[_Entry]:
        """Every key in the order in which it is merged.

        First the ConfigMaps labelled as platform configuration, by name; then those of Azure App
        Configuration, by name, their keys by length (and by name, where upstream has no order).
        """
        ordered = sorted(config_maps, key=lambda config_map: config_map.name)
        for config_map in ordered:
            if config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true":
                mask = self._terms.mask(terms_of(config_map.labels))
                for key, text in config_map.data.items():
                    yield _Entry(config_map.name, key, text, config_map.at(key), mask)
        for config_map in ordered:
            if config_map.name.startswith(AZURE_APP_CONFIG_PREFIX):
                for full_key in sorted(config_map.data, key=lambda k: (len(k.encode()), k)):
                    key, terms = split_azure_key(full_key)
                    yield _Entry(
                        config_map.name,
                        key,
                        config_map.data[full_key],
                        config_map.at(full_key),
                        self._terms.mask(terms),
                    )


def split_azure_key(full_key: str) -> tuple[str, tuple[Term, ...]]:
    """`region.eu.DB` → `DB` and the term region = eu.

    The last segment is the key; pairs of label and value precede it, and an odd one before the key
    is dropped, as upstream does.
    """
    *labels, key = full_key.split(".")
    pairs = dict(zip(labels[0::2], labels[1::2], strict=False))
    return key, terms_of(pairs)
