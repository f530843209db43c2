"""Start schedule where the inputs of an environment have changed, and repeat lost starts.

command  one turn over all environments
inputs   heads and tree ids of everything that schedule reads
repairs  the starts to make
"""

from kalypso_actions.commands.poll.command import poll

__all__ = ["poll"]
