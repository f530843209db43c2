"""Describe in a line which commit of main an environment has."""

from __future__ import annotations

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import PositionEntry


def position_text(entry: PositionEntry) -> str:
    """Return which commit an environment has, and how far the branch is ahead."""
    line = f"{entry.environment} has {entry.branch} at {entry.commit[:7]}"
    if entry.subject:
        line += f' "{entry.subject}"'
    return f"{line}: {distance(entry)}"


def distance(entry: PositionEntry) -> str:
    """Return how far the branch is ahead of the commit."""
    if entry.fault:
        return f"how far {entry.branch} is ahead is unknown, {entry.fault}"
    if entry.ahead is None:
        return f"the commit is not on {entry.branch}"
    if not entry.ahead:
        return f"this is the newest commit of {entry.branch}"
    return f"{entry.branch} is {counted(entry.ahead, 'commit')} ahead"
