"""Propose an environment's manifests to its GitOps repositories.

`full_run` tells the story of a run; `command` ends a run that the clock has started at once if
nothing has changed since an earlier one.
"""

from kalypso_actions.commands.schedule.command import schedule

__all__ = ["schedule"]
