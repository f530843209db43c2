"""Keys of an application that a Template prints into a mapping that already has them.

libyaml reads such a mapping, but Go's YAML refuses it: kustomize, and so Flux, then builds nothing
of the cluster's folder (https://yaml.org/spec/1.2.2/#3213-node-comparison).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

import yaml

from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.rendering.failures import Failure
from kalypso_actions.rendering.outline import EVENT, LOADER
from kalypso_actions.rendering.registration_budget import Spend

_KEY: Final = re.compile(r"(?<![^\s\"'{,])([^\s\"'{},\[\]:]++)[\"']? *+:(?=\s|\Z)")

_AFTER_KEY: Final = frozenset("\"': ")

FEW_KEYS: Final = 16


def repeated_key(
    files: Mapping[str, bytes], keys: Collection[str], target: DeploymentTarget, spend: Spend
) -> Failure | None:
    """Return the failure of a target if a mapping in the files has one of `keys` twice.

    This parses only files in which a key seems to occur twice; `spend` counts that.
    """
    for name, file in files.items() if keys else ():
        text = file.decode("utf-8", "replace")
        is_few = len(keys) <= FEW_KEYS
        counts = _counts(text, keys) if is_few else Counter(_KEY.findall(text))
        twice = {key for key in keys if counts[key] > 1}
        key = _repeated_in(text, twice, spend) if twice else ""
        if key:
            return Failure(
                f"{name} has the key {key!r} twice: the platform's Template writes it as well",
                target.at(key),
                "deliver another key, or ask the platform team for a Template without it",
                code="registration-documents",
                is_delivered=True,
            )
    return None


def _counts(text: str, keys: Collection[str]) -> Mapping[str, int]:
    """Count how often each of a few keys seems to occur; searching for all keys takes longer."""
    counts = dict.fromkeys(keys, 0)
    for key in filter(None, keys):
        position = text.find(key)
        while position >= 0:
            end = position + len(key)
            # Most occurrences are parts of values; looking at one character takes less time.
            if text[end : end + 1] in _AFTER_KEY:
                match = _KEY.match(text, position)
                counts[key] += match is not None and match[1] == key
            position = text.find(key, end)
    return counts


def _repeated_in(text: str, keys: Collection[str], spend: Spend) -> str:
    """Return the first of the keys that one mapping has twice."""
    spend(len(text))
    mappings: list[set[str] | None] = []
    """The keys of each open mapping; None for a sequence."""
    expects_key: list[bool] = []
    try:
        for event in yaml.parse(text, Loader=LOADER):
            spend(EVENT)
            is_key = bool(expects_key) and expects_key[-1]
            if isinstance(event, yaml.ScalarEvent) and is_key and mappings[-1] is not None:
                if event.value in mappings[-1] and event.value in keys:
                    return str(event.value)
                mappings[-1].add(event.value)
            if isinstance(event, yaml.NodeEvent) and expects_key:
                expects_key[-1] = not is_key and mappings[-1] is not None
            if isinstance(event, yaml.CollectionStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                mappings.append(set() if is_mapping else None)
                expects_key.append(is_mapping)
            elif isinstance(event, yaml.CollectionEndEvent):
                mappings.pop()
                expects_key.pop()
    except yaml.YAMLError:
        return ""  # a script, or a fault of the Template
    return ""
