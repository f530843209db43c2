"""Read the details of the writes that a run has decided: texts, issues and lost starts.

Nothing here changes the decision. A pull request's text leaves out what cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.clients.github import (
    GitHubError,
    commits,
    issues,
    pull_requests,
    repositories,
    viewer,
)
from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision
from kalypso_actions.commands.schedule.reading import EnvironmentSnapshot
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import FAILURE_LABELS
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.commands.shared.reading.environments import EnvironmentReading
from kalypso_actions.commands.shared.reading.snapshot import read_control_plane
from kalypso_actions.comparison import Mask, visibility
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.inputs.schedule import ScheduleInputs
from kalypso_actions.model.differences import (
    AssignmentName,
    CommitRange,
    CommitSubject,
    Comparison,
    MaskedComparison,
    ValueChange,
)
from kalypso_actions.model.github import ON_BRANCH, CommitStatus, Issue, Visibility
from kalypso_actions.model.kinds import MAIN_BASE_REPO, RepositoryPath
from kalypso_actions.model.layout import RECONCILER_FILE
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.tree import GitOpsBranch, Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.earlier_config import changed_values
from kalypso_actions.planning.plan import Plan
from kalypso_actions.planning.secret_texts import secret_texts
from kalypso_actions.promotion import start_records
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.starts import next_check_attempt

MOST_REPOSITORIES: Final = 10
"""The most repositories whose commits are read; the pull request names the others."""

MOST_COMMITS: Final = 10
"""The most commits of a repository that a pull request names."""

CommitsOfRange = tuple[str, int, int, tuple[CommitSubject, ...]]
"""The repository, the numbers of commits ahead and behind, and the newest commits."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The content of a proposal, without secrets, for the text of its pull request.

    `others` are the numbers of people's pull requests that change the same files.
    """

    commits: tuple[CommitRange, ...] = ()
    comparison: MaskedComparison | None = None
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteDetails:
    """The details of a run's writes.

    `arrivals` belong to the GitOps branches. `known_issues` are the issues that may be ours, by our
    account `identity`; None: they are not written. `lost_checks` are the GitOps branches whose
    merge check-promote may not know of, each with the attempt of its start. `latest` is the
    promoted commit's status for the environment, as far as a start needs it. `refusals` are
    GitHub's: the run goes on without that.
    """

    arrivals: Mapping[GitOpsBranch, Arrivals] = field(default_factory=dict)
    known_issues: tuple[Issue, ...] | None = None
    identity: Identity | None = None
    lost_checks: tuple[tuple[GitOpsBranch, int], ...] = ()
    latest: CommitStatus | None = None
    refusals: tuple[Problem, ...] = ()


def read_details(
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    decision: ScheduleDecision,
    inputs: ScheduleInputs,
    context: CommandContext,
) -> WriteDetails:
    """Read the details of the decided writes. Raises KalypsoError."""
    if decision.writes_nothing:
        return WriteDetails()
    lookups = _Lookups(context)
    arrivals = {
        proposal.branch: _arrivals(proposal, snapshot, plan, lookups, inputs.mask)
        for proposal in decision.proposals
        if proposal.writes
    }
    refusals: list[Problem] = []
    known_issues: tuple[Issue, ...] | None = None
    latest, lost_checks = None, []
    try:
        latest, posted = _promotion_statuses(snapshot.sources, decision, context)
        lost_checks = list(_lost_checks(snapshot, decision, latest, posted, context))
    except GitHubError as error:
        refusals += error.problems
    identity = None
    try:
        repository = snapshot.branches[0].repository
        fails = any(item.failure for item in plan.assignments) or any(
            reading.problems for reading in snapshot.sources.registrations
        )
        known_issues = issues.candidates(
            context.github, repository, FAILURE_LABELS, with_closed=fails
        )
        identity = viewer.identity(context.github, repository)
    except GitHubError as error:
        refusals += error.problems
    return WriteDetails(
        arrivals, known_issues, identity, tuple(lost_checks), latest, tuple(refusals)
    )


def _promotion_statuses(
    sources: Snapshot, decision: ScheduleDecision, context: CommandContext
) -> tuple[CommitStatus | None, Mapping[str, CommitStatus]]:
    """Return the promoted commit's status for the environment, and all of its statuses.

    They are empty if no start depends on them, or if main lies outside of the control plane.
    """
    promoted_commit = sources.promoted_commit
    mains = [base.source.repo for base, _ in sources.bases if base.name == MAIN_BASE_REPO]
    own = repository_key(context.url(context.control_plane))
    if promoted_commit is None or [repository_key(url) for url in mains] != [own]:
        return None, {}
    continues = any(
        item.is_open and item.merged_by and not item.is_new_promotion for item in decision.proposals
    )
    if not continues and not _is_merged_everywhere(promoted_commit, decision):
        return None, {}
    posted = own_statuses(context, promoted_commit)
    return posted.get(table.context(sources.environment).lower()), posted


def _is_merged_everywhere(promoted_commit: str, decision: ScheduleDecision) -> bool:
    """Whether all GitOps branches have the whole tree of the promoted commit."""
    return bool(decision.proposals) and all(
        item.is_merged and item.proposed.branch_promoted_commit == promoted_commit
        for item in decision.proposals
    )


def _lost_checks(
    snapshot: EnvironmentSnapshot,
    decision: ScheduleDecision,
    latest: CommitStatus | None,
    posted: Mapping[str, CommitStatus],
    context: CommandContext,
) -> Iterator[tuple[GitOpsBranch, int]]:
    """Yield the GitOps branches with a merge whose check may be lost, and the next attempt."""
    promoted_commit = snapshot.sources.promoted_commit
    if promoted_commit is None or not _is_merged_everywhere(promoted_commit, decision):
        return
    branches = {branch.repository.lower(): branch for branch in reversed(snapshot.branches)}
    for branch in branches.values():
        name = snapshot.environment.name
        record_context = start_records.check_promote_context(name, branch.repository)
        attempt = next_check_attempt(
            latest,
            start_records.read_record(posted.get(record_context.lower())),
            branch.head,
            has_changed=partial(_has_changed, branch, context),
        )
        if attempt:
            yield branch, attempt


def _has_changed(branch: GitOpsBranch, context: CommandContext, gitops_commit: str) -> bool:
    """Whether the manifests on the branch differ from those of an earlier commit.

    A commit that is gone, as after a forced push, counts as a change.
    """
    if not is_commit_id(gitops_commit):
        return True
    relation = commits.relation(context.github, branch.repository, gitops_commit, branch.head)
    if relation not in ON_BRANCH:
        return True
    before = context.repositories.open(branch.url, commit=gitops_commit).entries()
    return gitops.touches(before, branch.tree.entries, branch.folder)


class _Lookups:
    """The facts about repositories that several pull requests share, each read once."""

    def __init__(self, context: CommandContext) -> None:
        self.context = context
        self.visibility = cache(self._visibility)
        self.commits = cache(self._commits)

    def _visibility(self, url: str) -> Visibility | None:
        """Return the visibility of a repository; None if GitHub does not say it, for any reason."""
        try:
            return repositories.get(self.context.github, self.context.repository(url)).visibility
        except KalypsoError:
            return None

    def _commits(self, url: str, base: str, head: str) -> CommitsOfRange | None:
        """Return the commits of a range; None if GitHub does not return them."""
        try:
            repository = self.context.repository(url)
            found = commits.commits_after(self.context.github, repository, base, head, MOST_COMMITS)
        except KalypsoError as error:
            self.context.runtime.log(f"{url}: {error.problem.message}")
            return None
        return repository, *found


def _arrivals(
    proposal: Proposal,
    snapshot: EnvironmentSnapshot,
    plan: Plan,
    lookups: _Lookups,
    masked_keys: Iterable[str],
) -> Arrivals:
    """Compare a proposal with the sources that the GitOps branch names.

    A reader of the pull request sees no commit and no value of a repository that is less visible
    than the GitOps repository. Leave out anything unreadable: it stops no proposal.
    """
    tree = proposal.branch.tree
    previous = gitops.read_sources(tree.sources, plan.environment)
    ranges = [*_main(proposal, snapshot.sources, plan)]
    values: tuple[ValueChange, ...] = ()
    added = set(_added(proposal))
    if previous:
        ranges += _registered(previous, snapshot.sources)
        values = _values(previous, snapshot.sources, plan, added, lookups.context)
    urls = {item.repository for item in ranges[:MOST_REPOSITORIES]}
    urls |= {url for value in values for url in value.repositories}
    hidden = _hidden(proposal, urls, lookups) if urls else frozenset()
    mask = Mask(masked_keys, hidden)
    comparison = Comparison(
        plan.environment,
        assignments_added=_names(plan.environment, added),
        assignments_removed=_names(plan.environment, proposal.changes.removed_folders),
        values=values,
    )
    secrets = secret_texts(mask, plan.assignments)
    return Arrivals(
        tuple(_with_commits(ranges, hidden, lookups)),
        mask.masked(comparison, frozenset().union(*secrets.values())),
        tuple(_others(proposal, plan, lookups.context)),
    )


def _others(proposal: Proposal, plan: Plan, context: CommandContext) -> Iterator[int]:
    """Yield the numbers of people's pull requests that change our files."""
    branch = proposal.branch
    for pull in proposal.known.of_role("other"):
        paths = pull_requests.changed_paths(context.github, branch.repository, pull.number)
        if gitops.changes_own(paths, branch.tree.entries, branch.folder, plan.cluster_types):
            yield pull.number


