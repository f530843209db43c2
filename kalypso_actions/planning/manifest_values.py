"""Check the values that an API server or a controller refuses though their types are right.

    for rule in rules_of("v1 ResourceQuota"):
        yield from rule.faults(body)

`manifest_values.yaml` has the rules, and describes their form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from kalypso_actions.model.application import SchemaFault
from kalypso_actions.model.documents import Path
from kalypso_actions.model.nearest import misspelled

VALUE_INVALID: Final = "manifest-value-invalid"

FREE: Final = frozenset({"openAPIV3Schema", "values", "valuesObject"})
"""Fields of any content: schemas, the values of other charts."""


@dataclass(frozen=True, slots=True)
class ValueRule:
    """A rule for the values at one place of some kinds; the fields are those of the file."""

    kinds: Sequence[str]
    at: Sequence[str]
    source: str
    advice: str = ""
    keys: bool = False
    values: Sequence[str] = ()
    pattern: str = ""
    range: Sequence[int] = ()
    only_one: Sequence[str] = ()
    subset_of: Sequence[str] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[str] = ()
    names: Sequence[str] = ()
    named_in: Sequence[Sequence[str]] = ()
    fault: str = "invalid"
    certain: bool = True
    near: bool = False

    def is_at(self, path: Path) -> bool:
        """Return whether the rule is for the values at a path."""
        return _leads_to(self.at, path)

    def faults(self, body: Mapping[str, Any]) -> Iterator[SchemaFault]:
        """Yield the values of an object that the rule refuses."""
        for path, value in values_at(body, self.at):
            if self.keys:
                for key in value if isinstance(value, Mapping) else ():
                    yield from self._of_text((*path, str(key)), str(key))
            elif isinstance(value, Mapping):
                yield from self._of_mapping(path, value, body)
            elif type(value) is int and self.range:
                least, largest = self.range
                if not least <= value <= largest:
                    fault = self._fault(path, f"{value} is not between {least} and {largest}")
                    yield fault._replace(is_certain=self.certain)
            elif isinstance(value, str):
                yield from self._of_text(path, value)

    def _of_text(self, path: Path, text: str) -> Iterator[SchemaFault]:
        """Check a text; one with `$` is completed by another program."""
        is_known = text in self.values or not (self.values or self.pattern)
        if is_known or not text or "$" in text:
            return
        if self.pattern and re.fullmatch(self.pattern, text, re.DOTALL):
            return
        close = misspelled(text, self.values)
        if close:
            yield self._fault(path, f"{text!r} is not known: did you mean {close}?")
        elif not self.near:
            known = f"not one of: {', '.join(self.values)}" if self.values else self.fault
            yield self._fault(path, f"{text!r} is {known}")._replace(is_certain=self.certain)

    def _of_mapping(
        self, path: Path, value: Mapping[str, Any], body: Mapping[str, Any]
    ) -> Iterator[SchemaFault]:
        given = [name for name in self.only_one if value.get(name)]
        if len(given) > 1:
            yield self._fault((*path, given[-1]), f"only one of {' and '.join(given)} may be set")
        for kind, name in self.requires.items():
            if value.get("kind") == kind and not value.get(name):
                yield self._fault(path, f"the {kind} has no {name}")
        for _, outer in values_at(body, self.subset_of) if self.subset_of else ():
            lacking = [key for key in value if _get(outer, key) != value[key]]
            if lacking:
                fault = f"{'.'.join(self.subset_of)} has no {lacking[0]}: {value[lacking[0]]}"
                yield self._fault((*path, lacking[0]), fault)
        yield from self._of_order(path, value)
        yield from self._of_names(path, value)

    def _of_order(self, path: Path, value: Mapping[str, Any]) -> Iterator[SchemaFault]:
        """Compare each amount with the next one that is given for the same key."""
        last: dict[Path, tuple[Path, Decimal]] = {}
        for name in self.order:
            for inner, given in _leaves(value.get(name), (name,)):
                amount, key = quantity(given), inner[1:]
                if amount is None:
                    continue
                below, least = last.get(key, (inner, amount))
                if least > amount:
                    shown = [f"{_dotted(at)} {_at(value, at)}" for at in (below, inner)]
                    message = f"{shown[0]} is above {shown[1]}"
                    fault = self._fault((*path, *below), message)
                    lower = f"lower {_dotted(below)}, or raise {_dotted(inner)}"
                    yield fault._replace(advice=self.advice or lower)
                last[key] = inner, amount

    def _of_names(self, path: Path, value: Mapping[str, Any]) -> Iterator[SchemaFault]:
        """Look each name up where it must be; a name with `$` is completed by another program."""
        known = {str(name) for steps in self.named_in for _, name in values_at(value, steps)}
        if any("$" in name for name in known):
            return
        for inner, name in values_at(value, self.names) if self.names else ():
            if str(name) not in known and "$" not in str(name):
                close = misspelled(str(name), sorted(known))
                meant = f": did you mean {close}?" if close else ""
                places = " and ".join(
                    ".".join(steps[: steps.index("*")]) for steps in self.named_in
                )
                message = f"there is no {name!r} in {places}{meant}"
                yield self._fault((*path, *inner), message)

    def _fault(self, path: Path, message: str) -> SchemaFault:
        return SchemaFault(path, message, True, VALUE_INVALID, self.advice or f"see {self.source}")


@cache
def rules() -> Sequence[ValueRule]:
    """Return all rules."""
    text = files(__package__).joinpath("manifest_values.yaml").read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [ValueRule(**rule) for rule in yaml.load(text, loader)]  # noqa: S506 - a safe loader


@cache
def rules_of(kind: str) -> Sequence[ValueRule]:
    """Return the rules for an `apiVersion Kind`."""
    return [rule for rule in rules() if any(fnmatchcase(kind, each) for each in rule.kinds)]


def rule_words() -> list[str]:
    """Return all texts that the rules compare with."""
    steps = (name for rule in rules() for step in rule.at for name in step.split("|"))
    return [*steps, *(text for rule in rules() for text in (*rule.values, *rule.only_one))]


def values_at(value: Any, steps: Sequence[str], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the values at the steps of a rule, with their paths."""
    if not steps:
        yield path, value
        return
    step, *rest = steps
    if step == "**":
        yield from values_at(value, rest, path)
    for key, inner in _items(value):
        if step == "**":
            yield from values_at(inner, steps, (*path, key))
        elif step == "*" or key in _names(step):
            yield from values_at(inner, rest, (*path, key))


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), inner) for key, inner in value.items() if key not in FREE]
    return enumerate(value) if isinstance(value, list) else ()


