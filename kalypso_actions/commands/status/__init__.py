"""`kalypso status`: the pipeline at one moment, from GitHub's statuses and branches alone.

command   the state of each environment
read      the environments' branches, and GitHub's overviews of the repositories
clusters  the clusters' reports
watch     show the pipeline repeatedly
"""

from kalypso_actions.commands.status.command import status
from kalypso_actions.commands.status.watch import watch

__all__ = ["status", "watch"]
