"""Names and keys in rendered documents with which a cluster would refuse them.

libyaml reads a mapping that has a key twice, but Go's YAML refuses it: kustomize, and so Flux, then
builds nothing of the cluster's folder (https://yaml.org/spec/1.2.2/#3213-node-comparison).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

import yaml

from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.model.kubernetes_names import SUBDOMAIN_LIMIT, object_name_fault
from kalypso_actions.rendering.failures import Failure
from kalypso_actions.rendering.outline import EVENT, LOADER, outline
from kalypso_actions.rendering.registration_budget import Spend

_LABEL: Final = rb"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME: Final = rb"(?=[-.a-z0-9]{1,%d}(?![-.a-z0-9]))%s(?:\.%s)*+" % (
    SUBDOMAIN_LIMIT,
    _LABEL,
    _LABEL,
)
_END: Final = rb"[^\S\n]*+(?:[\n#}]|\Z|, *+[\"']?[-.\w]++[\"']? *+:)"
"""The end of a plain name: of its line, or of its part of a mapping in braces."""

_REFUSED: Final = re.compile(
    rb"name(?<!\wname)[\"']?+ *+: *+(?!%s%s|\"%s\"|'%s')" % (_NAME, _END, _NAME, _NAME)
)
"""Matches what seems to be a name that `object_name_fault` refuses.

The pattern begins with the word itself: a word boundary before it would make the search several
times as slow.
"""

_OBJECT_NAME: Final = re.compile(r"(?:items\.\d+\.)?metadata\.name")

Place = tuple[str, int, str]
"""A file, the number of a document in it, and the path of a field."""


def refused_names(files: Mapping[str, bytes], spend: Spend) -> dict[Place, str]:
    """Return the names that are no DNS subdomain, which nearly all kinds require.

    This parses only the files that seem to have such a name; `spend` counts that.
    """
    suspicious = {name: file for name, file in files.items() if _REFUSED.search(file)}
    if not suspicious:
        return {}
    entries = outline(suspicious, (), spend=spend).entries
    objects = {(entry.file, entry.document) for entry in entries if entry.field == "apiVersion"}
    return {
        (entry.file, entry.document, entry.field): entry.value
        for entry in entries
        if _OBJECT_NAME.fullmatch(entry.field) and object_name_fault(entry.value)
        if (entry.file, entry.document) in objects
    }


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
