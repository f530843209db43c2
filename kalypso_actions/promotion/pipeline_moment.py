"""The pipeline at one moment: the state of each environment, and what `status` says it waits for.

The descriptions of commit statuses ("Waiting: cd") are in `statuses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.model.github import CommitStatus, CommitView, PullRequestView
from kalypso_actions.promotion.policy import LETS_IN, PolicyVerdict
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.statuses import (
    CI_CONTEXT,
    State,
    context,
    has_begun,
    is_waiting,
    posted_for,
)

WaitsFor = Literal["people", "clusters", "a run", "an environment"]


@dataclass(frozen=True, slots=True)
class Wait:
    """Something that an environment waits for; `url` is its page, "" without one."""

    waits_for: WaitsFor
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class PipelineProposal:
    """An open pull request to a branch of an environment, in a repository (`owner/name`).

    `promoted_commit` is the commit of main that the tree of Kalypso's proposal names, if the
    environment's branch has changed since ("" otherwise). `held` is why the policy keeps out what
    cd proposes to the environment's branch.
    """

    repository: str
    pull_request: PullRequestView
    promoted_commit: str = ""
    held: str = ""

    @property
    def name(self) -> str:
        """The name for people."""
        return f"{self.repository}#{self.pull_request.number}"


@dataclass(frozen=True, slots=True)
class EnvironmentMoment:
    """The state of an environment as the repositories record it.

    promoted         the commit that its branch names; None if it names none that GitHub has
    tracked_commits  the commits that the trees of its GitOps branches name, "" for none
    status           that of the promoted commit in the environment
    checks           the latest starts of check-promote for the promoted commit, of each repository
    record           the latest start of schedule for the head of the branch
    proposals        open pull requests to its branch, and Kalypso's in its GitOps repositories
    main             the head of main
    previous         the environments from which commits come, with their moments
    closed           the freezes and holds of its policy, and the faults of the policy
    """

    name: str
    promoted: CommitView | None
    tracked_commits: tuple[str, ...]
    status: CommitStatus | None
    checks: tuple[StartRecord, ...]
    record: StartRecord | None
    proposals: tuple[PipelineProposal, ...]
    main: CommitView | None
    previous: tuple[EnvironmentMoment, ...] = ()
    closed: PolicyVerdict = LETS_IN

    @property
    def state(self) -> State | None:
        """The state that the status describes; None without a status."""
        return posted_for(self.status.description) if self.status else None

    @property
    def compliant(self) -> tuple[int, int] | None:
        """The recorded numbers of compliant clusters and of all clusters; None without a record."""
        recorded = [record.compliant for record in self.checks if record.compliant]
        if not recorded:
            return None
        compliant, total = (sum(numbers) for numbers in zip(*recorded, strict=True))
        return compliant, total

    @property
    def ahead(self) -> int | None:
        """The number of commits that main has after the promoted one; None if it is unknown."""
        if self.main is None or self.promoted is None:
            return None
        return max(0, self.main.length - self.promoted.length)

    @property
    def description(self) -> str:
        """The description of the status; without a status, the state that the repositories show."""
        if self.status:
            return self.status.description
        if self.promoted is None:
            return "Nothing promoted"
        return f"{'Merged' if self.is_merged else 'Promoted'}, without a status"

    @property
    def is_merged(self) -> bool:
        """Whether the trees of all GitOps branches name the promoted commit."""
        commit = self.promoted.id if self.promoted else ""
        return bool(self.tracked_commits) and all(each == commit for each in self.tracked_commits)


def waits_of(moment: EnvironmentMoment) -> Iterator[Wait]:
    """Yield the waits of an environment, those for people first."""
    outdated = [each for each in moment.proposals if _is_outdated(each, moment.promoted)]
    yield from of_proposals(each for each in moment.proposals if each not in outdated)
    yield from _of_policy(moment.closed)
    yield from _of_record(moment)
    for each in outdated:
        commit = each.promoted_commit[:7]
        text = f"of schedule: {each.name} still proposes {commit}, which {moment.name} has left"
        yield Wait("a run", text, each.pull_request.url)
    url = moment.status.target_url if moment.status else ""
    if moment.state is State.FAILED:
        yield Wait("people", "correct the failure, then run check-promote again", url)
    if moment.state is State.DEPLOYING:
        yield Wait("clusters", "report that they comply", url)
    is_unread = moment.status is None and moment.record is None and moment.promoted is not None
    awaits_schedule = moment.state is State.PROMOTED or (is_unread and not moment.is_merged)
    if awaits_schedule and not moment.proposals:
        yield Wait("a run", "of schedule, which proposes the tree", url)
    yield from _of_previous(moment)


def waits_of_main(
    main: CommitView | None, environments: Mapping[str, EnvironmentMoment]
) -> Iterator[Wait]:
    """Yield what the head of main waits for, until it is on its way to an environment."""
    promoted = {each.promoted.id for each in environments.values() if each.promoted}
    if main is None or main.id in promoted:
        return
    commit, ci = f"{main.id[:7]} {main.subject}", main.statuses.get(CI_CONTEXT)
    posted = {name: main.statuses.get(context(name).lower()) for name in environments}
    if ci is None:
        yield Wait("a run", f"of ci with {commit}: none has posted a status")
    elif ci.state != "success":
        yield Wait("people", f"correct the problems that ci found in {commit}", ci.target_url)
    elif not any(map(has_begun, posted.values())):
        yield Wait("a run", f"of cd with {commit}, or of the approval of its job", ci.target_url)
    for name, status in posted.items():
        if status and is_waiting(status):
            yield Wait("a run", f"of cd for {name} with {commit}: {status.description}")


def _is_outdated(proposal: PipelineProposal, promoted: CommitView | None) -> bool:
    """Whether a proposal brings a commit that the environment's branch no longer names."""
    return bool(proposal.promoted_commit) and (
        promoted is None or promoted.id != proposal.promoted_commit
    )


