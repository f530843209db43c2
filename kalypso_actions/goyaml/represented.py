"""What a value of another kind may be given as, to be written as Go's libraries write it."""

from __future__ import annotations


class InOrder(dict[object, object]):
    """A struct: its entries are written in their own order."""

    __slots__ = ()


class Verbatim(str):
    """A scalar that is written just so: times are, though the text would be quoted."""

    __slots__ = ()
