"""`kalypso diff`: what an environment lacks that another one, or another commit, has.

command    the story
rendered   plans of one environment with two commits of main
deployed   two trees of GitOps branches
commits    the commits between
"""

from kalypso_actions.commands.diff.command import diff

__all__ = ["diff"]
