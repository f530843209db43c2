"""Read the details of the writes that a run has decided: texts, issues and lost starts.

Nothing here changes the decision. A pull request's text leaves out what cannot be read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from kalypso_actions.clients.github import (
    GitHubError,
    commits,
    issues,
    pull_requests,
    repositories,
)
from kalypso_actions.commands.schedule.decision import Proposal, ScheduleDecision
from kalypso_actions.commands.schedule.reading import EnvironmentSnapshot, has_own_main
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import read_head
from kalypso_actions.commands.shared.labels import FAILURE_LABELS
from kalypso_actions.commands.shared.own_statuses import own_statuses
from kalypso_actions.commands.shared.policy_entry import policy_of
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.masking import less_visible
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.own_files import changes_own, touches
from kalypso_actions.gitops.provenance import PreviousSources, read_sources
from kalypso_actions.model.change_titles import ChangeMeaning
from kalypso_actions.model.differences import (
    AssignmentName,
    CommitRange,
    CommitSubject,
    Comparison,
    MaskedComparison,
    ValueChange,
)
from kalypso_actions.model.github import ON_BRANCH, Issue, Visibility
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, Environment, RepositoryPath
from kalypso_actions.model.layout import RECONCILER_FILE
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.tree import GitOpsBranch, Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.plan import Plan
from kalypso_actions.planning.plan_pair import changed_values
from kalypso_actions.planning.secret_texts import secret_texts
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.policy import guard_of
from kalypso_actions.promotion.start_records import check_promote_context, read_record
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

    `others` are the numbers of people's pull requests that change the same files. `meaning` is that
    of the proposal, with the commits of main (None: a text needs none).
    """

    meaning: ChangeMeaning | None = None
    commits: tuple[CommitRange, ...] = ()
    comparison: MaskedComparison | None = None
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteDetails:
    """The details of a run's writes.

    `arrivals` belong to the GitOps branches. `known_issues` are the issues that may be ours, by our
    account `identity`; None: they are not written. `lost_checks` are the GitOps branches whose
    merge check-promote may not know of, each with the attempt of its start. `refusals` are
    GitHub's: the run goes on without that.
    """

    arrivals: Mapping[GitOpsBranch, Arrivals] = field(default_factory=dict)
    known_issues: tuple[Issue, ...] | None = None
    identity: Identity | None = None
    lost_checks: tuple[tuple[GitOpsBranch, int], ...] = ()
    refusals: tuple[Problem, ...] = ()


def read_details(
    decision: ScheduleDecision,
    position: BranchPosition | None,
    masked_keys: Iterable[str],
    context: CommandContext,
) -> WriteDetails:
    """Read the details of the decided writes; `position` is that of the environment's commit.

    Raises KalypsoError.
    """
    if decision.writes_nothing:
        return WriteDetails()
    lookups = _Lookups(context)
    arrivals = {
        proposal.branch: _arrivals(proposal, decision, position, lookups, masked_keys)
        for proposal in decision.proposals
        if proposal.writes
    }
    refusals = dict.fromkeys(problem for known in decision.known for problem in known.refusals)
    details = WriteDetails(arrivals, refusals=tuple(refusals))
    for read in (_with_lost_checks, _with_issues):
        try:
            details = read(details, decision, context)
        except GitHubError as error:
            details = replace(details, refusals=(*details.refusals, *error.problems))
    return details


def _with_issues(
    details: WriteDetails, decision: ScheduleDecision, context: CommandContext
) -> WriteDetails:
    repository = decision.snapshot.branches[0].repository
    fails = any(item.failure for item in decision.plan.assignments) or any(
        reading.problems for reading in decision.snapshot.sources.registrations
    )
    known = issues.candidates(context.github, repository, FAILURE_LABELS, with_closed=fails)
    identity = context.github.identity(repository)
    return replace(details, known_issues=known, identity=identity)


