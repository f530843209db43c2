"""Functions with their signatures: declared to the checker, and dispatched by type at run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_placement.cel.values import (
    Duration,
    EvaluationError,
    Function,
    Optional,
    Timestamp,
    UInt,
    Value,
)

_FORM: Final = re.compile(
    r"(?:(?P<target>[^:]+):)?(?P<name>[\w.]+)\((?P<args>.*)\) -> (?P<result>.+)"
)
_PLAIN: Final[Mapping[str, type]] = {
    "string": str,
    "bytes": bytes,
    "bool": bool,
    "double": float,
    "uint": UInt,
    "duration": Duration,
    "timestamp": Timestamp,
    "map": dict,
}


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function."""

    name: str
    parameters: tuple[str, ...]
    result: str
    is_member: bool
    implementation: Function

    def accepts(self, args: Sequence[Value]) -> bool:
        """Whether the arguments have the types of the parameters."""
        return len(args) == len(self.parameters) and all(map(_is, args, self.parameters))


def is_valid(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Return a function that tells whether `parse` accepts a text or raises EvaluationError."""

    def valid(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return valid


def constant(value: Value) -> Function:
    """Return a function without arguments."""
    return lambda: value


def overloads(table: Mapping[str, Function]) -> Iterator[Overload]:
    """Yield the overloads of a table; `string:charAt(int) -> string` is a member function."""
    for signature, implementation in table.items():
        match = _FORM.fullmatch(signature)
        assert match is not None, signature  # noqa: S101 - the tables are ours
        target = match["target"]
        parameters = ([target] if target else []) + [p for p in match["args"].split(", ") if p]
        yield Overload(
            match["name"], tuple(parameters), match["result"], bool(target), implementation
        )


def dispatcher(choices: Sequence[Overload]) -> Function:
    """Return a function that calls the first overload that accepts the arguments."""

    def call(*args: Value) -> Value:
        for choice in choices:
            if choice.accepts(args):
                return choice.implementation(*args)
        raise EvaluationError("no such overload")

    return call


def _is(value: Value, parameter: str) -> bool:
    """Whether a value has a type of CEL, or one of Kubernetes' types, which have a `cel_type`."""
    name, _, inner = parameter.partition("<")
    if name == "list":
        return isinstance(value, list) and all(_is(v, inner[:-1]) for v in value)
    if name == "optional_type":
        return isinstance(value, Optional)
    if name == "int":
        return type(value) is int
    if name == "dyn":
        return True
    if name in _PLAIN:
        return isinstance(value, _PLAIN[name])
    return bool(getattr(value, "cel_type", "") == name)
