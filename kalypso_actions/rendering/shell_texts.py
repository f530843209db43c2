"""Shell commands in rendered files, and the characters that texts must not change in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_QUOTED: Final = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|(?:(?<=\s)|\A)\#[^\n]*|'[^']*'""", re.DOTALL)
"""Texts in single quotes, which shells do not interpret, and other text that hides such quotes."""

_SPECIAL: Final = re.compile(r"[`$\\'\";|&<>()#*?\[\]{}!~\s]")

_COMMAND_OPTION: Final = re.compile(r"-[a-z]*c")
"""`sh -ec`: the next argument is a command."""


def is_shell(path: Sequence[object], value: str, before: str) -> bool:
    """Return whether a shell runs the value at a path of YAML; `before` is the previous value."""
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    is_argument = bool(path and isinstance(path[-1], int) and _COMMAND_OPTION.fullmatch(before))
    return is_argument or key == "script" or key.endswith(".sh") or value.startswith("#!")


def shell_syntax(text: str, ignored: str = "") -> str:
    """Return the characters of a script that have a meaning to shells.

    This leaves out those in single quotes, and those of `ignored`.
    """
    if "<<" not in text:  # in a here-document, quotes have no meaning
        text = _QUOTED.sub(lambda quoted: "''" if quoted[0][0] == "'" else quoted[0], text)
    return "".join(char for char in _SPECIAL.findall(text) if char not in ignored)
