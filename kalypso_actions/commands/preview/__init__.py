"""Compare the environments before and after a change, for the people who review it."""

from kalypso_actions.commands.preview.command import preview, preview_clone

__all__ = ["preview", "preview_clone"]
