"""Where workflows lie; the marks in our templates of them, and what is written in their place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.urls import owner_of

FOLDER: Final = ".github/workflows/"
"""Where GitHub looks for workflows."""

TEMPLATES: Final = "workflows-templates"
"""The folder of the templates, in the repository and in the package."""

MARK: Final = re.compile(
    r"(?P<action>OWNER/kalypso-actions(?P<path>[\w/-]*)@REF)|OWNER/CONTROL-PLANE"
)
PARTS_OF_MARKS: Final = re.compile(r"\b(OWNER|REF|CONTROL-PLANE)\b")

REF: Final = re.compile(r"[A-Za-z0-9][\w./-]*")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """What stands in place of the marks.

    `actions` is the repository of Kalypso's actions (owner/name), `ref` its tag or commit,
    `control_plane` the control plane (owner/name).
    """

    actions: str
    ref: str
    control_plane: str

    def __post_init__(self) -> None:
        """Raises UsageError for a value that a workflow cannot name."""
        for repository in (self.actions, self.control_plane):
            if owner_of(repository) is None:
                raise UsageError(f"{repository!r} is not of the form owner/name")
        if not REF.fullmatch(self.ref):
            raise UsageError(f"{self.ref!r} is no tag and no commit", advice="for example: v1")


def fill_in(template: str, marks: Placeholders, name: str) -> str:
    """A template with its marks filled in; `name` is that of its file.

    Raises KalypsoError for a mark that nobody knows.
    """
    for number, line in enumerate(template.split("\n"), start=1):
        left = PARTS_OF_MARKS.search(MARK.sub("", line))
        if left:
            where = Location(TEMPLATES, name, number)
            raise KalypsoError(f"nobody knows what to write for {left[0]}", where)

    def value(mark: re.Match[str]) -> str:
        if mark["action"]:
            return f"{marks.actions}{mark['path']}@{marks.ref}"
        return marks.control_plane

    return MARK.sub(value, template)
