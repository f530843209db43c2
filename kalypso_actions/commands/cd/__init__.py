"""Promote a commit of main to an environment, and start schedule for it: `command` tells how."""

from kalypso_actions.commands.cd.command import cd

__all__ = ["cd"]
