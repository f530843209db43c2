"""Advice on labels that no object has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.model import kinds
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.nearest import misspelled, nearest
from kalypso_actions.scheduling.selectors import Requirement

FLUX_LABELS: Final = frozenset({kinds.FLUX_NAME_LABEL, kinds.FLUX_NAMESPACE_LABEL})

Labels = Mapping[str, str]

_BOOLEANS: Final = frozenset({"true", "false"})
"""Values that many labels have: an equal value does not tell which label is meant."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why nothing matches: the deciding label ("" for none), a sentence, and advice.

    `value` is the value that no object has; "" if no object has the label at all. `meant` are the
    requirements, with the deciding one corrected; None if no label resembles it.
    """

    key: str
    reason: str
    advice: str
    meant: tuple[Requirement, ...] | None = None
    value: str = ""


def mismatch(requirements: Sequence[Requirement], objects: Sequence[Labels], noun: str) -> Mismatch:
    """Explain why none of the objects, each a `noun`, has all of these labels."""
    if not objects:
        return Mismatch("", f"there is no {noun}", f"add a {noun}, or remove this")
    for requirement in requirements:
        if not any(requirement.matches(labels) for labels in objects):
            advice = label_advice(requirement.key, requirement.values, objects, noun)
            meant = _meant(requirement, objects)
            misspelled_label = None if meant else _misspelled_label((requirement,), objects)
            if misspelled_label:
                key, label = misspelled_label
                advice = f"a {noun} has {label}: did you mean {key} there? Otherwise {advice}"
            repaired = tuple(meant if r is requirement else r for r in requirements if meant)
            is_known = any(requirement.key in labels for labels in objects)
            return Mismatch(
                requirement.key,
                f"no {noun} has {requirement}",
                advice,
                repaired or None,
                min(requirement.values, default="") if is_known else "",
            )
    both = ", ".join(map(str, requirements))
    counts = dict.fromkeys((r.key for r in requirements), 0)
    for labels in objects:
        failing = [r.key for r in requirements if not r.matches(labels)]
        if len(failing) == 1:
            counts[failing[0]] += 1
    key = max(counts, key=lambda name: counts[name], default="")
    advice = f"remove a requirement, or label a {noun} so that it has all of them"
    misspelled_label = _misspelled_label(requirements, objects)
    if misspelled_label:
        key, label = misspelled_label
        advice = f"a {noun} has {label}: did you mean {key} there? Otherwise {advice}"
    return Mismatch(key, f"no {noun} has all of {both}", advice)


def label_advice(key: str, values: Collection[str], objects: Sequence[Labels], noun: str) -> str:
    """Return advice with the label that was probably meant and the existing labels."""
    known = _values(key, objects)
    if known:
        close = _nearest_value(values, known)
        suggestion = f"did you mean {key}: {close}? " if close else ""
        others = f"values of {key}: {abbreviated(known, MAX_LISTED)}"
        return suggestion.rstrip() if known == [close] else f"{suggestion}{others}"
    labels = _labels(objects)
    close = _nearest_key(key, values, labels)
    suggestion = (
        f"did you mean the label {close}? If {close} is misspelled, rename it there. "
        if close
        else ""
    )
    keys = sorted({name for name, _ in labels})
    if not keys:
        return f"no {noun} has labels"
    return f"{suggestion}A {noun} has the labels {abbreviated(keys, MAX_LISTED)}"


def misspelled_values(
    requirement: Requirement, present: Sequence[Collection[str]]
) -> Iterator[tuple[str, Requirement]]:
    """Yield each probably misspelled value, with the corrected requirement.

    `present` are the values of the label by environment. A value that no object has may be meant
    for a future object, so it only counts as misspelled if it resembles a value that objects have
    and the requirement does not list.
    """
    values = requirement.values
    unknown = [value for value in sorted(values) if not any(value in known for known in present)]
    if not unknown or requirement.key in FLUX_LABELS:
        return
    others = set[str]().union(*present) - values
    for value in unknown:
        meant = misspelled(value, others)
        if meant:
            yield value, replace(requirement, values=values - {value} | {meant})


def _misspelled_label(
    requirements: Sequence[Requirement], objects: Iterable[Labels]
) -> tuple[str, str] | None:
    """Find an object that lacks one required key only; return the key and a similar label."""
    for labels in objects:
        failing = [item for item in requirements if not item.matches(labels)]
        if len(failing) == 1 and failing[0].key not in labels:
            with_value = not failing[0].values.isdisjoint(labels.values())
            close = nearest(failing[0].key, labels) if with_value else ""
            if close and labels[close] in failing[0].values:
                return failing[0].key, f"{close}: {labels[close]}"
    return None


def _meant(requirement: Requirement, objects: Sequence[Labels]) -> Requirement | None:
    """Return a requirement with the nearest value or label that exists, if one is near."""
    known = _values(requirement.key, objects)
    if known:
        close = _nearest_value(requirement.values, known)
        return replace(requirement, values=frozenset({close})) if close else None
    close = _nearest_key(requirement.key, requirement.values, _labels(objects))
    return replace(requirement, key=close) if close else None


def _values(key: str, objects: Iterable[Labels]) -> list[str]:
    """Return the values of a label, sorted."""
    return [] if key in FLUX_LABELS else sorted({item.get(key, "") for item in objects} - {""})


def _labels(objects: Iterable[Labels]) -> set[tuple[str, str]]:
    pairs = {pair for labels in objects for pair in labels.items()}
    return {(key, value) for key, value in pairs if value and key not in FLUX_LABELS}


def _nearest_value(values: Collection[str], known: Sequence[str]) -> str:
    return next(filter(None, (nearest(value, known) for value in sorted(values))), "")


def _nearest_key(key: str, values: Collection[str], labels: Collection[tuple[str, str]]) -> str:
    distinctive = {*values} - _BOOLEANS
    of_value = sorted({name for name, value in labels if value in distinctive})
    return nearest(key, sorted({name for name, _ in labels})) or next(iter(of_value), "")
