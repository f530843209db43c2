"""Why an assignment has no files."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.errors import Location, Problem


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A place in a template's text, as in ManifestError."""

    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an assignment has no files: upstream's message, and a place to look at.

    `missing_template` names the Template that does not exist, if that is the reason.
    `is_delivered`: a text of a registered repository is at fault, and not the control plane.
    """

    message: str
    where: Location
    advice: str = ""
    excerpt: Excerpt | None = None
    code: str = "template-failed"
    missing_template: str = ""
    is_delivered: bool = False

    @property
    def headline(self) -> str:
        """The message; if schemas refuse one value, in one line with the reason."""
        message = self.message.strip()
        first, *reasons = message.splitlines()
        if self.code != "config-refused" or len(reasons) != 1:
            return message
        return f"{first.strip()} {reasons[0].strip().removeprefix('- ')}"

    @property
    def problem(self) -> Problem:
        """The failure as a problem, without its excerpt."""
        return Problem(self.message, self.where, self.advice, self.code)
