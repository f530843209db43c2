"""Wait until the clusters of an environment comply with a merge, then promote its commit.

`command` tells the story: observe → judge → writes → carry out → document.
"""

from kalypso_actions.commands.check_promote.command import check_promote

__all__ = ["check_promote"]
