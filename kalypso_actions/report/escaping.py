"""Escape untrusted text for terminals, for logs, and for JSON in logs.

Labels, names and error texts come from repositories that anybody may write to. None of them may
command the runner or the terminal, or deceive a reader.
"""

from __future__ import annotations

import json
import re
import unicodedata

from kalypso_actions.runner import escape_workflow_commands

_UNUSUAL = re.compile(r"[^\n -~]")
_BYTE = ("\udc80", "\udcff")
"""Bytes of a path that are not UTF-8, as Python reads them."""

_COMMANDS = (("##[", r"##\u005b"), ("::", r":\u003a"))
"""The runner executes `::name::` at the start of a line and `##[name]` anywhere."""


def escape_log_line(text: str) -> str:
    """Escape control characters and workflow commands, for a line of a job's log."""
    return escape_workflow_commands(escape_line(text))


def escape_line(text: str) -> str:
    """Escape characters that move the cursor, switch colours, break or reorder the line."""
    if text.isprintable():
        return text
    return "".join(character if _is_safe(character) else _escaped(character) for character in text)


def shortened(text: str, most: int) -> str:
    """Cut a text to a number of characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def _escaped(character: str) -> str:
    if _BYTE[0] <= character <= _BYTE[1]:
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _is_safe(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""Format JSON that parses to `value`, except that a byte that is not UTF-8 becomes \xff.

    This escapes workflow commands, and characters that control, separate or reorder lines.
    """
    separators = None if indent else (",", ":")
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False)
    text = _UNUSUAL.sub(lambda match: _in_json(match[0]), text)
    for command, escaped in _COMMANDS:
        text = text.replace(command, escaped)
    return text


def _in_json(character: str) -> str:
    if _is_safe(character):
        return character
    if _BYTE[0] <= character <= _BYTE[1]:
        return f"\\\\x{ord(character) - 0xDC00:02x}"
    return json.dumps(character)[1:-1]
