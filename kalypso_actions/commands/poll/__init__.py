"""Start schedule for environments with changed inputs, and repeat lost starts.

command  one pass over all environments
repairs  the starts to make
"""

from kalypso_actions.commands.poll.command import poll

__all__ = ["poll"]
