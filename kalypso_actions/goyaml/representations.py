"""Representations of values that YAML's own types cannot express."""

from __future__ import annotations


class InOrder(dict[object, object]):
    """A struct: its entries keep their order."""

    __slots__ = ()


class Verbatim(str):
    """A scalar written without quotes, such as a time, though the same string would have them."""

    __slots__ = ()
