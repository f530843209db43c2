"""Escape untrusted text for terminals and logs."""

from __future__ import annotations

import unicodedata

from kalypso_actions.runner.workflow_commands import escape_workflow_commands


def escape_log_line(text: str) -> str:
    """Escape control characters and workflow commands, for a line of a job's log."""
    return escape_workflow_commands(escape_line(text))


def escape_line(text: str) -> str:
    """Escape characters that move the cursor, switch colours, break or reorder the line.

    Labels, names and error texts come from repositories that anybody may write to.
    """
    if text.isprintable():
        return text
    return "".join(character if _is_safe(character) else _escaped(character) for character in text)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a path that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _is_safe(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"
