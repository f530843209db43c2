"""`kalypso diff`: the differences between two environments, or two commits of one.

command    the order of the steps
rendered   plans of one environment with two commits of main
deployed   two trees of GitOps branches
commits    the commits between
result     the differences, and their document
"""

from kalypso_actions.commands.diff.command import diff

__all__ = ["diff"]
