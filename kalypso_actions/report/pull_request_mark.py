"""The first line of the body of schedule's pull requests, which identifies them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kalypso_actions.report import markdown

MARK: Final = re.compile(
    r"<!-- kalypso:v1 kind=pull-request environment=(?P<environment>\S+) commit=(?P<commit>\S*)"
    r"(?: auto-merge=(?P<auto_merge>[a-z-]+))?(?: tried=(?P<tried>[0-9a-f]+/[a-z_]*))?"
    r"(?: control-plane=(?P<control_plane>[\w.-]+/[\w.-]+))? -->"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """The first line of a pull request's body, with the commit that the body describes.

    `auto_merge` is the option by which schedule merges this pull request ("": people merge it).
    `tried` describes the last refused merge: the base branch's head, and GitHub's
    `mergeable_state` before it ("" for none). `control_plane` is `owner/name` of the repository
    whose environment proposes it ("": an earlier version of Kalypso wrote the line).
    """

    environment: str
    commit: str
    auto_merge: str = ""
    tried: tuple[str, str] | None = None
    control_plane: str = ""

    def __str__(self) -> str:
        """Format the line."""
        tried = {"tried": "/".join(self.tried)} if self.tried else {}
        auto_merge = {"auto-merge": self.auto_merge} if self.auto_merge else {}
        control_plane = {"control-plane": self.control_plane} if self.control_plane else {}
        return markdown.marker(
            "pull-request",
            self.environment,
            commit=self.commit,
            **auto_merge,
            **tried,
            **control_plane,
        )


def read_mark(body: str) -> Mark | None:
    """Read the mark of one of our bodies; None for any other body."""
    line = MARK.fullmatch(body.partition("\n")[0].strip())
    if line is None:
        return None
    base, slash, state = (line["tried"] or "").partition("/")
    return Mark(
        line["environment"],
        line["commit"],
        line["auto_merge"] or "",
        (base, state) if slash else None,
        line["control_plane"] or "",
    )


def marked(body: str, mark: Mark) -> str:
    """Replace the mark of a body."""
    _, newline, rest = body.partition("\n")
    return f"{mark}{newline}{rest}"


def is_ours(body: str, environment: str, control_plane: str) -> bool:
    """Return whether a body is one of ours for this environment of a control plane (`owner/name`).

    Several control planes may write with one account. A body without a control plane may be ours.
    """
    mark = read_mark(body)
    return (
        mark is not None
        and mark.environment == environment
        and mark.control_plane.lower() in {"", control_plane.lower()}
    )
