"""Check a commit of main in every environment, and start cd for the first ones.

command             the order: check, post the status, start cd
environment_checks  render an environment with and without the commit
"""

from kalypso_actions.commands.ci.command import ci

__all__ = ["ci"]
