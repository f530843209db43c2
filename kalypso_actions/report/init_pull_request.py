"""The pull request by which init proposes what it would write to a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kalypso_actions.report import markdown


class Change(Protocol):
    """One file that is changed."""

    @property
    def path(self) -> str:
        """Where it lies."""

    @property
    def action(self) -> str:
        """What is done with it."""

    @property
    def reason(self) -> str:
        """Why, where the action does not say it."""


def pull_request_text(branch: str, changes: Sequence[Change]) -> tuple[str, str]:
    """Title and body."""
    rows = [(markdown.code(one.path), one.action, markdown.text(one.reason)) for one in changes]
    body = "\n\n".join(
        [
            "What Kalypso needs on this branch, proposed by `kalypso init`.",
            markdown.table(("file", "action", ""), rows),
            "Run again, `kalypso init --pull-request` updates this pull request.",
        ]
    )
    return f"Set up Kalypso on {branch}", body
