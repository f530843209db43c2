"""Whether the policy of an environment lets a commit of main in: read what it asks, and judge.

    verdict = read_verdict(policy_of(branch, context), branch, commit, environments, context)
    verdict.is_fulfilled, verdict.description

The policy is that of the branch at the commit at which the branch was read. Only what it asks about
is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from kalypso_actions.clients.github import GitHubError, commits, pull_requests, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import (
    EnvironmentBranch,
    read_head,
    rolled_back_from,
)
from kalypso_actions.commands.shared.own_statuses import (
    chain_identity,
    own_statuses,
    was_deployed,
)
from kalypso_actions.commands.shared.reading.document_reader import read_policy
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import content_of
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.own_account import JOBS, is_bot
from kalypso_actions.model.promotion_policy import (
    PolicyReading,
    PromotionPolicy,
    RequiredCheck,
    policy_path,
)
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.cd_decision import has_left
from kalypso_actions.promotion.policy import (
    LETS_IN,
    NOT_DEPLOYED,
    EntryFacts,
    PolicyVerdict,
    closed,
    evaluate,
    overridden,
    unreadable,
    window_of,
)
from kalypso_actions.sources.source_tree import normalize

NOT_PERMITTED: Final = frozenset({401, 403})
PAGE: Final = 100
"""Commits of one request."""

WITHOUT_APP: Final = "`requires` needs the App: add `app-id` and `app-private-key` to cd.yaml"
AT_TERMINAL: Final = (
    "whether `requires` is fulfilled, only the App sees: set KALYPSO_APP_ID and "
    "KALYPSO_APP_PRIVATE_KEY"
)


def policy_of(branch: EnvironmentBranch, context: CommandContext) -> PolicyReading:
    """Return the policy of an environment at the commit at which its branch was read.

    Raises KalypsoError if the branch cannot be read.
    """
    if not branch.head:
        return PolicyReading()
    files = context.remotes.fetch(branch.url, commit=branch.head)
    return read_policy(files, branch.environment.control_plane.path)


def closed_by(name: str, reading: PolicyReading, now: datetime, commit: str = "") -> PolicyVerdict:
    """Return what the policy of an environment keeps a commit out for, at a time.

    Those are holds and freezes, or what is wrong with the policy. The commit "" stands for each
    that no hold names.
    """
    if reading.problems:
        return unreadable(reading.problems)
    return closed(reading.policy, EntryFacts(name, commit), now) if reading.policy else LETS_IN


def read_verdict(
    reading: PolicyReading,
    branch: EnvironmentBranch,
    commit: str,
    environments: Mapping[str, Environment],
    context: CommandContext,
    *,
    goes_back: bool = False,
    person: str = "",
) -> PolicyVerdict:
    """Return whether the policy of an environment lets a commit of main in now.

    With `goes_back`, a `person` asks for a commit that is older than the environment's. Raises
    KalypsoError.
    """
    if reading.problems:
        return unreadable(reading.problems)
    if reading.policy is None:
        return LETS_IN
    name, now = branch.environment.name, context.runtime.now()
    if goes_back and was_deployed(context, commit, table.context(name), any_app=True):
        facts = EntryFacts(name, commit, rolls_back=True, person=person)
    else:
        facts = _EntryReading(reading.policy, branch, commit, environments, context, now).facts()
    return evaluate(reading.policy, facts, now)


def read_closed(
    policy: PromotionPolicy,
    branch: EnvironmentBranch,
    tracked_commits: Sequence[str | None],
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> PolicyVerdict:
    """Return the freezes and holds that keep schedule from proposing what the branch names.

    `tracked_commits` are those of the GitOps branches. What cd has let in all the same, goes on:
    with labels that a freeze allows, as a rollback, or by a person's reason. Changes of the
    configuration alone wait. Raises KalypsoError.
    """
    commit, now = branch.promoted_commit or "", context.runtime.now()
    name = branch.environment.name
    verdict = closed(policy, EntryFacts(name, commit), now)
    behind = [tracked for tracked in tracked_commits if tracked != commit]
    if verdict.is_fulfilled or not behind or not commit:
        return verdict
    at_terminal = not context.runtime.job.in_actions
    posted = own_statuses(context, commit, any_app=at_terminal)
    is_overridden = overridden(name, "").context.lower() in posted
    if is_overridden or was_deployed(context, commit, table.context(name), any_app=True):
        return LETS_IN
    before = replace(branch, promoted_commit=behind[0])
    reading = _EntryReading(policy, before, commit, environments, context, now)
    labels, unknown = reading.labels()
    return closed(policy, EntryFacts(name, commit, labels=labels, unknown=unknown), now)


class _EntryReading:
    """Reads what a policy asks about a commit of main."""

    def __init__(
        self,
        policy: PromotionPolicy,
        branch: EnvironmentBranch,
        commit: str,
        environments: Mapping[str, Environment],
        context: CommandContext,
        now: datetime,
    ) -> None:
        self._policy = policy
        self._branch = branch
        self._commit = commit
        self._environments = environments
        self._context = context
        self._now = now

    def facts(self) -> EntryFacts:
        policy, name = self._policy, self._branch.environment.name
        posted: Mapping[str, CommitStatus] = {}
        if policy.deployed or policy.checks:
            github, control_plane = self._context.github, self._context.control_plane
            posted = statuses.of_commits(github, control_plane, [self._commit]).get(
                self._commit, {}
            )
        labels, unknown = self.labels()
        before, underway = self._queue() if policy.queue == "oldest" else ("", "")
        return EntryFacts(
            name,
            self._commit,
            {each: self._deployment(each, posted) for each in policy.deployed},
            {check: self._check(check, posted) for check in policy.checks},
            labels,
            unknown,
            before,
            underway,
        )

    def _deployment(self, name: str, posted: Mapping[str, CommitStatus]) -> datetime | str:
        """Return when an environment deployed the commit, or why that does not count."""
        context = self._context
        identity = context.github.identity(context.control_plane)
        if identity.login == JOBS:
            return WITHOUT_APP
        if not (context.runtime.job.in_actions or is_bot(identity.login)):
            return AT_TERMINAL
        status = posted.get(table.context(name).lower())
        since = status.created_at if status and table.is_deployed(status) else None
        if status is None or since is None or name not in self._environments:
            return f"{NOT_DEPLOYED}{name}"
        if not identity.is_own(status.author):
            return f"Deployed in {name} is by {status.author}, not by {identity.login}"
        branch = read_head(self._environments[name], context)
        current = branch.promoted_commit
        relation = None
        if current and current != self._commit:
            relation = commits.relation(
                context.github, context.control_plane, self._commit, current
            )
        left = has_left(self._commit, current, relation)
        if left or rolled_back_from(self._commit, branch, self._environments, context):
            return f"{name} was rolled back from the commit"
        return since

    def _check(self, check: RequiredCheck, posted: Mapping[str, CommitStatus]) -> str:
        """Return why a required check does not count as succeeded; "" if it does."""
        found: list[tuple[float, str]] = []
        status = posted.get(check.name.lower())
        if status and check.is_by(status.author):
            found.append((_seconds(status.created_at), status.state))
        try:
            runs = commits.check_runs(
                self._context.github, self._context.control_plane, self._commit, check.name
            )
        except GitHubError as error:
            if error.status not in NOT_PERMITTED:
                raise
            if not found:
                return f"check {check.name} cannot be read: add `checks: read` to cd.yaml"
            runs = ()
        found += [
            (_seconds(run.started_at), run.conclusion or "pending")
            for run in runs
            if run.name == check.name and run.app.lower() == check.source.lower()
        ]
        if not found:
            return f"check {check.name} by {check.source} is missing"
        latest = max(found)[1]
        return "" if latest == "success" else f"check {check.name}: {latest}"

    def labels(self) -> tuple[Sequence[frozenset[str]], str]:
        """Return the labels of what would enter, up to the first commit that no freeze lets in.

        The second value says why they are unknown. Nothing is read unless a freeze asks.
        """
        open_windows = [each for each in self._policy.freezes if window_of(each, self._now)]
        allowed = [frozenset(freeze.allow) for freeze in open_windows]
        if not allowed or not all(allowed):
            return (), ""
        context, url = self._context, self._branch.url
        main = context.main()
        ancestry = context.remotes.ancestry(url, self._commit)
        entering: list[str] = []
        current = self._branch.promoted_commit
        for commit in ancestry.first_parents():
            if current in ancestry and ancestry.contains(current or "", commit):
                break
            entering.append(commit)
        labels: list[frozenset[str]] = []
        read = partial(pull_requests.labels_of_commits, context.github, context.control_plane)
        for start in range(0, len(entering), PAGE):
            page = entering[start : start + PAGE]
            try:
                of_page = read(page, main)
            except GitHubError as error:
                if error.status not in NOT_PERMITTED:
                    raise
                return (), "labels cannot be read: add `pull-requests: read` to cd.yaml"
            for commit in page:
                labels.append(of_page[commit])
                if any(not of_page[commit] & each for each in allowed):
                    return labels, ""
        return labels, ""

    def _queue(self) -> tuple[str, str]:
        """Return the oldest commit that waits before this one, and the one that is under way."""
        name, current = self._branch.environment.name, self._branch.promoted_commit
        key, underway = table.context(name).lower(), ""
        between = statuses_between(self._branch, self._commit, self._context)
        waiting = [each for each in between if table.is_waiting(each[1].get(key))]
        before = first_of_queue(waiting, self._policy, self._environments, self._context)
        if current:
            latest = own_statuses(self._context, current, any_app=True).get(key)
            underway = current if table.is_underway(latest) else ""
        return before, underway


def first_of_queue(
    waiting: Sequence[tuple[str, Mapping[str, CommitStatus]]],
    policy: PromotionPolicy,
    environments: Mapping[str, Environment],
    context: CommandContext,
) -> str:
    """Return the oldest of the commits that wait, newest first, with their statuses; "" for none.

    A commit that a required environment has passed over, or went back from, enters no more by
    itself, and lets the next one in. Raises KalypsoError.
    """
    heads = {
        name: read_head(environments[name], context)
        for name in (policy.deployed if waiting else ())
        if name in environments
    }
    reached = {
        name: context.remotes.ancestry(head.url, head.promoted_commit)
        for name, head in heads.items()
        if head.promoted_commit
    }

    def may_come(commit: str, posted: Mapping[str, CommitStatus]) -> bool:
        for name, ancestry in reached.items():
            status, is_reached = posted.get(table.context(name).lower()), commit in ancestry
            if table.is_deployed(status):
                left = rolled_back_from(commit, heads[name], environments, context)
                is_gone = left or not is_reached
            else:
                is_gone = table.has_ended(status) or (is_reached and commit != ancestry.head)
            if is_gone:
                return False
        return True

    return next((commit for commit, posted in reversed(waiting) if may_come(commit, posted)), "")


def statuses_between(
    branch: EnvironmentBranch, commit: str, context: CommandContext, *, with_last: bool = False
) -> Iterator[tuple[str, Mapping[str, CommitStatus]]]:
    """Yield the commits of main between the environment's and a commit, the newest first.

    Each comes with the chain's latest statuses by context, in lower case. One request reads a
    hundred commits; of an environment without a commit of main, only the newest hundred count.
    `with_last`: the commit itself comes first. Raises KalypsoError.
    """
    ancestry = context.remotes.ancestry(branch.url, commit)
    after = ancestry.since(branch.promoted_commit or "")
    ids = tuple(ancestry.parents)[:PAGE] if after is None else after
    ids = ids if with_last else ids[1:]
    github = context.github
    identity = chain_identity(context, any_app=True)
    for start in range(0, len(ids), PAGE):
        page = ids[start : start + PAGE]
        posted = statuses.of_commits(github, context.control_plane, page)
        for each in page:
            yield each, table.posted_by_chain(posted.get(each, {}), identity, any_app=True)


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time else 0.0


MOST_REASON: Final = 200
"""The characters of a hold's reason that are kept: everybody who waits reads it."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The text of a policy (None without one) at `path`, and its meaning; `problems` if invalid."""

    path: str
    where: Location
    text: str | None
    policy: PromotionPolicy
    problems: tuple[Problem, ...]


def read_policy_file(branch: EnvironmentBranch, context: CommandContext) -> PolicyFile:
    """Read the policy at the head of an environment's branch. Raises KalypsoError."""
    files = context.remotes.fetch(branch.url, commit=branch.head)
    path = policy_path(normalize(branch.environment.control_plane.path))
    content = content_of(files, path)
    text = None if content is None else content.decode("utf-8", "replace")
    reading = policy_of(branch, context)
    where = Location(branch.url, path, branch=branch.name)
    return PolicyFile(path, where, text, reading.policy or PromotionPolicy(), reading.problems)


def short_reason(text: str) -> str:
    """Return a reason as one line of at most `MOST_REASON` characters."""
    return " ".join(text.split())[:MOST_REASON]
