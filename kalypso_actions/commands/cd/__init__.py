"""Promote a commit of main to an environment, and start schedule for it.

command         the order: verify, promote, post statuses, start schedule
promote         write the commit to the environment's branch, or propose it
rollback_check  whether people rolled back from the commit
"""

from kalypso_actions.commands.cd.command import cd

__all__ = ["cd"]
