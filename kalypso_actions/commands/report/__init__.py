"""`kalypso report`: one page about the whole fleet, and its data."""

from kalypso_actions.commands.report.command import report

__all__ = ["report"]
