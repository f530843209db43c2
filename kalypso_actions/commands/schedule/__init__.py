"""Propose an environment's manifests to its GitOps repositories.

command      end at once if nothing has changed, or run in full
at_rest      end a run that the clock started at once if nothing has changed
full_run     the order: read, plan, propose, record
read         read everything at one moment, and check that it has not changed
propose      read the pull requests of each GitOps branch, and plan its proposal
overview     all that GitHub knows of a proposal, by one query
arrivals     the commits and values that a proposal brings
lookups      the reads that several pull requests share
commit_link  the link to a commit of main
auto_merge   keep GitHub from merging pull requests that this run may not merge
publish      carry out the plan: write, merge or close the pull request, start check-promote
issues       update the issues about failing assignments
result       the document, the page, and the record of the inputs for poll
"""

from kalypso_actions.commands.schedule.command import schedule

__all__ = ["schedule"]
