"""Read a text as yaml.v2 2.4.0 decodes it into an `interface{}`."""

from __future__ import annotations

import re
from typing import Final

from kalypso_go.goyaml.bounds import MAX_DEPTH
from kalypso_go.goyaml.composer import compose
from kalypso_go.goyaml.errors import YAMLBoundError, YAMLError
from kalypso_go.goyaml.keys import distinct_key
from kalypso_go.goyaml.nodes import AliasNode, MappingNode, Node, ScalarNode, SequenceNode
from kalypso_go.goyaml.scalars import TAG_PREFIX, Scalar, resolve, tagged

ONE_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_/+$(.](?:[ ]?[!\"$-9;-~]|:(?=[!-~]))*")
"""Matches many one-line texts that are plain scalars, unless they begin with `...`."""

FREE_DECODES: Final = 400_000
"""From this number of values on, the permitted share of aliases decreases."""
ALL_DECODES: Final = 4_000_000
"""From this number of values on, the permitted share of aliases is minimal."""


def parse(text: str) -> object:
    """Return the value of the first document of `text`; None if there is no document.

    Mappings become dicts with scalar keys (`keys` describes how `1`, `1.0` and `true` remain
    distinct), and integers go up to 2**64 - 1. As in yaml.v2, the last of two equal keys wins, and
    a merge (`<<`) replaces keys before it. Each alias gives a copy.
    Raises `YAMLError` if yaml.v2 returns an error, and `YAMLBoundError` if the document exceeds
    `MAX_DEPTH`, which yaml.v2 would still read.
    """
    if ONE_PLAIN_WORD.fullmatch(text) and not text.startswith("..."):
        return resolve(text)
    root = compose(text)
    return None if root is None else _Decoder().decode(root)


class _Decoder:
    """Decodes nodes, and counts them like yaml.v2 to detect excessive aliasing."""

    def __init__(self) -> None:
        self.decoded = 1  # The document counts, too.
        self.decoded_in_aliases = 0
        self.depth = 0
        self.open_aliases: set[AliasNode] = set()

    def decode(self, node: Node) -> object:
        self.count(node)
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, AliasNode):
            self.open(node)
            value = self.decode(node.target)
            self.open_aliases.remove(node)
            return value
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"lists and mappings are nested more than {MAX_DEPTH} levels deep"
            raise YAMLBoundError(message, node.line)
        if isinstance(node, SequenceNode):
            collection: object = [self.decode(item) for item in node.items]
        else:
            collection = self.fill({}, node)
        self.depth -= 1
        return collection

    def fill(self, mapping: dict[Scalar, object], node: MappingNode) -> dict[Scalar, object]:
        """Set the entries of `node` in `mapping`, in the order of the text."""
        for key_node, value_node in node.entries:
            if _is_merge(key_node):
                self.merge(mapping, value_node)
                continue
            key = self.decode(key_node)
            if key is not None and not isinstance(key, bool | int | float | str):
                raise YAMLError("invalid map key: a list or a mapping", key_node.line)
            key = distinct_key(key)
            value = self.decode(value_node)
            if isinstance(key, float) and key in mapping:
                # 0.0 and -0.0 are one key; Go keeps the last one.
                del mapping[key]
            mapping[key] = value
        return mapping

    def merge(self, mapping: dict[Scalar, object], node: Node) -> None:
        """Set the entries that `<<` refers to: one mapping, or a list in which the first wins."""
        for source in reversed(node.items) if isinstance(node, SequenceNode) else [node]:
            target = source.target if isinstance(source, AliasNode) else source
            if not isinstance(target, MappingNode):
                message = "map merge requires map or sequence of maps as the value"
                raise YAMLError(message, source.line)
            self.count(source)
            if isinstance(source, AliasNode):
                self.open(source)
                self.count(target)
                self.fill(mapping, target)
                self.open_aliases.remove(source)
            else:
                self.fill(mapping, target)

    def open(self, alias: AliasNode) -> None:
        if alias in self.open_aliases:
            raise YAMLError(f"anchor '{alias.name}' value contains itself", alias.line)
        self.open_aliases.add(alias)

    def count(self, node: Node) -> None:
        self.decoded += 1
        if self.open_aliases:
            self.decoded_in_aliases += 1
        if self.decoded_in_aliases > 100 and self.decoded > 1000:
            self.check_aliases(node)

    def check_aliases(self, node: Node) -> None:
        """Raise `YAMLError` if aliases produce too many values.

        They may produce 99 % of the values of a short text, and 10 % of those of a very long one.
        """
        beyond = (self.decoded - FREE_DECODES) / (ALL_DECODES - FREE_DECODES)
        allowed = 0.99 - 0.89 * min(max(beyond, 0.0), 1.0)
        if self.decoded_in_aliases / self.decoded > allowed:
            raise YAMLError("document contains excessive aliasing", node.line)


def _is_merge(key: Node) -> bool:
    if not isinstance(key, ScalarNode) or key.text != "<<":
        return False
    return key.implicit or key.tag == TAG_PREFIX + "merge"


def _scalar(node: ScalarNode) -> Scalar:
    if node.tag:
        return tagged(node.text, node.tag, node.line)
    return resolve(node.text) if node.implicit else node.text
