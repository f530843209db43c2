"""The syntax tree of a YAML document."""

from __future__ import annotations


class ScalarNode:
    """A scalar; `tag` is its full tag or "". `implicit` means that the text determines the type."""

    __slots__ = ("implicit", "line", "tag", "text")

    def __init__(self, line: int, text: str = "", tag: str = "", *, implicit: bool = True) -> None:
        self.line = line
        self.text = text
        self.tag = tag
        self.implicit = implicit


class SequenceNode:
    """A list; yaml.v2 ignores its tag."""

    __slots__ = ("items", "line")

    def __init__(self, line: int) -> None:
        self.line = line
        self.items: list[Node] = []


class MappingNode:
    """Keys and values in the order of the text, including repeated keys."""

    __slots__ = ("entries", "line")

    def __init__(self, line: int) -> None:
        self.line = line
        self.entries: list[tuple[Node, Node]] = []


class AliasNode:
    """`*name`; the target may be the collection that contains the alias."""

    __slots__ = ("line", "name", "target")

    def __init__(self, line: int, name: str, target: Node) -> None:
        self.line = line
        self.name = name
        self.target = target


Node = ScalarNode | SequenceNode | MappingNode | AliasNode
