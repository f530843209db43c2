"""`kalypso poll`: start schedule for changed inputs, and repeat lost starts.

    read → decide → writes → carry out → record → document

repairs  the starts that an environment needs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kalypso_actions.clients.github import statuses
from kalypso_actions.commands.poll.repairs import Repairs
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.looks.recorder import Recorder
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.commands.shared.run_start import checked_start
from kalypso_actions.commands.shared.schedule_sources import PresentInputs, read_inputs
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import PollInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion.environments import first_environments
from kalypso_actions.report.chain_document import PollDocument, poll_summary
from kalypso_actions.report.documents import ProblemEntry

NEWEST_COMMITS: Final = 100
"""poll repeats lost starts of this many commits of main; newer commits replace older ones.
"""


def poll(inputs: PollInputs, context: CommandContext) -> CommandResult:
    """Start schedule where the inputs of an environment have changed, and repeat lost starts.

    schedule records a digest of its inputs on the head of the environment's branch. The digest
    changes with a registered folder, a GitOps branch or our pull request. An unreadable repository
    is a warning. Raises KalypsoError if main cannot be read, or GitHub does not answer, and
    UsageError if a first environment does not exist, or for a run on another branch.
    """
    checked_start(context)
    known = context.environments()
    wanted = (
        [known.get(name) or context.environment(name) for name in inputs.environments]
        if inputs.environments
        else list(known.values())
    )
    environments, problems, warnings = read_inputs(context, wanted)
    posted = _statuses(context, environments)
    first = _first(inputs.first_environments, known)
    repairs = Repairs(inputs, context, posted, known, first, problems=problems)
    writes = [repairs.of(environment) for environment in environments]
    if inputs.dry_run:
        document = _document(inputs, repairs, Done(), warnings)
        every = (write for of_environment in writes for write in of_environment)
        return dry_run_result("poll", document, every, context)
    done = Done()
    for of_environment in writes:
        try:
            carry_out(of_environment, context, done)
        except KalypsoError as error:
            repairs.problems += error.problems
    recorded = Recorder(inputs, context).write(list(known), "Poll")
    document = _document(inputs, repairs, done, (*warnings, *recorded.warnings)).model_copy(
        update={"events": recorded.events, "more_events": recorded.more_events}
    )
    return CommandResult(document, poll_summary(document), failed=bool(document.problems))


def _first(given: Sequence[str], environments: Mapping[str, Environment]) -> frozenset[str]:
    """Return the environments for which ci starts cd; none if ci could not determine them.

    Raises UsageError if a `given` one does not exist.
    """
    try:
        return frozenset(first_environments(given, environments))
    except KalypsoError:
        if given:
            raise
        return frozenset()


def _statuses(
    context: CommandContext, environments: Sequence[PresentInputs]
) -> Mapping[str, Mapping[str, CommitStatus]]:
    """Return the statuses of main's commits, newest first, and of those that environments name."""
    github, control_plane = context.github, context.control_plane
    newest = statuses.of_history(github, control_plane, context.main(), NEWEST_COMMITS)
    commit_ids = {item.head for item in environments}
    commit_ids |= {item.promoted_commit for item in environments if item.promoted_commit}
    others = sorted(commit_ids - newest.keys())
    return {**newest, **statuses.of_commits(github, control_plane, others)}


def _document(
    inputs: PollInputs, repairs: Repairs, done: Done, warnings: Sequence[Problem]
) -> PollDocument:
    """Return the document of the starts that are `done`."""
    pages = {id(start): page for start, page in done.pages}
    started = tuple(
        entry.model_copy(update={"url": pages[id(start)]})
        for start, entry in repairs.starts
        if id(start) in pages
    )
    schedules = (entry for entry in started if entry.workflow == inputs.schedule_workflow)
    return PollDocument(
        environments=tuple(entry.environment for entry in schedules),
        started=started,
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(repairs.problems),
    )