def _added(proposal: Proposal) -> Iterator[str]:
    prefix, end = proposal.branch.path_of(""), f"/{RECONCILER_FILE}"
    for path in proposal.changes.added:
        if path.endswith(end):
            yield path.removeprefix(prefix).removesuffix(end)


def _names(environment: str, folders: Iterable[str]) -> tuple[AssignmentName, ...]:
    pairs = (folder.partition("/") for folder in folders)
    return tuple(
        sorted(AssignmentName(environment, cluster_type, name) for cluster_type, _, name in pairs)
    )


def _main(proposal: Proposal, sources: Snapshot, plan: Plan) -> Iterator[CommitRange]:
    before, now = proposal.proposed.branch_promoted_commit, plan.promoted_commit
    if before and now and before != now:
        for base, _ in sources.bases:
            if base.name == MAIN_BASE_REPO:
                yield CommitRange(base.source.repo, base.source.branch, before, now)


def _registered(previous: PreviousSources, sources: Snapshot) -> Iterator[CommitRange]:
    """Yield the commits of each registration whose folder has changed since the tree was made."""
    seen = set()
    for reading in sources.registrations:
        name, revision = reading.registration.name, reading.revision
        before = previous.registrations.get(name)
        if revision is None or before is None or not (before.commit and revision.commit):
            continue
        key = repository_key(revision.repository), before.commit, revision.commit
        is_moved = before.commit != revision.commit and before.tree != revision.tree
        if is_moved and repository_key(before.repository) == key[0] and key not in seen:
            seen.add(key)
            yield CommitRange(revision.repository, name, before.commit, revision.commit)


