"""From tokens to the nodes of the first document, by yaml.v2's grammar.

document  ::= directive* "---" node? | node
node      ::= alias | (anchor | tag)* (scalar | sequence | mapping)
sequence  ::= ("-" node?)+ | "[" (entry ",")* entry? "]"
mapping   ::= (key ":" node?)+ | "{" (entry ",")* entry? "}"
entry     ::= node | node ":" node? | "?" node? (":" node?)?
"""

from __future__ import annotations

from typing import Final, TypeVar

from kalypso_go.goyaml.bounds import MAX_DEPTH
from kalypso_go.goyaml.errors import YAMLBoundError, YAMLError
from kalypso_go.goyaml.nodes import AliasNode, MappingNode, Node, ScalarNode, SequenceNode
from kalypso_go.goyaml.scalars import TAG_PREFIX
from kalypso_go.goyaml.scanner import Scanner
from kalypso_go.goyaml.tokens import Kind, Token

Anchored = TypeVar("Anchored", ScalarNode, SequenceNode, MappingNode)

DIRECTIVES: Final = frozenset({Kind.VERSION_DIRECTIVE, Kind.TAG_DIRECTIVE})
DOCUMENT_BOUNDARIES: Final = DIRECTIVES | {
    Kind.DOCUMENT_START,
    Kind.DOCUMENT_END,
    Kind.STREAM_END,
}
COLLECTION_STARTS: Final = frozenset({Kind.FLOW_SEQUENCE_START, Kind.FLOW_MAPPING_START})
COLLECTION_STARTS_IN_BLOCK: Final = COLLECTION_STARTS | {
    Kind.BLOCK_SEQUENCE_START,
    Kind.BLOCK_MAPPING_START,
}

# Tokens that follow an omitted node.
NO_BLOCK_VALUE: Final = frozenset({Kind.KEY, Kind.VALUE, Kind.BLOCK_END})
NO_ITEM: Final = frozenset({Kind.BLOCK_ENTRY, Kind.BLOCK_END})
NO_INDENTLESS_ITEM: Final = NO_BLOCK_VALUE | NO_ITEM
NO_VALUE_IN_SEQUENCE: Final = frozenset({Kind.FLOW_ENTRY, Kind.FLOW_SEQUENCE_END})
NO_KEY_IN_SEQUENCE: Final = NO_VALUE_IN_SEQUENCE | {Kind.VALUE}
NO_VALUE_IN_MAPPING: Final = frozenset({Kind.FLOW_ENTRY, Kind.FLOW_MAPPING_END})
NO_KEY_IN_MAPPING: Final = NO_VALUE_IN_MAPPING | {Kind.VALUE}


def compose(text: str) -> Node | None:
    """Return the root node of the first document of `text`; None if there is no document.

    Raises `YAMLError` if yaml.v2 does, `YAMLBoundError` for more levels than `MAX_DEPTH`.
    """
    return _Composer(text).document()


