"""The reasons why an assignment has no files, in plain words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import DATA_TYPE, FIELDS
from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_go.gotemplate.builtins import BUILTINS

REFUSED_CONFIG: Final = "config-refused"
BROKEN_SCHEMA: Final = "schema-invalid"
OF_TEMPLATES: Final = frozenset({"template-invalid", "template-missing"})
"""Failures of all assignments of a cluster type; their messages name no single assignment."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A place in a template's text, as in ManifestError."""

    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why an assignment has no files: upstream's message, and the place of the fault.

    `plain` is the message in plain words; "" if upstream's is plain. `missing_template` names the
    Template that does not exist, if that is the reason. `is_delivered` means that a text of a
    registered repository is at fault, not the control plane. `is_consequence`: nothing was rendered
    because other assignments of the registration fail.
    """

    message: str
    where: Location
    advice: str = ""
    excerpt: Excerpt | None = None
    code: str = "template-failed"
    missing_template: str = ""
    is_delivered: bool = False
    plain: str = ""
    is_consequence: bool = False

    @property
    def headline(self) -> str:
        """The message in plain words; if schemas refuse one value, in one line with the reason."""
        if self.plain:
            return self.plain
        message = self.message.strip()
        first, *reasons = message.splitlines()
        if self.code not in {REFUSED_CONFIG, BROKEN_SCHEMA} or len(reasons) != 1:
            return message
        return f"{first.strip()} {reasons[0].strip().removeprefix('- ')}"

    @property
    def problem(self) -> Problem:
        """The failure as a problem, with upstream's message after the plain words and advice."""
        message = self.message.strip()
        if not self.plain:
            return Problem(self.message, self.where, self.advice, self.code)
        advice = self.advice if message in self.plain else f"{self.advice}\n{message}"
        return Problem(self.plain, self.where, advice, self.code)

    def problem_of(self, assignment: Assignment) -> Problem:
        """Return the failure as a problem of an assignment."""
        if self.code in OF_TEMPLATES:
            return self.problem
        subject = f"{assignment.target.name} on {assignment.cluster_type.name}"
        return replace(self.problem, message=f"{subject}: {self.headline}")


Outcome = dict[str, bytes] | Failure
"""The files of an assignment's folder by name, or the reason why it has none."""


_GO: Final = re.compile(
    r'template: [^:]*:\d+(?::\d+)?: (?:executing ".*?" at <(?P<node>.*?)>: )?(?P<fault>.*)',
    re.DOTALL,
)
_FIELD: Final = re.compile(rf"can't evaluate field (\w+) in type {re.escape(str(DATA_TYPE))}")
_OF_ANOTHER: Final = re.compile(
    r"can't evaluate field (\w+) in type .*|nil pointer evaluating .*\.(\w+)", re.DOTALL
)
_FUNCTION: Final = re.compile(r'function "(\w+)" not defined')
_HELPER: Final = re.compile(r'template (".*") not defined')
UNCLOSED: Final = re.compile(r"unclosed action started at [^:]*:(?P<line>\d+)")
_RANGE: Final = re.compile(r"range can't iterate over ?(.*)", re.DOTALL)
_LIST_ADVICE: Final = "write a list where the value is set, or print it without range"
_SHOWN: Final = 60
_CALL: Final = re.compile(r"error calling (?P<function>\w+): (?P<reason>.*)", re.DOTALL)


def _undefined(fault: str) -> tuple[str, str] | None:
    """Return words and advice for a function or helper that is not defined."""
    function, helper = _FUNCTION.fullmatch(fault), _HELPER.fullmatch(fault)
    if function:
        close = nearest(function[1], (*BUILTINS, *FUNCTIONS))
        return f": {fault}", f"did you mean {close}?" if close else ""
    if helper:
        words = f": the template {helper[1]} is not defined in this text of manifests"
        return words, f"write {{{{ define {helper[1]} }}}} into it: texts share no definitions"
    return None


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
    undefined = _undefined(fault)
    if undefined:
        return undefined
    looped, call = _RANGE.fullmatch(fault), _CALL.fullmatch(fault)
    if looped:
        value = repr(looped[1][:_SHOWN])
        return f": range needs a list or a mapping, but {node} is {value}", _LIST_ADVICE
    reason = call["reason"] if call else fault
    is_own = call is not None and call["function"] == "fail"
    words = f" at {node}: {reason}" if node and not is_own else f": {reason}"
    other = _OF_ANOTHER.fullmatch(fault)
    name, advice = (other[1] or other[2]) if other else "", ""
    if name in FIELDS and re.match(rf"\.{name}\b", node or ""):
        words = f": .{name} is read where range, with or template has set . to another value"
        advice = f"write $.{name} for the field of the assignment"
    return words, advice