def _values(
    previous: PreviousSources,
    sources: Snapshot,
    plan: Plan,
    added: set[str],
    context: CommandContext,
) -> tuple[ValueChange, ...]:
    """Return the values that differ from those at the commits in the tree's `sources.json`."""
    own, was = sources.own.revision, previous.environment_branch
    mains = [reading.revision.commit for _, reading in sources.bases]
    then = [base.commit for base in previous.base_repos.values()]
    if was is None or was.commit is None or ((was.commit, then) == (own.commit, mains)):
        return ()
    place = RepositoryPath(own.repository, own.branch, own.path)
    try:
        branch = EnvironmentReading(plan.environment, context.reader.documents(place, was.commit))
        earlier = read_control_plane(branch, context.reader)
    except KalypsoError as error:
        context.runtime.log(f"The changed values are unknown: {error.problem.message}")
        return ()
    return changed_values(earlier.fleet, plan.fleet, plan.assignments, added)


def _hidden(proposal: Proposal, urls: Iterable[str], lookups: _Lookups) -> frozenset[str]:
    known = {url: lookups.visibility(url) for url in urls}
    own = proposal.known.overview.visibility
    own = own or lookups.visibility(lookups.context.url(proposal.branch.repository))
    return visibility.less_visible(own or "public", known)


def _with_commits(
    ranges: list[CommitRange], hidden: frozenset[str], lookups: _Lookups
) -> Iterator[CommitRange]:
    """Yield the ranges with their commits; without subjects for hidden repositories."""
    for index, item in enumerate(ranges):
        found = (
            lookups.commits(item.repository, item.base, item.head)
            if index < MOST_REPOSITORIES
            else None
        )
        if found is None:
            yield item
            continue
        repository, ahead, behind, subjects = found
        is_hidden = item.repository in hidden
        page = f"{lookups.context.url(repository)}/compare/{item.base}...{item.head}"
        yield CommitRange(
            item.repository,
            item.name,
            item.base,
            item.head,
            "" if is_hidden else page,
            () if is_hidden else subjects,
            ahead,
            behind,
        )
