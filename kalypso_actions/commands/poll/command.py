"""`kalypso poll`: environments get changes of other repositories, and lost starts are repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kalypso_actions.clients.github import statuses
from kalypso_actions.commands.poll.inputs import EnvironmentInputs, read_inputs
from kalypso_actions.commands.poll.repairs import Repairs
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import PollInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion import first_environments
from kalypso_actions.report.chain_documents import PollDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.poll_summary import poll_summary

NEWEST_COMMITS: Final = 100
"""Commits of main whose lost starts are found; an older commit is answered by a newer one."""


def poll(inputs: PollInputs, context: CommandContext) -> CommandResult:
    """Start schedule where the inputs of an environment have changed, and repeat lost starts.

    schedule records a digest of its inputs on the head of the environment's branch. Another digest
    now means that something has changed: a registered folder, a GitOps branch, our pull request.
    A repository that cannot be looked at is a warning. Raises KalypsoError where main cannot be
    read, or GitHub does not answer.
    """
    every = context.environments()
    wanted = (
        [every.get(name) or context.environment(name) for name in inputs.environments]
        if inputs.environments
        else list(every.values())
    )
    found, problems, warnings = read_inputs(context, wanted)
    repairs = Repairs(
        inputs,
        context,
        _statuses(context, found),
        frozenset(every),
        _first(every),
        problems=problems,
    )
    for environment in found:
        try:
            repairs.repair(environment)
        except KalypsoError as error:
            repairs.problems += error.problems
    return _outcome(repairs, warnings, inputs)


def _first(environments: Mapping[str, Environment]) -> frozenset[str]:
    """The environments that ci starts by their objects: poll does not know the input of ci."""
    try:
        return frozenset(first_environments((), environments))
    except KalypsoError:
        return frozenset()


def _statuses(
    context: CommandContext, found: Sequence[EnvironmentInputs]
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Those of main's newest commits, the newest first, and of all that the environments name."""
    github, control_plane = context.github, context.control_plane
    newest = statuses.of_history(github, control_plane, context.main(), NEWEST_COMMITS)
    named = {one.head for one in found} | {one.base_commit for one in found if one.base_commit}
    others = sorted(named - newest.keys())
    return {**newest, **statuses.of_commits(github, control_plane, others)}


def _outcome(repairs: Repairs, warnings: Sequence[Problem], inputs: PollInputs) -> CommandResult:
    schedules = (one for one in repairs.started if one.workflow == inputs.schedule_workflow)
    document = PollDocument(
        environments=tuple(one.environment for one in schedules),
        started=tuple(repairs.started),
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(repairs.problems),
    )
    return CommandResult(document, poll_summary(document), failed=bool(repairs.problems))
