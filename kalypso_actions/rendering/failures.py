"""The reasons why an assignment has no files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import Assignment

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
        if self.code != "config-refused" or len(reasons) != 1:
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
