"""Promote a commit of main to an environment, and start schedule for it.

command   the order of things: verify, hooks, promote, start
promote   write the commit to the environment's branch, or propose it
withheld  commits that a rollback has taken out
"""

from kalypso_actions.commands.cd.command import cd

__all__ = ["cd"]