class _Composer:
    """Reads tokens by recursive descent, one function for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.scanner = Scanner(text)
        self.tag_prefixes = {"!": "!", "!!": TAG_PREFIX}
        self.anchors: dict[str, Node] = {}
        self.depth = 0

    def document(self) -> Node | None:
        first = self.scanner.peek()
        if first.kind is Kind.STREAM_END:
            return None
        if first.kind in DIRECTIVES or first.kind is Kind.DOCUMENT_START:
            self.directives()
            self.expect(Kind.DOCUMENT_START, "did not find expected <document start>")
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
            name = token.text if token.kind is Kind.TAG_DIRECTIVE else "%YAML"
            if name in seen:
                raise YAMLError("found duplicate directive", token.line)
            seen.add(name)
            if token.kind is Kind.TAG_DIRECTIVE:
                self.tag_prefixes[token.text] = token.suffix
            elif [int(number) for number in token.text.split(".")] != [1, 1]:
                raise YAMLError("found incompatible YAML document", token.line)

    def node_unless(
        self, ends: frozenset[Kind], *, block: bool = True, indentless: bool = False
    ) -> Node:
        """Return a node, or an empty scalar if the next token is one of `ends`."""
        token = self.scanner.peek()
        if token.kind in ends:
            return ScalarNode(token.line)
        return self.node(block=block, indentless=indentless)

    def node(self, *, block: bool = True, indentless: bool = False) -> Node:
        """Return a node; `indentless` allows a list without indentation, as a mapping's value."""
        if self.scanner.peek().kind is Kind.ALIAS:
            return self.alias(self.scanner.take())
        anchor, tag, line = self.properties()
        token = self.scanner.peek()
        if token.kind is Kind.SCALAR:
            self.scanner.take()
            implicit = tag == "!" or (not tag and token.plain)
            return self.anchored(anchor, ScalarNode(line, token.text, tag, implicit=implicit))
        if indentless and token.kind is Kind.BLOCK_ENTRY:
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
            if token.kind is Kind.ANCHOR and anchor is None:
                anchor = self.scanner.take().text
            elif token.kind is Kind.TAG and tag is None:
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
        if token.kind is Kind.FLOW_MAPPING_START:
            node = self.flow_mapping(self.anchored(anchor, MappingNode(token.line)))
        elif token.kind is Kind.BLOCK_MAPPING_START:
            node = self.block_mapping(self.anchored(anchor, MappingNode(token.line)))
        elif token.kind is Kind.FLOW_SEQUENCE_START:
            node = self.flow_sequence(self.anchored(anchor, SequenceNode(token.line)))
        elif token.kind is Kind.BLOCK_SEQUENCE_START:
            self.scanner.take()
            node = self.items(self.anchored(anchor, SequenceNode(token.line)), NO_ITEM)
            self.expect(Kind.BLOCK_END, "did not find expected '-' indicator")
        else:
            sequence = self.anchored(anchor, SequenceNode(token.line))
            node = self.items(sequence, NO_INDENTLESS_ITEM)
        self.depth -= 1
        return node

    def items(self, sequence: SequenceNode, ends: frozenset[Kind]) -> SequenceNode:
        while self.scanner.peek().kind is Kind.BLOCK_ENTRY:
            self.scanner.take()
            sequence.items.append(self.node_unless(ends))
        return sequence

    def block_mapping(self, mapping: MappingNode) -> MappingNode:
        self.scanner.take()
        while self.scanner.peek().kind is Kind.KEY:
            self.scanner.take()
            key = self.node_unless(NO_BLOCK_VALUE, indentless=True)
            mapping.entries.append((key, self.value(NO_BLOCK_VALUE, block=True)))
        self.expect(Kind.BLOCK_END, "did not find expected key")
        return mapping

    def flow_sequence(self, sequence: SequenceNode) -> SequenceNode:
        self.scanner.take()
        while not self.at_flow_end(Kind.FLOW_SEQUENCE_END, first=not sequence.items):
            if self.scanner.peek().kind is Kind.KEY:
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
        while not self.at_flow_end(Kind.FLOW_MAPPING_END, first=not mapping.entries):
            value: Node
            if self.scanner.peek().kind is Kind.KEY:
                self.scanner.take()
                key = self.node_unless(NO_KEY_IN_MAPPING, block=False)
                value = self.value(NO_VALUE_IN_MAPPING, block=False)
            else:
                key = self.node(block=False)
                value = ScalarNode(key.line)
            mapping.entries.append((key, value))
        return mapping

    def at_flow_end(self, end: Kind, *, first: bool) -> bool:
        """Return whether a flow collection ends; move past its end, or else to its next entry."""
        if not first and self.scanner.peek().kind is not end:
            bracket = "]" if end is Kind.FLOW_SEQUENCE_END else "}"
            self.expect(Kind.FLOW_ENTRY, f"did not find expected ',' or '{bracket}'")
        if self.scanner.peek().kind is not end:
            return False
        self.scanner.take()
        return True

    def value(self, ends: frozenset[Kind], *, block: bool) -> Node:
        """Return the value of a mapping's entry; value and colon are optional."""
        token = self.scanner.peek()
        if token.kind is not Kind.VALUE:
            return ScalarNode(token.line)
        self.scanner.take()
        return self.node_unless(ends, block=block, indentless=block)

    def expect(self, kind: Kind, problem: str) -> None:
        token = self.scanner.take()
        if token.kind is not kind:
            raise YAMLError(problem, token.line)
