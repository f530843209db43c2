"""Read a text as yaml.v2 2.4.0 decodes it into an `interface{}`: tokens → nodes → values.

document  ::= directive* "---" node? | node
node      ::= alias | (anchor | tag)* (scalar | sequence | mapping)
sequence  ::= ("-" node?)+ | "[" (entry ",")* entry? "]"
mapping   ::= (key ":" node?)+ | "{" (entry ",")* entry? "}"
entry     ::= node | node ":" node? | "?" node? (":" node?)?
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, TypeVar

from kalypso_go.goyaml.errors import MAX_DEPTH, YAMLBoundError, YAMLError
from kalypso_go.goyaml.keys import distinct_key
from kalypso_go.goyaml.scalars import TAG_PREFIX, Scalar, resolve, tagged
from kalypso_go.goyaml.scanner import Scanner, Token, TokenKind

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
    root = _Composer(text).document()
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


@dataclass(slots=True, eq=False)
class ScalarNode:
    """A scalar; `tag` is its full tag or "". `implicit` means that the text determines the type."""

    line: int
    text: str = ""
    tag: str = ""
    implicit: bool = field(default=True, kw_only=True)


@dataclass(slots=True, eq=False)
class SequenceNode:
    """A list; yaml.v2 ignores its tag."""

    line: int
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class MappingNode:
    """Keys and values in the order of the text, including repeated keys."""

    line: int
    entries: list[tuple[Node, Node]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class AliasNode:
    """`*name`; the target may be the collection that contains the alias."""

    line: int
    name: str
    target: Node


Node = ScalarNode | SequenceNode | MappingNode | AliasNode
Anchored = TypeVar("Anchored", ScalarNode, SequenceNode, MappingNode)
DIRECTIVES: Final = frozenset({TokenKind.VERSION_DIRECTIVE, TokenKind.TAG_DIRECTIVE})

DOCUMENT_BOUNDARIES: Final = DIRECTIVES | {
    TokenKind.DOCUMENT_START,
    TokenKind.DOCUMENT_END,
    TokenKind.STREAM_END,
}
COLLECTION_STARTS: Final = frozenset({TokenKind.FLOW_SEQUENCE_START, TokenKind.FLOW_MAPPING_START})

COLLECTION_STARTS_IN_BLOCK: Final = COLLECTION_STARTS | {
    TokenKind.BLOCK_SEQUENCE_START,
    TokenKind.BLOCK_MAPPING_START,
}

# Tokens that follow an omitted node.
NO_BLOCK_VALUE: Final = frozenset({TokenKind.KEY, TokenKind.VALUE, TokenKind.BLOCK_END})
NO_ITEM: Final = frozenset({TokenKind.BLOCK_ENTRY, TokenKind.BLOCK_END})
NO_INDENTLESS_ITEM: Final = NO_BLOCK_VALUE | NO_ITEM
NO_VALUE_IN_SEQUENCE: Final = frozenset({TokenKind.FLOW_ENTRY, TokenKind.FLOW_SEQUENCE_END})
NO_KEY_IN_SEQUENCE: Final = NO_VALUE_IN_SEQUENCE | {TokenKind.VALUE}
NO_VALUE_IN_MAPPING: Final = frozenset({TokenKind.FLOW_ENTRY, TokenKind.FLOW_MAPPING_END})
NO_KEY_IN_MAPPING: Final = NO_VALUE_IN_MAPPING | {TokenKind.VALUE}


class _Composer:
    """Composes the nodes of the first document, one function for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.scanner = Scanner(text)
        self.tag_prefixes = {"!": "!", "!!": TAG_PREFIX}
        self.anchors: dict[str, Node] = {}
        self.depth = 0

    def document(self) -> Node | None:
        """Return the root node; None if there is no document."""
        first = self.scanner.peek()
        if first.kind is TokenKind.STREAM_END:
            return None
        if first.kind in DIRECTIVES or first.kind is TokenKind.DOCUMENT_START:
            self.directives()
            self.expect(TokenKind.DOCUMENT_START, "did not find expected <document start>")
            root = self.node_unless(DOCUMENT_BOUNDARIES)
        else:
            root = self.node()
        # The text after the document may break the grammar, but must begin with a token.
        self.scanner.peek()
        return root

    def directives(self) -> None:
        """Read `%YAML 1.1` and `%TAG` directives; each handle may occur once, even `!` and `!!`."""
        seen: set[str] = set()
        while self.scanner.peek().kind in DIRECTIVES:
            token = self.scanner.take()
            name = token.text if token.kind is TokenKind.TAG_DIRECTIVE else "%YAML"
            if name in seen:
                raise YAMLError("found duplicate directive", token.line)
            seen.add(name)
            if token.kind is TokenKind.TAG_DIRECTIVE:
                self.tag_prefixes[token.text] = token.suffix
            elif [int(number) for number in token.text.split(".")] != [1, 1]:
                raise YAMLError("found incompatible YAML document", token.line)

    def node_unless(
        self, ends: frozenset[TokenKind], *, block: bool = True, indentless: bool = False
    ) -> Node:
        """Return a node, or an empty scalar if the next token is one of `ends`."""
        token = self.scanner.peek()
        if token.kind in ends:
            return ScalarNode(token.line)
        return self.node(block=block, indentless=indentless)

    def node(self, *, block: bool = True, indentless: bool = False) -> Node:
        """Return a node; `indentless` allows a list without indentation, as a mapping's value."""
        if self.scanner.peek().kind is TokenKind.ALIAS:
            return self.alias(self.scanner.take())
        anchor, tag, line = self.properties()
        token = self.scanner.peek()
        if token.kind is TokenKind.SCALAR:
            self.scanner.take()
            implicit = tag == "!" or (not tag and token.plain)
            return self.anchored(anchor, ScalarNode(line, token.text, tag, implicit=implicit))
        if indentless and token.kind is TokenKind.BLOCK_ENTRY:
            return self.collection(anchor, token)
        if token.kind in (COLLECTION_STARTS_IN_BLOCK if block else COLLECTION_STARTS):
            return self.collection(anchor, token)
        if anchor is not None or tag:
            return self.anchored(anchor, ScalarNode(line, tag=tag, implicit=not tag))
        raise YAMLError("did not find expected node content", token.line)

    def properties(self) -> tuple[str | None, str, int]:
        """Return anchor and tag (each at most once, in any order) and the line of the node."""
        anchor = None
        tag = None
        line = self.scanner.peek().line
        while True:
            token = self.scanner.peek()
            if token.kind is TokenKind.ANCHOR and anchor is None:
                anchor = self.scanner.take().text
            elif token.kind is TokenKind.TAG and tag is None:
                tag = self.resolved_tag(self.scanner.take())
            else:
                return anchor, tag or "", line

    def resolved_tag(self, token: Token) -> str:
        if not token.text:
            return token.suffix
        if token.text not in self.tag_prefixes:
            raise YAMLError("found undefined tag handle", token.line)
        return self.tag_prefixes[token.text] + token.suffix

    def alias(self, token: Token) -> AliasNode:
        if token.text not in self.anchors:
            raise YAMLError(f"unknown anchor '{token.text}' referenced", token.line)
        return AliasNode(token.line, token.text, self.anchors[token.text])

    def anchored(self, anchor: str | None, node: Anchored) -> Anchored:
        """Return `node`; aliases may refer to it from here on, even inside it."""
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def collection(self, anchor: str | None, token: Token) -> Node:
        """Return the list or mapping that begins with `token`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"lists and mappings are nested more than {MAX_DEPTH} levels deep"
            raise YAMLBoundError(message, token.line)
        node: Node
        if token.kind is TokenKind.FLOW_MAPPING_START:
            node = self.flow_mapping(self.anchored(anchor, MappingNode(token.line)))
        elif token.kind is TokenKind.BLOCK_MAPPING_START:
            node = self.block_mapping(self.anchored(anchor, MappingNode(token.line)))
        elif token.kind is TokenKind.FLOW_SEQUENCE_START:
            node = self.flow_sequence(self.anchored(anchor, SequenceNode(token.line)))
        elif token.kind is TokenKind.BLOCK_SEQUENCE_START:
            self.scanner.take()
            node = self.items(self.anchored(anchor, SequenceNode(token.line)), NO_ITEM)
            self.expect(TokenKind.BLOCK_END, "did not find expected '-' indicator")
        else:
            sequence = self.anchored(anchor, SequenceNode(token.line))
            node = self.items(sequence, NO_INDENTLESS_ITEM)
        self.depth -= 1
        return node

    def items(self, sequence: SequenceNode, ends: frozenset[TokenKind]) -> SequenceNode:
        while self.scanner.peek().kind is TokenKind.BLOCK_ENTRY:
            self.scanner.take()
            sequence.items.append(self.node_unless(ends))
        return sequence

    def block_mapping(self, mapping: MappingNode) -> MappingNode:
        self.scanner.take()
        while self.scanner.peek().kind is TokenKind.KEY:
            self.scanner.take()
            key = self.node_unless(NO_BLOCK_VALUE, indentless=True)
            mapping.entries.append((key, self.value(NO_BLOCK_VALUE, block=True)))
        self.expect(TokenKind.BLOCK_END, "did not find expected key")
        return mapping

    def flow_sequence(self, sequence: SequenceNode) -> SequenceNode:
        self.scanner.take()
        while not self.at_flow_end(TokenKind.FLOW_SEQUENCE_END, first=not sequence.items):
            if self.scanner.peek().kind is TokenKind.KEY:
                sequence.items.append(self.single_pair())
            else:
                sequence.items.append(self.node(block=False))
        return sequence

    def single_pair(self) -> MappingNode:
        """Return a mapping of one entry in a list, `[key: value]`."""
        mapping = MappingNode(self.scanner.take().line)
        key: Node
        if self.scanner.peek().kind in NO_KEY_IN_SEQUENCE:
            # yaml.v2 drops this token, so that most texts fail at the next one.
            key = ScalarNode(self.scanner.take().line)
        else:
            key = self.node(block=False)
        mapping.entries.append((key, self.value(NO_VALUE_IN_SEQUENCE, block=False)))
        return mapping

    def flow_mapping(self, mapping: MappingNode) -> MappingNode:
        self.scanner.take()
        while not self.at_flow_end(TokenKind.FLOW_MAPPING_END, first=not mapping.entries):
            value: Node
            if self.scanner.peek().kind is TokenKind.KEY:
                self.scanner.take()
                key = self.node_unless(NO_KEY_IN_MAPPING, block=False)
                value = self.value(NO_VALUE_IN_MAPPING, block=False)
            else:
                key = self.node(block=False)
                value = ScalarNode(key.line)
            mapping.entries.append((key, value))
        return mapping

    def at_flow_end(self, end: TokenKind, *, first: bool) -> bool:
        """Return whether a flow collection ends; move past its end, or else to its next entry."""
        if not first and self.scanner.peek().kind is not end:
            bracket = "]" if end is TokenKind.FLOW_SEQUENCE_END else "}"
            self.expect(TokenKind.FLOW_ENTRY, f"did not find expected ',' or '{bracket}'")
        if self.scanner.peek().kind is not end:
            return False
        self.scanner.take()
        return True

    def value(self, ends: frozenset[TokenKind], *, block: bool) -> Node:
        """Return the value of a mapping's entry; value and colon are optional."""
        token = self.scanner.peek()
        if token.kind is not TokenKind.VALUE:
            return ScalarNode(token.line)
        self.scanner.take()
        return self.node_unless(ends, block=block, indentless=block)

    def expect(self, kind: TokenKind, problem: str) -> None:
        token = self.scanner.take()
        if token.kind is not kind:
            raise YAMLError(problem, token.line)
