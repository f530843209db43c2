"""JSON that a job may print: no text in it commands the runner or deceives a reader."""

from __future__ import annotations

import json
import re
import unicodedata

_UNUSUAL = re.compile(r"[^\n -~]")
_BYTE = ("\udc80", "\udcff")
"""Bytes of a path that are not UTF-8, as Python reads them."""

_COMMANDS = (("##[", r"##\u005b"), ("::", r":\u003a"))
"""The runner executes `::name::` at the start of a line and `##[name]` anywhere."""


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""Format JSON that parses to `value`, except that a byte that is not UTF-8 becomes \xff.

    This escapes workflow commands, and characters that control, separate or reorder lines.
    """
    separators = None if indent else (",", ":")
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False)
    text = _UNUSUAL.sub(lambda match: _written(match[0]), text)
    for command, escaped in _COMMANDS:
        text = text.replace(command, escaped)
    return text


def _written(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    if _BYTE[0] <= character <= _BYTE[1]:
        return f"\\\\x{ord(character) - 0xDC00:02x}"
    return json.dumps(character)[1:-1]
