"""The pull request with which init proposes changes to a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kalypso_actions.report import markdown


class Change(Protocol):
    """A change to a file; `reason` is "" if the action explains itself."""

    @property
    def path(self) -> str:
        """The path of the file."""

    @property
    def action(self) -> str:
        """The kind of the change, in one word."""

    @property
    def reason(self) -> str:
        """The reason for the change."""


def pull_request_text(branch: str, changes: Sequence[Change]) -> tuple[str, str]:
    """Return title and body."""
    rows = [
        (markdown.code(change.path), change.action, markdown.text(change.reason))
        for change in changes
    ]
    body = "\n\n".join(
        [
            f"{markdown.marker('init', branch)}\n"
            "`kalypso init` proposes the files that Kalypso needs on this branch.",
            markdown.table(("file", "action", ""), rows),
            "Another run of `kalypso init --pull-request` updates this pull request.",
        ]
    )
    return f"Set up Kalypso on {branch}", body
