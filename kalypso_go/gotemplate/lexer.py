"""Split a text into items: plain text between actions, and the words, signs and constants in them.

The lexer never raises: text that it cannot read becomes a final item of kind `ERROR`, which the
parser may or may not reach. Positions are indexes into the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from kalypso_go.gotemplate.characters import is_digit, is_letter, is_print
from kalypso_go.gotemplate.text import byte_length, quote

LEFT, RIGHT = "{{", "}}"
SPACES = " \t\r\n"


class ItemKind(Enum):
    """The kinds of items."""

    ERROR = auto()
    EOF = auto()
    TEXT = auto()
    LEFT_DELIMITER = auto()
    RIGHT_DELIMITER = auto()
    LEFT_PARENTHESIS = auto()
    RIGHT_PARENTHESIS = auto()
    SPACE = auto()
    PIPE = auto()
    DECLARE = auto()
    ASSIGN = auto()
    CHARACTER = auto()
    FIELD = auto()
    IDENTIFIER = auto()
    VARIABLE = auto()
    BOOL = auto()
    CHARACTER_CONSTANT = auto()
    COMPLEX = auto()
    NUMBER = auto()
    RAW_STRING = auto()
    STRING = auto()
    DOT = auto()
    NIL = auto()
    BLOCK = auto()
    BREAK = auto()
    CONTINUE = auto()
    DEFINE = auto()
    ELSE = auto()
    END = auto()
    IF = auto()
    RANGE = auto()
    TEMPLATE = auto()
    WITH = auto()


_WORDS = {
    "true": ItemKind.BOOL,
    "false": ItemKind.BOOL,
    "nil": ItemKind.NIL,
    "block": ItemKind.BLOCK,
    "break": ItemKind.BREAK,
    "continue": ItemKind.CONTINUE,
    "define": ItemKind.DEFINE,
    "else": ItemKind.ELSE,
    "end": ItemKind.END,
    "if": ItemKind.IF,
    "range": ItemKind.RANGE,
    "template": ItemKind.TEMPLATE,
    "with": ItemKind.WITH,
}
_KEYWORDS = frozenset(_WORDS.values()) - {ItemKind.BOOL} | {ItemKind.DOT}


class Item(NamedTuple):
    """A piece of the text, with its position."""

    kind: ItemKind
    position: int
    value: str

    def __str__(self) -> str:
        """Return the item as Go's errors show it."""
        if self.kind is ItemKind.EOF:
            return "EOF"
        if self.kind is ItemKind.ERROR:
            return self.value
        if self.kind in _KEYWORDS:
            return f"<{self.value}>"
        if byte_length(self.value) > 10:
            return f"{quote(self.value[:10])}..."
        return quote(self.value)


def lex(text: str, functions: frozenset[str] = frozenset()) -> Iterator[Item]:
    """Yield the items of `text`, the last one of kind `EOF` or `ERROR`.

    `break` and `continue` are ordinary words if they are in `functions`.
    """
    return _Lexer(text, functions & {"break", "continue"}).items()


# The tokens of an action, by the first character. An unmatched opening quote means an unterminated
# string. The quantifiers are possessive, so that matching takes linear time.
_TOKEN = re.compile(
    r"""
      (?P<right>       (?:[ \t\r\n]-)? \}\} )
    | (?P<space>       [ \t\r\n]+? (?=[ \t\r\n]-\}\}) | [ \t\r\n]++ )
    | (?P<field>       \. (?=[^0-9]) )
    | (?P<variable>    \$ )
    | (?P<number>      [+\-.0-9] )
    | (?P<string>      " (?: [^"\\\n] | \\[^\n] )*+ " )
    | (?P<raw>         ` [^`]*+ ` )
    | (?P<character>   ' (?: [^'\\\n] | \\[^\n] )*+ ' )
    | (?P<declare>     := )
    | (?P<assign>      = )
    | (?P<pipe>        \| )
    | (?P<left_paren>  \( )
    | (?P<right_paren> \) )
    """,
    re.VERBOSE,
)

