"""The pipeline at one moment: the state of each environment, and what `status` says it waits for.

The descriptions of commit statuses ("Waiting: cd") are in `statuses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from kalypso_actions.model.github import ActiveRun, CommitStatus, CommitView, PullRequestView
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.promotion_policy import Hold, PromotionPolicy, RequiredCheck
from kalypso_actions.promotion.policy import (
    ENTERS_FIRST,
    LETS_IN,
    NOT_DEPLOYED,
    NOT_DEPLOYED_YET,
    POLICY_CONTEXT,
    EntryFacts,
    PolicyVerdict,
    Reason,
    evaluate,
)
from kalypso_actions.promotion.start_records import StartRecord, cd_context, read_record
from kalypso_actions.promotion.statuses import (
    CI_CONTEXT,
    State,
    context,
    has_begun,
    is_deployed,
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
    environment's branch has changed since ("" otherwise). `held` is why the policy lets nobody
    merge it now.
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
    record           the latest start of schedule for the head of the branch; `record_url` is the
                     page of its status
    proposals        open pull requests to its branch, and Kalypso's in its GitOps repositories
    main             the head of main
    previous         the environments from which commits come, with their moments
    closed           the freezes and holds of its policy, and the faults of the policy
    policy           its policy; None without a valid one; `policy_url` is the page of the file
    now              the time of the policy
    held_since       when each hold came to the branch, as far as that is known
    unproposed       the files of its branch that differ from those of the merged trees, while the
                     policy lets nothing in, and nothing is proposed
    rollbacks        the runs that people started to bring it back, and that have not ended
    """

    name: str
    promoted: CommitView | None
    tracked_commits: tuple[str, ...]
    status: CommitStatus | None
    checks: tuple[StartRecord, ...]
    record: StartRecord | None
    record_url: str = field(default="", kw_only=True)
    proposals: tuple[PipelineProposal, ...]
    main: CommitView | None
    previous: tuple[EnvironmentMoment, ...] = ()
    closed: PolicyVerdict = LETS_IN
    policy: PromotionPolicy | None = None
    policy_url: str = ""
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    held_since: Mapping[Hold, datetime] = field(default_factory=dict)
    unproposed: Sequence[str] = ()
    rollbacks: Sequence[ActiveRun] = ()

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


def waits_of(moment: EnvironmentMoment) -> list[Wait]:
    """Return the waits of an environment, each once, those for people first."""
    return sorted(dict.fromkeys(_waits_of(moment)), key=lambda wait: wait.waits_for != "people")


def _waits_of(moment: EnvironmentMoment) -> Iterator[Wait]:
    outdated = [each for each in moment.proposals if _is_outdated(each, moment.promoted)]
    yield from _of_proposals(moment, outdated)
    yield from _of_policy(moment)
    for rollback in moment.rollbacks:
        if rollback.status == "waiting":
            yield Wait("people", "approve the rollback, which was started", rollback.url)
        else:
            yield Wait("a run", "of the rollback, which was started", rollback.url)
    yield from _of_record(moment)
    for each in outdated:
        commit = each.promoted_commit[:7]
        text = f"of schedule: {each.name} still proposes {commit}, which {moment.name} has left"
        yield Wait("a run", text, each.pull_request.url)
    url = moment.status.target_url if moment.status else ""
    if moment.state is State.FAILED:
        then = "or, if the clusters alone were at fault, run check-promote again"
        yield Wait("people", f"merge a correction, which is checked by itself, {then}", url)
    if moment.state is State.DEPLOYING:
        yield Wait("clusters", "report that they comply", url)
    is_unread = moment.status is None and moment.record is None and moment.promoted is not None
    awaits_schedule = moment.state is State.PROMOTED or (is_unread and not moment.is_merged)
    if awaits_schedule and not moment.proposals:
        follows = "check-promote, which follows the clusters"
        run = follows if moment.is_merged else "schedule, which proposes the tree"
        yield Wait("a run", f"of {run}", url)
    yield from _of_outside(moment)


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


def _is_outdated(proposal: PipelineProposal, promoted: CommitView | None) -> bool:
    """Whether a proposal brings a commit that the environment's branch no longer names."""
    return bool(proposal.promoted_commit) and (
        promoted is None or promoted.id != proposal.promoted_commit
    )


def _of_proposals(
    moment: EnvironmentMoment, outdated: Sequence[PipelineProposal]
) -> Iterator[Wait]:
    """Yield the waits for the pull requests that are not outdated.

    Without a promoted commit, the first promotion replaces the content of Kalypso's own.
    """
    first = moment.previous[0].name if moment.previous and moment.promoted is None else ""
    for proposal in moment.proposals:
        if first and proposal.pull_request.head.startswith(f"{OWN_BRANCHES}{moment.name}"):
            text = f"{first}, from which the first promotion comes into {proposal.name}"
            yield Wait("an environment", text, proposal.pull_request.url)
        elif proposal not in outdated:
            yield from of_proposals([proposal])


def of_proposals(proposals: Iterable[PipelineProposal]) -> Iterator[Wait]:
    """Yield a wait for people to merge each pull request, or to correct it first.

    While a policy keeps it out, its end is the wait.
    """
    for proposal in proposals:
        pull = proposal.pull_request
        faults = [f"{name} failed" for name in pull.failed if name != POLICY_CONTEXT]
        faults += [f"it conflicts with {pull.base}"] if pull.conflicts else []
        draft = " (a draft)" if pull.is_draft else ""
        if proposal.held:
            text = f"merge {proposal.name} after the end of this: {proposal.held}"
        elif faults:
            text = f"correct {proposal.name} ({', '.join(faults)}): {pull.title}"
        else:
            text = f"review and merge {proposal.name}{draft}: {pull.title}"
        yield Wait("people", text, pull.url)


