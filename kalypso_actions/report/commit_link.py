"""The link to a commit of main."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.report import markdown


@dataclass(frozen=True, slots=True)
class CommitLink:
    """A commit of main, and its page ("" without one)."""

    commit: str
    url: str

    def __str__(self) -> str:
        """Format the short id as a link in Markdown."""
        if not self.url:
            return markdown.code(self.commit[:7])
        return markdown.link(self.commit[:7], self.url)