_NUMBER = re.compile(
    r"""[+\-]? (?:
        0[xX] [0-9a-fA-F_]* (?:\.[0-9a-fA-F_]*)? (?:[pP][+\-]?[0-9_]*)?
      | 0[oO] [0-7_]* (?:\.[0-7_]*)?
      | 0[bB] [01_]* (?:\.[01_]*)?
      | [0-9_]* (?:\.[0-9_]*)? (?:[eE][+\-]?[0-9_]*)?
    ) i?""",
    re.VERBOSE,
)

_ASCII_WORD = re.compile(r"[A-Za-z0-9_]*")
_TERMINATORS = frozenset(SPACES + ".,|:)(")
_UNTERMINATED = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
    ":": "expected :=",
}
_SIMPLE = {
    "space": ItemKind.SPACE,
    "string": ItemKind.STRING,
    "raw": ItemKind.RAW_STRING,
    "character": ItemKind.CHARACTER_CONSTANT,
    "declare": ItemKind.DECLARE,
    "assign": ItemKind.ASSIGN,
    "pipe": ItemKind.PIPE,
}


class _Lexer:
    """Reads one text; each `_…` method reads the item of its name at `position`."""

    def __init__(self, text: str, ordinary: frozenset[str]) -> None:
        self.text = text
        self.ordinary = ordinary
        self.position = 0
        self.depth = 0
        self.readers: dict[str | None, Callable[[], Item]] = {
            "field": lambda: self._name(ItemKind.FIELD, ItemKind.DOT),
            "variable": lambda: self._name(ItemKind.VARIABLE, ItemKind.VARIABLE),
            "number": self._number,
            "left_paren": self._left_parenthesis,
            "right_paren": self._right_parenthesis,
            None: self._word_or_character,
        }

    def items(self) -> Iterator[Item]:
        while True:
            start, action = self.position, self.text.find(LEFT, self.position)
            if action < 0:
                break
            inside = action + len(LEFT)
            trims = self.text[inside : inside + 1] == "-" and self._is_space(inside + 1)
            plain = self.text[start:action]
            plain = plain.rstrip(SPACES) if trims else plain
            if plain:
                yield Item(ItemKind.TEXT, start, plain)
            self.position = inside + 2 if trims else inside
            if self.text.startswith("/*", self.position):
                error = self._comment()
                if error:
                    yield error
                    return
                continue
            yield Item(ItemKind.LEFT_DELIMITER, action, LEFT)
            item = None
            while item is None or item.kind is not ItemKind.RIGHT_DELIMITER:
                item = self._inside()
                yield item
                if item.kind is ItemKind.ERROR:
                    return
        if start < len(self.text):
            yield Item(ItemKind.TEXT, start, self.text[start:])
        yield Item(ItemKind.EOF, len(self.text), "EOF")

    def _is_space(self, position: int) -> bool:
        return self.text[position : position + 1] in (" ", "\t", "\r", "\n")

    def _error(self, position: int, message: str) -> Item:
        return Item(ItemKind.ERROR, position, message)

    def _comment(self) -> Item | None:
        """Skip a comment and its right delimiter; return an error item if it is malformed."""
        start = self.position
        end = self.text.find("*/", start + 2)
        if end < 0:
            return self._error(start, "unclosed comment")
        self.position = end + 2
        trims = self._is_space(self.position) and self.text.startswith("-}}", self.position + 1)
        if trims:
            self.position += 2
        elif not self.text.startswith(RIGHT, self.position):
            return self._error(start, "comment ends before closing delimiter")
        self.position += len(RIGHT)
        if trims:
            self._trim()
        return None

    def _trim(self) -> None:
        while self._is_space(self.position):
            self.position += 1

    def _inside(self) -> Item:
        """Read the next item of an action."""
        match = _TOKEN.match(self.text, self.position)
        group = match.lastgroup if match else None
        if match is None or group in self.readers:
            return self.readers[group]()
        start, self.position = self.position, match.end()
        value = match.group()
        if group == "right":
            return self._right_delimiter(start, value)
        return Item(_SIMPLE[group or ""], start, value)

    def _right_delimiter(self, start: int, value: str) -> Item:
        if self.depth:
            return self._error(start, "unclosed left paren")
        if len(value) > len(RIGHT):
            start += len(value) - len(RIGHT)
            self._trim()
        return Item(ItemKind.RIGHT_DELIMITER, start, RIGHT)

    def _left_parenthesis(self) -> Item:
        self.depth += 1
        self.position += 1
        return Item(ItemKind.LEFT_PARENTHESIS, self.position - 1, "(")

    def _right_parenthesis(self) -> Item:
        if not self.depth:
            return self._error(self.position, "unexpected right paren")
        self.depth -= 1
        self.position += 1
        return Item(ItemKind.RIGHT_PARENTHESIS, self.position - 1, ")")

    def _name(self, kind: ItemKind, alone: ItemKind) -> Item:
        """Read a name after `.` or `$`; its kind is `alone` if there is none."""
        start = self.position
        end = self._word_end(start + 1)
        if not self._terminated(end):
            return self._bad_character(start, end)
        self.position = end
        return Item(alone if end == start + 1 else kind, start, self.text[start:end])

    def _number(self) -> Item:
        start = self.position
        end = self._number_end(start)
        kind = ItemKind.NUMBER
        if self.text[end : end + 1] in ("+", "-"):
            kind = ItemKind.COMPLEX
            end = self._number_end(end)
        if self._is_word_character(end):
            return self._error(start, f"bad number syntax: {quote(self.text[start : end + 1])}")
        if kind is ItemKind.COMPLEX and self.text[end - 1] != "i":
            return self._error(start, f"bad number syntax: {quote(self.text[start:end])}")
        self.position = end
        return Item(kind, start, self.text[start:end])

    def _number_end(self, start: int) -> int:
        match = _NUMBER.match(self.text, start)
        return match.end() if match else start

    def _word_or_character(self) -> Item:
        start = self.position
        rune = self.text[start : start + 1]
        if not rune:
            return self._error(start, "unclosed action")
        if rune in _UNTERMINATED:
            return self._error(start, _UNTERMINATED[rune])
        if self._is_word_character(start):
            return self._word()
        if rune < "\x80" and is_print(rune):
            self.position += 1
            return Item(ItemKind.CHARACTER, start, rune)
        return self._error(start, f"unrecognized character in action: {unicode_name(rune)}")

    def _word(self) -> Item:
        start = self.position
        end = self._word_end(start)
        if not self._terminated(end):
            return self._bad_character(start, end)
        self.position = end
        word = self.text[start:end]
        kind = (
            ItemKind.IDENTIFIER if word in self.ordinary else _WORDS.get(word, ItemKind.IDENTIFIER)
        )
        return Item(kind, start, word)

    def _is_word_character(self, position: int) -> bool:
        rune = self.text[position : position + 1]
        return rune == "_" or (rune != "" and (is_letter(rune) or is_digit(rune)))

    def _word_end(self, position: int) -> int:
        while True:
            match = _ASCII_WORD.match(self.text, position)
            position = match.end() if match else position
            if self.text[position : position + 1] < "\x80" or not self._is_word_character(position):
                return position
            position += 1

    def _terminated(self, end: int) -> bool:
        """Return whether a name may end at `end`: it may not in `$x+2`."""
        rune = self.text[end : end + 1]
        return not rune or rune in _TERMINATORS or self.text.startswith(RIGHT, end)

    def _bad_character(self, start: int, end: int) -> Item:
        return self._error(start, f"bad character {unicode_name(self.text[end])}")


def unicode_name(rune: str) -> str:
    """Go's `%#U`: `U+0040 '@'`."""
    code = 0xFFFD if "\udc80" <= rune <= "\udcff" else ord(rune)
    return f"U+{code:04X} '{chr(code)}'" if is_print(chr(code)) else f"U+{code:04X}"
