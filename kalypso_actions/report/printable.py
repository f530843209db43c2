"""Untrusted text made fit for a terminal."""

from __future__ import annotations

import unicodedata

from kalypso_actions.runner.commands import harmless


def shown(text: str) -> str:
    """`text` on a line of a log: it moves no cursor, and commands no runner."""
    return harmless(printable(text))


def printable(text: str) -> str:
    """`text` on one line: what would move a cursor, switch colours or reorder the line is escaped.

    Labels, names and error texts come from repositories that anybody may write to.
    """
    if text.isprintable():
        return text
    return "".join(character if _harmless(character) else _escaped(character) for character in text)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a path that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _harmless(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"
