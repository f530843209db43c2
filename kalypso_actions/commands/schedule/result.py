"""What schedule has done, told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from kalypso_actions.clients.github import GitHubError
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.commands.schedule.propose import Proposition
from kalypso_actions.commands.schedule.publish import Published
from kalypso_actions.errors import Problem
from kalypso_actions.plan import Plan
from kalypso_actions.report.chain_documents import PullRequestEntry, ScheduleDocument
from kalypso_actions.report.documents import ChangesEntry, ProblemEntry
from kalypso_actions.report.pull_request import CommitLink
from kalypso_actions.report.schedule_summary import ScheduleFacts, headline, schedule_summary


@dataclass(slots=True)
class Results:
    """What is to be told of a run, as it goes on.

    `entries` are the pull requests, `started` the runs of check-promote; `removed` are the folders
    of a mass removal that was not allowed. `is_complete`: GitHub has refused nothing.
    """

    warnings: list[Problem]
    problems: list[Problem]
    entries: list[PullRequestEntry] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    removed: tuple[str, ...] = ()
    published: list[Published] = field(default_factory=list)
    is_complete: bool = True

    def add(self, published: Published) -> None:
        """A pull request that stands, or was merged."""
        self.published.append(published)
        self.entries.append(published.entry)
        self.warnings += published.warnings

    @contextmanager
    def not_losing(self) -> Iterator[None]:
        """What GitHub refuses here is a problem, and what was done before is told all the same."""
        try:
            yield
        except GitHubError as error:
            self.problems += error.problems
            self.is_complete = False


def told(
    results: Results,
    plan: Plan,
    branches: Sequence[str],
    propositions: Sequence[Proposition],
    context: CommandContext,
) -> CommandResult:
    """The document and the page; `branches` are the GitOps branches, for people."""
    first = next((one for one in results.entries if one.action != "withdrawn"), None)
    document = ScheduleDocument(
        environment=plan.environment,
        changed=any(one.proposed.has_changes for one in propositions),
        promoted=any(one.promoted and one.is_proposed for one in propositions),
        degraded=plan.degraded,
        assignments=len(plan.assignments),
        digest=propositions[0].proposed.digest if propositions else "",
        changes=ChangesEntry(
            added=plan.changes.added,
            modified=plan.changes.modified,
            deleted=plan.changes.deleted,
            unchanged=plan.changes.unchanged,
        ),
        pull_requests=tuple(results.entries),
        pull_request_number=first.number if first else None,
        pull_request_url=first.url if first else "",
        warnings=ProblemEntry.all_of(results.warnings),
        problems=ProblemEntry.all_of(results.problems),
    )
    facts = ScheduleFacts(
        main=commit_link(plan.promoted_commit, context),
        branches=branches,
        removed=results.removed,
        stopped=any(one.decision.action == "stop" for one in propositions),
        started=results.started,
    )
    context.runtime.log(f"{headline(document, facts)}.")
    return CommandResult(document, schedule_summary(document, facts), failed=bool(results.problems))


def commit_link(commit: str | None, context: CommandContext) -> CommitLink | None:
    """A commit of main with its page in the control plane; None stays None."""
    if commit is None:
        return None
    return CommitLink(commit, f"{context.url(context.control_plane)}/commit/{commit}")
