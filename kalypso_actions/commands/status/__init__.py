"""`kalypso status`: the pipeline at one moment, from GitHub's statuses and branches alone.

document = status(StatusInputs(), context)
"""

from kalypso_actions.commands.status.command import status, watch

__all__ = ["status", "watch"]
