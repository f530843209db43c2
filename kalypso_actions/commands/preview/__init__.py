"""Compare the environments before and after a change, for the people who review it.

command        in a job, and in a clone
request        the commits to compare, and the pull request
sides          read an environment with a commit
environments   compare the environments of the changed branch
deployments    environments whose last deployment failed
result         the document, without secrets
publish        the comment and the status
"""

from kalypso_actions.commands.preview.command import preview, preview_clone

__all__ = ["preview", "preview_clone"]