@cache
def _names(step: str) -> frozenset[str]:
    """Return the fields of a step, as in `spec`, `from|to`, or `acme.example/mode|level`."""
    prefix, slash, names = step.rpartition("/") if "|" in step else ("", "", step)
    return frozenset(f"{prefix}{slash}{name}" for name in names.split("|"))


def _leads_to(steps: Sequence[str], path: Path) -> bool:
    """Return whether the steps of a rule lead to a path."""
    if not steps or not path:
        return not (steps or path)
    (step, *rest), (key, *inner) = steps, path
    if step == "**":
        return _leads_to(rest, path) or _leads_to(steps, tuple(inner))
    return (step == "*" or key in _names(step)) and _leads_to(rest, tuple(inner))


_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)(\D*)")
_UNITS: Final[Mapping[str, Decimal]] = {
    **{unit: Decimal(1000) ** power for power, unit in enumerate("num kMGTPE", -3) if unit != " "},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
    "": Decimal(1),
}


_LONGEST: Final = 60


def quantity(value: Any) -> Decimal | None:
    """Return the number that a quantity of Kubernetes stands for; None for any other value.

    One of more than `_LONGEST` digits is above what Kubernetes keeps.
    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    if type(value) not in {int, float, str}:
        return None
    is_long = len(value) > _LONGEST if isinstance(value, str) else abs(value) >= 10**_LONGEST
    parts = None if is_long else _QUANTITY.fullmatch(str(value))
    unit = _UNITS.get(parts[2]) if parts else None
    return Decimal(parts[1]) * unit if parts and unit else None


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield a value, or those of a mapping, with their paths."""
    if isinstance(value, Mapping):
        yield from (((*path, str(key)), inner) for key, inner in value.items())
    else:
        yield path, value


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _get(outer: Any, key: str) -> Any:
    return outer.get(key) if isinstance(outer, Mapping) else None
