"""What a look finds of the commits of main: their states in each environment, and who merged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final

from kalypso_actions.clients.github import pull_requests, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.own_statuses import own_statuses_of
from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.own_files import own_branches
from kalypso_actions.model.github import CommitStatus, PullRequest
from kalypso_actions.model.history import HistoryCommit
from kalypso_actions.model.kinds import GitOpsRepo
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.urls import owner_of
from kalypso_actions.observations.promotions import NEWEST
from kalypso_actions.observations.record import ObservationRecord, PromotionLine
from kalypso_actions.promotion.statuses import State, context, posted_for

MOST_MERGERS: Final = 20
"""The pull requests whose merger a look asks for: GitHub's list does not name it."""

TAKEN_UP: Final = frozenset({State.PROMOTED, State.DEPLOYING, State.DEPLOYED, State.FAILED})


@dataclass(frozen=True, slots=True)
class Promotions:
    """The newest commits of main, newest first, and the proposals, by environment."""

    lines: Mapping[str, Sequence[PromotionLine]] = field(default_factory=dict)
    proposals: Mapping[str, Sequence[PullRequest]] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


def read_promotions(
    command: CommandContext,
    environments: Collection[str],
    record: ObservationRecord,
    gitops_repos: Mapping[str, Sequence[GitOpsRepo]] | None = None,
) -> Promotions:
    """Return the states of the newest commits of main; nothing without GitHub.

    `gitops_repos` are those of each environment whose pull requests are read, too. A GitHub that
    does not answer is a warning.
    """
    if not owner_of(command.control_plane):
        return Promotions()
    try:
        main = command.repositories.history(
            command.url(command.control_plane), command.main(), NEWEST
        )
        commits = list(islice(main, NEWEST))
        posted = own_statuses_of(command, [commit.id for commit in commits], any_app=True)
        news = _news(environments, commits, posted, record)
        histories = dict(
            zip(
                news,
                in_parallel(
                    lambda commit: statuses.history(command.github, command.control_plane, commit),
                    news,
                ),
                strict=True,
            )
        )
        lines = {
            name: tuple(_lines(name, commits, posted, histories)) for name in sorted(environments)
        }
        proposals = {
            name: tuple(_proposals(command, name, repos, record))
            for name, repos in (gitops_repos or {}).items()
        }
    except KalypsoError as error:
        return Promotions(warnings=error.problems)
    return Promotions(lines, proposals)


def _news(
    environments: Collection[str],
    commits: Sequence[HistoryCommit],
    posted: Mapping[str, Mapping[str, CommitStatus]],
    record: ObservationRecord,
) -> list[str]:
    """Return the commits whose newest status differs from the record: they may have had others."""
    known = {
        (name, line.commit): line.at
        for name in environments
        for line in record.promotions.get(name, ())
    }
    return [
        commit.id
        for commit in commits
        if any(
            status and status.created_at != known.get((name, commit.id))
            for name in environments
            for status in [posted.get(commit.id, {}).get(context(name).lower())]
        )
    ]


def _lines(
    environment: str,
    commits: Sequence[HistoryCommit],
    posted: Mapping[str, Mapping[str, CommitStatus]],
    histories: Mapping[str, Sequence[CommitStatus]],
) -> Iterator[PromotionLine]:
    name = context(environment).lower()
    for commit in commits:
        status = posted.get(commit.id, {}).get(name)
        state = posted_for(status.description) if status else None
        past = [
            (posted_for(each.description), each.created_at)
            for each in histories.get(commit.id, ())
            if status and each.context.lower() == name and each.author == status.author
        ]

        def first(
            *states: State, past: Sequence[tuple[State | None, datetime | None]] = past
        ) -> datetime | None:
            return min((at for of, at in past if of in states and at), default=None)

        yield PromotionLine(
            commit=commit.id,
            state=state.title if state else "",
            at=status.created_at if status else None,
            description=status.description if status else "",
            author=commit.author,
            subject=commit.subject,
            pull_request="",
            proposed_at=None,
            merged_at=None,
            merged_by="",
            committed_at=commit.date,
            started_at=first(*TAKEN_UP),
            deployed_at=first(State.DEPLOYED),
            failed_at=first(State.FAILED),
        )


def _proposals(
    command: CommandContext,
    environment: str,
    repos: Sequence[GitOpsRepo],
    record: ObservationRecord,
) -> Iterator[PullRequest]:
    """Yield the open and the newest merged pull requests of Kalypso to the GitOps branches."""
    known = {line.pull_request: line.merged_by for line in record.promotions.get(environment, ())}
    names = own_branches(OWN_BRANCHES, environment, repos)
    for repo in repos:
        repository = command.repository(repo.target.repo)
        head, base = names[repo.name], repo.target.branch
        closed = pull_requests.closed_pages(command.github, repository, head=head, base=base)
        merged = [pull for pull in next(closed, ()) if pull.merged]
        unknown = [pull for pull in merged if not known.get(pull.url)][:MOST_MERGERS]
        mergers = {
            pull.number: pull_requests.get(command.github, repository, pull.number).merged_by
            for pull in unknown
        }
        opened = pull_requests.find(command.github, repository, head=head, base=base)
        for pull in (*opened, *merged):
            yield pull._replace(merged_by=mergers.get(pull.number) or known.get(pull.url, ""))
