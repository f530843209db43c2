"""`kalypso status`: the pipeline at one moment, from GitHub's statuses and branches alone.

command   the story
read      the environments' branches, and what GitHub shows of the repositories
clusters  the clusters' reports
"""

from kalypso_actions.commands.status.command import status

__all__ = ["status"]