def _with_lost_checks(
    details: WriteDetails, decision: ScheduleDecision, context: CommandContext
) -> WriteDetails:
    """Add merges whose check may be lost; none if main lies outside of the control plane."""
    sources, promoted_commit = decision.snapshot.sources, decision.plan.promoted_commit
    if promoted_commit is None or not decision.is_merged or not has_own_main(sources, context):
        return details
    posted = own_statuses(context, promoted_commit)
    latest = posted.get(table.context(sources.environment).lower())
    lost_checks = []
    branches = {
        branch.repository.lower(): branch for branch in reversed(decision.snapshot.branches)
    }
    for branch in branches.values():
        record_context = check_promote_context(sources.environment, branch.repository)
        attempt = next_check_attempt(
            latest,
            read_record(posted.get(record_context.lower())),
            branch.head,
            has_changed=partial(_has_changed, branch, context),
        )
        if attempt:
            lost_checks.append((branch, attempt))
    return replace(details, lost_checks=tuple(lost_checks))


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
    return touches(before, branch.tree.entries, branch.folder)


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

    def guard(self, environment: Environment, before: str, known: Container[str]) -> str:
        """Return when the policy of an environment lets in what `before` has deployed; "" for now.

        A policy that cannot be read is not told: cd judges.
        """
        try:
            reading = policy_of(read_head(environment, self.context), self.context)
        except KalypsoError as error:
            self.context.runtime.log(f"{environment.name}: {error.problem.message}")
            return ""
        return guard_of(reading, before, known)

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
    decision: ScheduleDecision,
    position: BranchPosition | None,
    lookups: _Lookups,
    masked_keys: Iterable[str],
) -> Arrivals:
    """Compare a proposal with the sources that the GitOps branch names.

    A reader of the pull request sees no commit and no value of a repository that is less visible
    than the GitOps repository. Leave out anything unreadable: it stops no proposal.
    """
    plan, sources = decision.plan, decision.snapshot.sources
    previous = read_sources(proposal.branch.tree.sources, plan.environment)
    ranges = [*_main(proposal, sources)]
    values: tuple[ValueChange, ...] = ()
    added = set(_added(proposal))
    if previous:
        ranges += _registered(previous, sources)
        values = _values(previous, sources, plan, added, lookups.context)
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
    found = tuple(_with_commits(ranges, hidden, lookups))
    return Arrivals(
        _meaning(proposal, decision.snapshot, position, found, lookups),
        found,
        mask.masked(comparison, frozenset().union(*secrets.values())),
        tuple(_others(proposal, plan, lookups.context)),
    )


def _meaning(
    proposal: Proposal,
    snapshot: EnvironmentSnapshot,
    position: BranchPosition | None,
    found: Sequence[CommitRange],
    lookups: _Lookups,
) -> ChangeMeaning:
    """Return the meaning of a proposal with the subject of its commit of main, unless it is secret.

    `found` are the commits that come with it.
    """
    meaning = proposal.meaning
    if meaning.goes_on:
        known = snapshot.environments
        after = [known[name] for name in meaning.next_environments or () if name in known]
        guards = {each.name: lookups.guard(each, meaning.environment, known) for each in after}
        meaning = replace(meaning, guards={name: text for name, text in guards.items() if text})
    bases = [base for base, _ in snapshot.sources.bases if base.name == MAIN_BASE_REPO]
    main = bases[0].source.repo if bases else ""
    if meaning.kind != "promotion" or position is None:
        return meaning
    # Nothing that GitHub shows is less visible than a private repository.
    is_shown = proposal.known.overview.visibility == "private"
    subject = position.subject if is_shown or not _hidden(proposal, [main], lookups) else ""
    for item in found:
        if repository_key(item.repository) == repository_key(main) and item.head == meaning.commit:
            return meaning.with_commits(subject, item.total, item.behind)
    return meaning.with_commits(subject)


def _others(proposal: Proposal, plan: Plan, context: CommandContext) -> Iterator[int]:
    """Yield the numbers of people's pull requests that change our files."""
    branch = proposal.branch
    for pull in proposal.known.of_role("other"):
        paths = pull_requests.changed_paths(context.github, branch.repository, pull.number)
        if changes_own(paths, branch.tree.entries, branch.folder, plan.cluster_types):
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


def _main(proposal: Proposal, sources: Snapshot) -> Iterator[CommitRange]:
    before, now = proposal.proposed.branch_promoted_commit, sources.promoted_commit
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
    return less_visible(own or "public", known)


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
