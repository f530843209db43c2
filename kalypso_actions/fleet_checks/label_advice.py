"""Advice on labels that nothing has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model import kinds
from kalypso_actions.model.nearest import nearest
from kalypso_actions.scheduling import Requirement

MAX_SHOWN: Final = 8
FLUX_LABELS: Final = frozenset({kinds.FLUX_NAME_LABEL, kinds.FLUX_NAMESPACE_LABEL})

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why nothing matches: the label that decides ("" for none), a sentence, and advice."""

    key: str
    reason: str
    advice: str


def mismatch(requirements: Sequence[Requirement], objects: Sequence[Labels], noun: str) -> Mismatch:
    """Explain why none of the objects, each a `noun`, has all of these labels."""
    if not objects:
        return Mismatch("", f"there is no {noun}", f"add a {noun}, or remove this")
    for requirement in requirements:
        if not any(requirement.matches(labels) for labels in objects):
            advice = label_advice(requirement.key, requirement.values, objects, noun)
            return Mismatch(requirement.key, f"no {noun} has {requirement}", advice)
    both = ", ".join(map(str, requirements))
    counts = dict.fromkeys((r.key for r in requirements), 0)
    for labels in objects:
        failing = [r.key for r in requirements if not r.matches(labels)]
        if len(failing) == 1:
            counts[failing[0]] += 1
    key = max(counts, key=lambda name: counts[name], default="")
    advice = f"remove a requirement, or label a {noun} so that it has all of them"
    return Mismatch(key, f"no {noun} has all of {both}", advice)


def label_advice(key: str, values: Collection[str], objects: Iterable[Labels], noun: str) -> str:
    """Return the label that was probably meant, and those that exist."""
    labels = {item for labels in objects for item in labels.items() if item[0] not in FLUX_LABELS}
    known = sorted({value for name, value in labels if name == key})
    if known:
        close = next(filter(None, (nearest(value, known) for value in sorted(values))), "")
        suggestion = f"did you mean {key}: {close}? " if close else ""
        return f"{suggestion}A {noun} has {key}: {_list(known)}"
    keys = sorted({name for name, _ in labels})
    of_value = sorted({name for name, value in labels if value in values})
    close = nearest(key, keys) or next(iter(of_value), "")
    suggestion = f"did you mean the label {close}? " if close else ""
    return f"{suggestion}A {noun} has the labels {_list(keys)}" if keys else f"no {noun} has labels"


def _list(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:MAX_SHOWN])
    return f"{shown} and {len(texts) - MAX_SHOWN} more" if len(texts) > MAX_SHOWN else shown
