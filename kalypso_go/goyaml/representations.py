"""Representations of values that YAML's own types cannot express."""

from __future__ import annotations


class InOrder(dict[object, object]):
    """A struct: its entries keep their order."""

    __slots__ = ()


class Verbatim(str):
    """A scalar without quotes, such as a time; as a string, the same text would have quotes."""

    __slots__ = ()
