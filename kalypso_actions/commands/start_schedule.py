"""`kalypso start-schedule`: what was pushed to an environment's branch reaches the environment."""

from __future__ import annotations

from kalypso_actions.commands import starting
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.chain import StartScheduleInputs
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.report.chain_documents import StartScheduleDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.start_schedule_page import (
    start_schedule_headline,
    start_schedule_page,
)


def start_schedule(inputs: StartScheduleInputs, session: ChainSession) -> Outcome:
    """Start schedule for every environment that a branch of the control plane belongs to.

    Nothing is started for a branch of ours, which is a proposal to one of an environment, nor for
    any other one. Raises UsageError without a branch, KalypsoError where main cannot be read.
    """
    branch = inputs.branch or session.around.context.branch
    if not branch:
        raise UsageError(
            "branch is needed", advice="outside of a job that a push has started, name it"
        )
    is_own = branch.startswith(OWN_BRANCHES)
    concerned = [] if is_own else _of_branch(session, branch)
    started: dict[str, str] = {}
    problems: list[Problem] = []
    for name in concerned:
        try:
            started[name] = starting.start_schedule(
                session,
                inputs.schedule_workflow,
                environment=name,
                environment_commit=_head(session, branch),
            )
        except KalypsoError as error:
            problems += error.problems
    document = StartScheduleDocument(
        branch=branch,
        environments=tuple(started),
        problems=ProblemEntry.all_of(problems),
    )
    session.around.say(f"{start_schedule_headline(document, is_own=is_own)}.")
    page = start_schedule_page(document, started, is_own=is_own)
    return Outcome(document, page, failed=bool(problems))


def _head(session: ChainSession, branch: str) -> str:
    """Where a branch of the control plane stands now. Raises KalypsoError for one that is gone."""
    url = session.url(session.control_plane)
    head = session.remotes.heads(url, [branch]).get(branch)
    if head is None:
        raise KalypsoError(f"there is no branch {branch!r}", Location(url), "name another one")
    return head


def _of_branch(session: ChainSession, branch: str) -> list[str]:
    """The names of the environments that lie on a branch."""
    every = session.environments().values()
    return [one.name for one in every if one.control_plane.branch == branch]