def _of_policy(moment: EnvironmentMoment) -> Iterator[Wait]:
    """Yield what keeps commits out, and the configuration from being proposed."""
    for reason in moment.closed.reasons:
        match reason.rule:
            case "hold":
                text = f"release the {reason.text}{_details(reason, moment)}"
                yield Wait("people", text, moment.policy_url)
            case "policy":
                yield Wait("people", f"correct the policy: {reason.text}", moment.policy_url)
            case _:
                yield Wait("a run", f"of cd, after the {reason.text}")
    if moment.unproposed:
        first, more = moment.unproposed[0], len(moment.unproposed) - 1
        files = f"{first} (+{more})" if more else first
        text = f"{files} on {moment.name} is not proposed: {moment.closed.brief}"
        yield Wait(_waits_for(moment.closed), text)


def _details(reason: Reason, moment: EnvironmentMoment) -> str:
    """Return which commit a hold lets in, and since when it holds, in brackets; "" for neither."""
    if reason.hold is None:
        return ""
    since = moment.held_since.get(reason.hold)
    details = [f"except {reason.hold.at[:7]}"] if reason.hold.at else []
    details += [f"since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"] if since else []
    return f" ({', '.join(details)})" if details else ""


def _waits_for(verdict: PolicyVerdict) -> WaitsFor:
    if any(reason.rule in {"hold", "policy"} for reason in verdict.reasons):
        return "people"
    if any(reason.text.startswith(NOT_DEPLOYED) for reason in verdict.reasons):
        return "an environment"
    return "a run"


def _of_record(moment: EnvironmentMoment) -> Iterator[Wait]:
    match moment.record:
        case StartRecord("blocked"):
            text = "correct the problems that keep schedule from proposing"
            yield Wait("people", text, moment.record_url)
        case StartRecord("given up"):
            yield Wait("people", "start schedule: three starts led to no run")
        case StartRecord("starting"):
            yield Wait("a run", "of schedule, which was started")


def _of_outside(moment: EnvironmentMoment) -> Iterator[Wait]:
    """Yield the waits of newer commits: those of the environments before, and the head of main.

    What has entered, and left, waits for nothing: people rolled it back.
    """
    own, name = moment.promoted, moment.name
    newer = [(earlier.promoted, earlier) for earlier in moment.previous]
    for view, earlier in (*newer, (moment.main, None)):
        if view is None or (own and view.length <= own.length):
            continue
        commit = f"{view.id[:7]} {view.subject}"
        here = view.statuses.get(context(name).lower())
        record = read_record(view.statuses.get(cd_context(name).lower()))
        if here and is_waiting(here):
            yield _kept_out(moment, view, here)
        elif earlier is None or has_begun(here):
            continue
        elif record and record.kind == "given up":
            yield Wait("people", f"start cd with {commit}: three starts led to no run")
        elif here or (record and record.kind in {"starting", "received"}):
            yield Wait("a run", f"of cd with {commit}, or of the approval of its job")
        elif earlier.state is not State.DEPLOYED:
            yield Wait("an environment", f"{earlier.name}, until {commit} is deployed there")


def _kept_out(moment: EnvironmentMoment, view: CommitView, posted: CommitStatus) -> Wait:
    """Return what a commit waits for by the policy of this moment, which `posted` need not have."""
    verdict = _verdict(moment, view, posted)
    commit = f"{view.id[:7]} {view.subject}"
    if verdict.is_fulfilled:
        return Wait("a run", f"of cd with {commit}, which poll starts: the policy lets it in")
    reasons = verdict.beside(moment.closed.reasons)
    return Wait(_waits_for(verdict), f"{commit} does not enter: {reasons}")


def _verdict(moment: EnvironmentMoment, view: CommitView, posted: CommitStatus) -> PolicyVerdict:
    """Judge a commit by the policy of this moment, and by the statuses of the commit.

    What they do not show (runs of checks, labels, the queue) is as cd has found and posted it.
    """
    policy = moment.policy
    if policy is None:
        return PolicyVerdict(tuple(each for each in moment.closed.reasons if each.rule == "policy"))
    told = posted.description.removeprefix("Waiting: ").split("; ")
    labels = frozenset(label for freeze in policy.freezes for label in freeze.allow)
    facts = EntryFacts(
        moment.name,
        view.id,
        {name: _deployed_at(name, view) for name in policy.deployed},
        {check: _fault_of(check, view, told) for check in policy.checks},
        () if any(text.startswith("freeze") for text in told) else (labels,),
    )
    verdict = evaluate(policy, facts, moment.now)
    if policy.queue == "newest":
        return verdict
    queue = (
        Reason("queue", text) for text in told if text.endswith((ENTERS_FIRST, NOT_DEPLOYED_YET))
    )
    return PolicyVerdict((*verdict.reasons, *queue))


def _deployed_at(name: str, view: CommitView) -> datetime | str:
    status = view.statuses.get(context(name).lower())
    since = status.created_at if status and is_deployed(status) else None
    return since or f"{NOT_DEPLOYED}{name}"


def _fault_of(check: RequiredCheck, view: CommitView, told: Iterable[str]) -> str:
    status = view.statuses.get(check.name.lower())
    if status and check.is_by(status.author):
        return "" if status.state == "success" else f"check {check.name}: {status.state}"
    beginning = f"check {check.name}"
    return next((text for text in told if text.startswith(beginning)), "")
