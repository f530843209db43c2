"""Check a commit of main in every environment, and start cd for the first ones.

command             the order of things: check, report, start
environment_checks  one environment, rendered with the commit and without it
"""

from kalypso_actions.commands.ci.command import ci

__all__ = ["ci"]
