"""Propose what an environment is to have to its GitOps repositories.

command       the order of things: read, plan, propose, record
propose       decide what becomes of each GitOps branch
publish       push the branch, write the pull request, merge or close it
start_checks  start check-promote where no push starts it
issues        keep the issues about failing assignments
record        record the inputs that were scheduled
result        the document and the page
"""

from kalypso_actions.commands.schedule.command import schedule

__all__ = ["schedule"]
