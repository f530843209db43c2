"""Check who started the job's run: see `promotion.run_starts`.

start = checked_start(context, ["allow-rollback"])
"""

from __future__ import annotations

from collections.abc import Collection

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.urls import owner_of
from kalypso_actions.promotion.starter_rights import PersonsInput, RunStart


def person_of(context: CommandContext) -> str:
    """Return the login of the account that started the run, or that holds the token."""
    job = context.runtime.job
    if job.in_actions:
        return job.triggering_actor or job.actor
    return context.github.account(owner_of(context.control_plane) or "").login


def checked_start(context: CommandContext, asked: Collection[PersonsInput] = ()) -> RunStart:
    """Return the start of the run.

    `asked` are the rights of people that the run uses. Raises UsageError if the run was started on
    another branch than the default branch, or if an account may not do what is asked.
    """
    job = context.runtime.job
    start = RunStart(
        job.event_name if job.in_actions else "",
        job.ref,
        job.actor,
        job.triggering_actor,
        context.trusted_dispatchers,
    )
    repository = job.event.get("repository")
    default = repository.get("default_branch") if isinstance(repository, dict) else None
    branches = [default] if isinstance(default, str) and default else []
    # The chain starts runs on `main`, which need not be the default branch.
    if start.event == "workflow_dispatch" and job.branch not in branches:
        branches.append(context.main())
    problem = start.refusal(asked, branches, Location(context.url(context.control_plane)))
    if problem:
        raise UsageError.of([problem])
    return start
