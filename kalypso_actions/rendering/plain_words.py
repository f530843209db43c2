"""The messages of template engines in plain words."""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import DATA_TYPE, FIELDS
from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_go.gotemplate.builtins import BUILTINS

_GO: Final = re.compile(
    r'template: [^:]*:\d+(?::\d+)?: (?:executing ".*?" at <(?P<node>.*?)>: )?(?P<fault>.*)',
    re.DOTALL,
)
_FIELD: Final = re.compile(rf"can't evaluate field (\w+) in type {re.escape(str(DATA_TYPE))}")
_FUNCTION: Final = re.compile(r'function "(\w+)" not defined')
UNCLOSED: Final = re.compile(r"unclosed action started at [^:]*:(?P<line>\d+)")
_CALL: Final = re.compile(r"error calling (?P<function>\w+): (?P<reason>.*)", re.DOTALL)


def in_plain_words(message: str) -> tuple[str, str]:
    """Return the text to write after `fails`, and advice with the name that was probably meant.

    This keeps the engine's own words where they are plain: a reason, or the text of `fail`.
    """
    go = _GO.fullmatch(message.strip())
    if go is None:
        return f": {message.strip()}", ""
    node, fault = go["node"], go["fault"]
    if UNCLOSED.search(fault):
        return ": an action has no end", "close it with }}"
    field = _FIELD.fullmatch(fault)
    if field:
        close = nearest(field[1], FIELDS)
        known = ", ".join(f".{name}" for name in FIELDS)
        advice = f"did you mean .{close}?" if close else f"fields: {known}"
        return f": no assignment has the field .{field[1]}", advice
    function = _FUNCTION.fullmatch(fault)
    if function:
        close = nearest(function[1], (*BUILTINS, *FUNCTIONS))
        return f": {fault}", f"did you mean {close}?" if close else ""
    call = _CALL.fullmatch(fault)
    if call and call["function"] == "fail":
        return f": {call['reason']}", ""
    reason = call["reason"] if call else fault
    return f" at {node}: {reason}" if node else f": {reason}", ""
