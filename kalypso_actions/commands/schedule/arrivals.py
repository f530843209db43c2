"""Find the content of a proposal: commits of main and registered repositories, and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from kalypso_actions import gitops
from kalypso_actions.commands.schedule.lookups import Lookups
from kalypso_actions.commands.schedule.propose import ProposalPlan
from kalypso_actions.commands.schedule.read import EnvironmentSnapshot
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.environments import EnvironmentReading
from kalypso_actions.commands.shared.reading.snapshot import read_control_plane
from kalypso_actions.comparison import Mask, visibility
from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model.differences import (
    AssignmentName,
    CommitRange,
    Comparison,
    MaskedComparison,
    ValueChange,
)
from kalypso_actions.model.kinds import MAIN_BASE_REPO, RepositoryPath
from kalypso_actions.model.layout import RECONCILER_FILE
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.earlier_config import changed_values
from kalypso_actions.planning.plan import Plan
from kalypso_actions.planning.secret_texts import secret_texts

MOST_REPOSITORIES: Final = 10
"""The most repositories whose commits are read; the pull request names the others."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The content of a proposal, without secrets."""

    commits: tuple[CommitRange, ...]
    comparison: MaskedComparison


def arrivals(
    proposal: ProposalPlan,
    read: EnvironmentSnapshot,
    plan: Plan,
    lookups: Lookups,
    masked_keys: Iterable[str] = (),
) -> Arrivals:
    """Compare a proposal with the sources that the GitOps branch names.

    A reader of the pull request sees no commit and no value of a repository that is less visible
    than the GitOps repository. Leave out anything unreadable: it stops no proposal.
    """
    tree = proposal.state.tree
    previous = gitops.read_sources(tree.sources, plan.environment)
    ranges = [*_main(proposal, read.sources, plan)]
    values: tuple[ValueChange, ...] = ()
    added = set(_added(proposal, tree.path))
    if previous:
        ranges += _registered(previous, read.sources)
        values = _values(previous, read, plan, added, lookups.context)
    repositories = {item.repository for item in ranges[:MOST_REPOSITORIES]}
    repositories |= {url for value in values for url in value.repositories}
    hidden = _hidden(proposal, repositories, lookups) if repositories else frozenset()
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
    )


def _added(proposal: ProposalPlan, folder: str) -> Iterator[str]:
    prefix, end = f"{folder}/" if folder else "", f"/{RECONCILER_FILE}"
    for path in proposal.changes.added:
        if path.endswith(end):
            yield path.removeprefix(prefix).removesuffix(end)


def _names(environment: str, folders: Iterable[str]) -> tuple[AssignmentName, ...]:
    pairs = (folder.partition("/") for folder in folders)
    return tuple(
        sorted(AssignmentName(environment, cluster_type, name) for cluster_type, _, name in pairs)
    )


def _main(proposal: ProposalPlan, sources: Snapshot, plan: Plan) -> Iterator[CommitRange]:
    before, now = proposal.proposal.branch_promoted_commit, plan.promoted_commit
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
    read: EnvironmentSnapshot,
    plan: Plan,
    added: set[str],
    context: CommandContext,
) -> tuple[ValueChange, ...]:
    """Return the values that differ from those at the commits in the tree's `sources.json`."""
    own, was = read.sources.own.revision, previous.environment_branch
    mains = [reading.revision.commit for _, reading in read.sources.bases]
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


def _hidden(proposal: ProposalPlan, urls: Iterable[str], lookups: Lookups) -> frozenset[str]:
    known = {url: lookups.visibility(url) for url in urls}
    own = proposal.overview.visibility
    own = own or lookups.visibility(lookups.context.url(proposal.state.repository))
    return visibility.less_visible(own or "public", known)


def _with_commits(
    ranges: list[CommitRange], hidden: frozenset[str], lookups: Lookups
) -> Iterator[CommitRange]:
    for index, item in enumerate(ranges):
        if index >= MOST_REPOSITORIES:
            yield item
            continue
        is_hidden = item.repository in hidden
        commits = lookups.commits(item)
        if commits is None:
            yield item
            continue
        repository, ahead, behind, subjects = commits
        span = f"{item.base}...{item.head}"
        yield CommitRange(
            item.repository,
            item.name,
            item.base,
            item.head,
            "" if is_hidden else f"{lookups.context.url(repository)}/compare/{span}",
            () if is_hidden else subjects,
            ahead,
            behind,
        )
