"""`kalypso status`: the pipeline at one moment, from GitHub's statuses and branches alone.

command   the story
read      the environments' branches, and what GitHub shows of the repositories
clusters  the clusters' reports
watch     look again and again
"""

from kalypso_actions.commands.status.command import status
from kalypso_actions.commands.status.watch import watch

__all__ = ["status", "watch"]
