"""The tokens of a YAML text."""

from __future__ import annotations

from enum import Enum, auto


class Kind(Enum):
    """The kinds of tokens; indentation produces the block tokens."""

    STREAM_END = auto()
    VERSION_DIRECTIVE = auto()
    TAG_DIRECTIVE = auto()
    DOCUMENT_START = auto()
    DOCUMENT_END = auto()
    BLOCK_SEQUENCE_START = auto()
    BLOCK_MAPPING_START = auto()
    BLOCK_END = auto()
    BLOCK_ENTRY = auto()
    FLOW_SEQUENCE_START = auto()
    FLOW_SEQUENCE_END = auto()
    FLOW_MAPPING_START = auto()
    FLOW_MAPPING_END = auto()
    FLOW_ENTRY = auto()
    KEY = auto()
    VALUE = auto()
    ALIAS = auto()
    ANCHOR = auto()
    TAG = auto()
    SCALAR = auto()


class Token:
    """One token, which begins in `line` (from 1).

    `text` is a scalar's value, an anchor's name, a tag's handle or a version; `suffix` is the rest
    of a tag or the prefix of a tag directive; a `plain` scalar has neither quotes nor indicator.
    """

    __slots__ = ("kind", "line", "plain", "suffix", "text")

    def __init__(
        self, kind: Kind, line: int, text: str = "", suffix: str = "", *, plain: bool = False
    ) -> None:
        self.kind = kind
        self.line = line
        self.text = text
        self.suffix = suffix
        self.plain = plain
