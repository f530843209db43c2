"""A checked expression, decoded from the message `cel.expr.CheckedExpr`.

Field numbers: https://github.com/google/cel-spec/blob/master/proto/cel/expr/syntax.proto and
checked.proto. This module reads only the fields that an evaluator needs, and therefore needs no
protobuf package.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Fields = dict[int, list[Any]]

_PRIMITIVE, _LIST = 3, 6
"""Fields of the message `Type`."""


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; `kind` is the field of the message, which tells int from uint."""

    kind: int
    value: Any


@dataclass(frozen=True, slots=True)
class Ident:
    """A variable, or the name of a type."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`; with `test_only` it is `has(operand.field)`."""

    operand: Node
    field: str
    test_only: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; `target` is the receiver of a member function."""

    function: str
    target: Node | None
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class CreateList:
    """A list without those elements at the indexes `optional` that have no value."""

    elements: tuple[Node, ...]
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class CreateStruct:
    """A map (without a name) or a message; entries are key, value, and whether optional."""

    name: str
    entries: tuple[tuple[Node, Node, bool], ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A loop; all macros over lists and maps expand to it."""

    iter_var: str
    iter_range: Node
    accu_var: str
    accu_init: Node
    condition: Node
    step: Node
    result: Node


Node = Const | Ident | Select | Call | CreateList | CreateStruct | Comprehension


@dataclass(slots=True)
class Checked:
    """The expression, and the calls with argument types that the checker cannot compare."""

    root: Node
    mismatched: list[str] = field(default_factory=list)


def decode(message: bytes) -> Checked:
    """Decode the serialized form of the checker's expression, an `Any` message."""
    checked = _fields(_fields(message)[2][0])
    references = {}
    for entry in checked.get(2, []):
        pair = _fields(entry)
        reference = _fields(pair[2][0]) if 2 in pair else {}
        references[pair.get(1, [0])[0]] = _text(reference, 1)
    types = {}
    for entry in checked.get(3, []):
        pair = _fields(entry)
        types[pair.get(1, [0])[0]] = pair.get(2, [b""])[0]
    reader = _Reader(references, types)
    return Checked(reader.node(checked[4][0]), reader.mismatched)


class _Reader:
    def __init__(self, references: dict[int, str], types: dict[int, bytes]) -> None:
        self._references = references
        self._types = types
        self.mismatched: list[str] = []

    def node(self, message: bytes) -> Node:  # noqa: PLR0911 - one for each kind
        fields = _fields(message)
        number = fields.get(2, [0])[0]
        match next((kind for kind in range(3, 10) if kind in fields), 0):
            case 3:
                return _const(_fields(fields[3][0]))
            case 4:
                name = _text(_fields(fields[4][0]), 1)
                return Ident(self._references.get(number) or name)
            case 5:
                return self._select(_fields(fields[5][0]), number)
            case 6:
                return self._call(_fields(fields[6][0]))
            case 7:
                part = _fields(fields[7][0])
                elements = tuple(self.node(element) for element in part.get(1, []))
                return CreateList(elements, frozenset(_numbers(part.get(2, []))))
            case 8:
                part = _fields(fields[8][0])
                entries = tuple(self._entry(_fields(entry)) for entry in part.get(2, []))
                return CreateStruct(_text(part, 1), entries)
            case 9:
                return self._comprehension(_fields(fields[9][0]))
        return Const(0, None)

    def _select(self, part: Fields, number: int) -> Node:
        if self._references.get(number):  # a qualified name, such as the name of a type
            return Ident(self._references[number])
        return Select(self.node(part[1][0]), _text(part, 2), bool(part.get(3, [0])[0]))

    def _call(self, part: Fields) -> Node:
        name = _text(part, 2)
        if name in {"indexOf", "lastIndexOf"} and 1 in part and 3 in part:
            self._compare(name, part[1][0], part[3][0])
        target = self.node(part[1][0]) if 1 in part else None
        return Call(name, target, tuple(self.node(arg) for arg in part.get(3, [])))

    def _compare(self, name: str, target: bytes, argument: bytes) -> None:
        """Record a search for a value of another type than the list's; the checker accepts it."""
        types = [self._types.get(_fields(item).get(2, [0])[0], b"") for item in (target, argument)]
        listed = _fields(types[0]).get(_LIST)
        if listed is None:
            return
        element = _fields(listed[0]).get(1, [b""])[0]
        known = all(_fields(item).keys() == {_PRIMITIVE} for item in (element, types[1]))
        if known and element != types[1]:
            self.mismatched.append(name)

    def _entry(self, part: Fields) -> tuple[Node, Node, bool]:
        key: Node = Const(6, _text(part, 2)) if 2 in part else self.node(part[3][0])
        return key, self.node(part[4][0]), bool(part.get(5, [0])[0])

    def _comprehension(self, part: Fields) -> Comprehension:
        init, condition, step, result = (self.node(part[number][0]) for number in (4, 5, 6, 7))
        iter_range = self.node(part[2][0])
        return Comprehension(
            _text(part, 1), iter_range, _text(part, 3), init, condition, step, result
        )


def _const(part: Fields) -> Const:
    kind, values = next(iter(part.items()))
    value = values[0]
    match kind:
        case 1:
            value = None
        case 2:
            value = bool(value)
        case 3:
            value = value - 2**64 if value >= 2**63 else value
        case 5:
            value = struct.unpack("<d", value)[0]
        case 6:
            value = value.decode("utf-8")
    return Const(kind, value)


def _fields(message: bytes) -> Fields:
    """Return the values of a message's fields by number: whole numbers and bytes."""
    fields: Fields = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case 0:
                value, at = _varint(message, at)
                fields.setdefault(tag >> 3, []).append(value)
            case 1:
                fields.setdefault(tag >> 3, []).append(message[at : at + 8])
                at += 8
            case 2:
                length, at = _varint(message, at)
                fields.setdefault(tag >> 3, []).append(message[at : at + length])
                at += length
            case _:
                at += 4
    return fields


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _numbers(values: list[Any]) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            yield number


def _text(fields: Fields, number: int) -> str:
    value = fields.get(number, [b""])[0]
    assert isinstance(value, bytes)  # noqa: S101 - the field is a string of the message
    return value.decode("utf-8")
