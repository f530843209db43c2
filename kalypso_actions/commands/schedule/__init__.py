"""Propose an environment's manifests to its GitOps repositories.

command  the order: read, plan, propose, record
at_rest  end a run by the clock at once if nothing has moved
read     read everything at one moment, and check that it has not changed
propose  decide what to do about each GitOps branch
publish  push the branch, write, merge or close the pull request, start check-promote
issues   update the issues about failing assignments
result   the document, the page, and the record of the inputs for poll
"""

from kalypso_actions.commands.schedule.command import schedule

__all__ = ["schedule"]