def of_proposals(proposals: Iterable[PipelineProposal]) -> Iterator[Wait]:
    """Yield a wait for people to merge each pull request, unless a policy keeps it out."""
    for proposal in proposals:
        pull = proposal.pull_request
        draft = " (a draft)" if pull.is_draft else ""
        if proposal.held:
            yield Wait("people", f"do not merge {proposal.name} yet: {proposal.held}", pull.url)
            continue
        yield Wait("people", f"review and merge {proposal.name}{draft}: {pull.title}", pull.url)


def _of_policy(closed: PolicyVerdict) -> Iterator[Wait]:
    """Yield what keeps commits out of the environment."""
    for reason in closed.reasons:
        match reason.rule:
            case "hold":
                yield Wait("people", f"release the {reason.text}")
            case "policy":
                yield Wait("people", f"correct the policy: {reason.text}")
            case _:
                yield Wait("a run", f"of cd, after the {reason.text}")


def _of_record(moment: EnvironmentMoment) -> Iterator[Wait]:
    match moment.record:
        case StartRecord("blocked"):
            yield Wait("people", "correct the problems that keep schedule from proposing")
        case StartRecord("given up"):
            yield Wait("people", "start schedule: three starts led to no run")
        case StartRecord("starting"):
            yield Wait("a run", "of schedule, which was started")


def _of_previous(moment: EnvironmentMoment) -> Iterator[Wait]:
    """Yield the waits for newer commits of the previous environments."""
    own = moment.promoted
    for earlier in moment.previous:
        newer = earlier.promoted
        if newer is None or (own and newer.length <= own.length):
            continue
        commit = f"{newer.id[:7]} {newer.subject}"
        here = newer.statuses.get(context(moment.name).lower())
        if here and is_waiting(here):
            yield Wait("a run", f"of cd with {commit}: {here.description}")
            continue
        if earlier.state is State.DEPLOYED:
            yield Wait("a run", f"of cd with {commit}, or of the approval of its job")
        else:
            yield Wait("an environment", f"{earlier.name}, until {commit} is deployed there")
