"""Read the repositories, and determine the state of each environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from typing import Final, NoReturn

from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext, Runtime, open_context
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch
from kalypso_actions.commands.shared.policy_entry import closed_by
from kalypso_actions.commands.shared.reading.base_history import passed_commits
from kalypso_actions.commands.shared.reading.base_trees import named_commit, read_base_tree
from kalypso_actions.commands.shared.reading.control_plane import read_base_file
from kalypso_actions.commands.shared.record import ask, record_branch
from kalypso_actions.commands.status.read import (
    EnvironmentBranches,
    Pipeline,
    cluster_states,
    held_since,
    read_pipeline,
    started_rollbacks,
    unproposed_files,
)
from kalypso_actions.comparison.differences import assignment_names, manifest_entries
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.errors import Finding, KalypsoError
from kalypso_actions.fleet.named_branches import main_base
from kalypso_actions.gitops.own_files import may_be_own_branch
from kalypso_actions.gitops.proposed_commit import tracked_commit
from kalypso_actions.inputs.chain import StatusInputs
from kalypso_actions.model.github import ActiveRun, CommitView, OpenIssue
from kalypso_actions.model.kinds import BaseRepo, Environment
from kalypso_actions.model.promotion_policy import PolicyPage, policy_path
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.observations.questions import states
from kalypso_actions.promotion import waits as rules
from kalypso_actions.promotion.environments import chain_gaps, in_order, previous_of
from kalypso_actions.promotion.lost_starts import may_be_run_of
from kalypso_actions.promotion.policy import LETS_IN, PolicyVerdict, overridden
from kalypso_actions.promotion.start_records import (
    StartRecord,
    check_promote_context,
    read_record,
    schedule_context,
)
from kalypso_actions.promotion.statuses import CI_CONTEXT, State, is_deployed
from kalypso_actions.promotion.statuses import context as status_context
from kalypso_actions.promotion.waits import EnvironmentMoment, PipelineProposal
from kalypso_actions.report import failure_issues
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.hold_document import HoldEntry
from kalypso_actions.report.status_document import (
    CommitViewEntry,
    EnvironmentStatusEntry,
    GitOpsBranchEntry,
    IssueEntry,
    ProposalEntry,
    StateEntry,
    StatusDocument,
    WaitEntry,
)
from kalypso_actions.sources.source_tree import OutsideRepositoryError, normalize


def status(
    inputs: StatusInputs, context: CommandContext, reports: ClusterReports | None = None
) -> StatusDocument:
    """Return the pipeline at this moment.

    `reports` replaces the source of cluster reports that the inputs name. Raises KalypsoError if
    the control plane cannot be read, UsageError for an unknown environment.
    """
    environments = context.environments()
    wanted = [context.environment(name, environments).name for name in inputs.environment]
    names = [name for name in in_order(environments) if not wanted or name in wanted]
    read = read_pipeline(context, [environments[name] for name in in_order(environments)])
    summary = _Summary(context, read, started_rollbacks(context))
    source = closing(reports or open_cluster_reports(inputs, context)) if inputs.clusters else None
    with source or nullcontext() as asked:
        entries = tuple(summary.entry(name, asked) for name in names)
    if inputs.clusters:
        entries = _with_since(entries, inputs, context)
    head = read.control_plane.heads.get(read.main)
    ci = head.statuses.get(CI_CONTEXT) if head else None
    return StatusDocument(
        control_plane=context.control_plane,
        at=context.runtime.now(),
        main=CommitViewEntry.of(head),
        ci=ci.state if ci else "",
        waits=summary.waits_of_main(),
        environments=entries,
        warnings=ProblemEntry.all_of(
            (*chain_gaps(environments), *_passed_commits(read, environments, context))
        ),
    )


def _passed_commits(
    read: Pipeline, environments: Mapping[str, Environment], context: CommandContext
) -> Iterator[Finding]:
    """Yield the findings of commits that the environments before have never had."""
    head = read.control_plane.heads.get(read.main)
    bases: dict[str, BaseRepo] = {}
    ahead: dict[str, int] = {}
    for item in read.environments:
        base = main_base(item.reading.own) if item.reading else None
        commit = read.control_plane.commits.get(item.promoted_commit)
        if head and commit and base:
            bases[item.environment.name] = base
            ahead[item.environment.name] = head.length - commit.length
    url = context.url(context.control_plane)
    yield from passed_commits(environments, bases, ahead, context.repositories, url, read.main)


def _with_since(
    entries: tuple[EnvironmentStatusEntry, ...], inputs: StatusInputs, context: CommandContext
) -> tuple[EnvironmentStatusEntry, ...]:
    """Return the entries with the times since when clusters do not comply, if there is a record."""
    record = record_branch(context, inputs.record)
    head = record.head()
    if not head:
        return entries
    now = context.runtime.now()
    known = ask(
        record,
        head,
        context.runtime.environment,
        lambda tables: {
            (each.environment, each.cluster_type, each.cluster.lower()): each.since
            for each in states(tables, now)
            if not each.workload
        },
    )

    def with_since(entry: EnvironmentStatusEntry) -> EnvironmentStatusEntry:
        name = entry.environment
        clusters = tuple(
            each.model_copy(update={"since": known.get((name, each.cluster_type, each.id.lower()))})
            for each in entry.not_compliant or ()
        )
        return entry.model_copy(update={"not_compliant": clusters})

    return tuple(map(with_since, entries))


class _Summary:
    """The entries of the environments."""

    def __init__(
        self, context: CommandContext, read: Pipeline, rollbacks: Sequence[ActiveRun]
    ) -> None:
        self._context = context
        self._read = read
        self._rollbacks = rollbacks
        self._branches = {each.environment.name: each for each in read.environments}
        self._declared: dict[str, Environment] = {
            name: each.environment for name, each in self._branches.items()
        }

    def entry(self, name: str, reports: ClusterReports | None) -> EnvironmentStatusEntry:
        """Return the entry of an environment."""
        item = self._branches[name]
        moment = self._moment(item, with_previous=True)
        clusters = cluster_states(self._context, self._read, item, reports) if reports else None
        numbers = clusters.numbers if clusters else None
        gitops = tuple(self._gitops(item))
        issues = tuple(self._issues(item))
        return EnvironmentStatusEntry(
            environment=name,
            branch=item.environment.control_plane.branch,
            commit=CommitViewEntry.of(moment.promoted),
            ahead=moment.ahead,
            state=_state(moment, numbers),
            next_environments=item.environment.next_environments,
            assignments=sum(each.assignments for each in gitops),
            failing=sum(
                failure_issues.failing_assignments(each.title, each.body, name)
                for _, each in issues
            ),
            degraded=sum(
                failure_issues.unusable_registrations(each.title, each.body, name)
                for _, each in issues
            ),
            gitops=gitops,
            pull_requests=tuple(map(_proposal, moment.proposals)),
            issues=tuple(
                IssueEntry(repository=where, number=each.number, title=each.title, url=each.url)
                for where, each in issues
            ),
            policy_url=moment.policy_url,
            waiting_for=moment.closed.description,
            holds=tuple(
                HoldEntry.of(reason.hold, moment.held_since.get(reason.hold))
                for reason in moment.closed.reasons
                if reason.hold
            ),
            waits=_waits(rules.waits_of(moment)),
            clusters=numbers,
            not_compliant=clusters.not_compliant if clusters else None,
            warnings=ProblemEntry.all_of(clusters.warnings if clusters else ()),
            problems=ProblemEntry.all_of(item.problems),
        )

    def waits_of_main(self) -> tuple[WaitEntry, ...]:
        """Return the open pull requests to main, and what its head waits for."""
        read = self._read
        to_main = [
            PipelineProposal(self._context.control_plane, pull)
            for pull in read.control_plane.pull_requests
            if pull.base == read.main
        ]
        moments = {
            name: self._moment(item, with_previous=False) for name, item in self._branches.items()
        }
        head = read.control_plane.heads.get(read.main)
        return _waits((*rules.of_proposals(to_main), *rules.waits_of_main(head, moments)))

    def _moment(self, item: EnvironmentBranches, *, with_previous: bool) -> EnvironmentMoment:
        control_plane = self._read.control_plane
        environment = item.environment
        name, branch = environment.name, environment.control_plane.branch
        promoted = control_plane.commits.get(item.promoted_commit)
        head = control_plane.heads.get(branch)
        by_schedule = head.statuses.get(schedule_context(name).lower()) if head else None
        record = read_record(by_schedule)
        previous = previous_of(name, self._declared) if with_previous else ()
        closed = self._closed(item, "")
        tracked = tuple(self._tracked_commit(item, place) for place in item.gitops)
        proposals = tuple(self._proposals(item, record, tracked))
        own = item.reading.own if item.reading else None
        policy = own.policy.policy if own else None
        is_shown = with_previous and not closed.is_fulfilled
        return EnvironmentMoment(
            name=name,
            promoted=promoted,
            tracked_commits=tracked,
            status=promoted.statuses.get(status_context(name).lower()) if promoted else None,
            checks=tuple(self._checks(item, promoted)),
            record=record,
            record_url=by_schedule.target_url if by_schedule else "",
            proposals=proposals,
            main=control_plane.heads.get(self._read.main),
            previous=tuple(
                self._moment(self._branches[each], with_previous=False) for each in previous
            ),
            closed=closed,
            policy=policy,
            policy_url=self._policy_url(item),
            now=self._context.runtime.now(),
            held_since=held_since(self._context, item, policy) if is_shown and policy else {},
            rollbacks=tuple(
                run
                for run in self._rollbacks
                if may_be_run_of(run.title, "rollback", {"environment": name})
            ),
            unproposed=()
            if proposals or not is_shown or self._closed_to_tree(item, tracked).is_fulfilled
            else unproposed_files(self._context, self._read, item),
        )

    def _closed(self, item: EnvironmentBranches, commit: str) -> PolicyVerdict:
        """Return the freezes and holds that keep a commit out, or what is wrong with the policy.

        The commit "" stands for each that no hold names.
        """
        name, now = item.environment.name, self._context.runtime.now()
        return closed_by(name, item.reading.own.policy, now, commit) if item.reading else LETS_IN

    def _policy_url(self, item: EnvironmentBranches) -> str:
        """Return the page of the policy's file on the environment's branch, or one to begin it.

        An environment whose path leaves the repository has none: "".
        """
        place = item.environment.control_plane
        try:
            path = policy_path(normalize(place.path))
        except OutsideRepositoryError:
            return ""
        own = item.reading.own if item.reading else None
        exists = not own or own.policy.has_file
        repository = self._context.url(self._context.control_plane)
        return PolicyPage(repository, place.branch, path, exists).url

    def _closed_to_tree(self, item: EnvironmentBranches, tracked: tuple[str, ...]) -> PolicyVerdict:
        """Return what keeps schedule from proposing, and people from merging, what the branch has.

        What cd has let in all the same goes on, as schedule decides it; whether labels open a
        freeze is not read here. A faulty policy stops cd alone.
        """
        commit = item.promoted_commit
        reasons = self._closed(item, commit).reasons
        verdict = PolicyVerdict(tuple(each for each in reasons if each.rule != "policy"))
        if verdict.is_fulfilled or not commit or all(each == commit for each in tracked):
            return verdict
        view, name = self._read.control_plane.commits.get(commit), item.environment.name
        posted = view.statuses if view else {}
        is_overridden = overridden(name, "").context.lower() in posted
        if is_overridden or is_deployed(posted.get(status_context(name).lower())):
            return LETS_IN
        return PolicyVerdict(tuple(each for each in verdict.reasons if each.rule != "freeze"))

    def _checks(
        self, item: EnvironmentBranches, promoted: CommitView | None
    ) -> Iterator[StartRecord]:
        """Yield the records of the runs that check the promoted commit, of each repository."""
        for repository in dict.fromkeys(place.repository for place in item.gitops):
            key = check_promote_context(item.environment.name, repository).lower()
            record = read_record(promoted.statuses.get(key)) if promoted else None
            if record:
                yield record

    def _tracked_commit(self, item: EnvironmentBranches, place: GitOpsBranch) -> str:
        tree = self._read.trees.get(place)
        return (named_commit(tree, item.environment.name) if tree else None) or ""

    def _proposals(
        self, item: EnvironmentBranches, record: StartRecord | None, tracked: tuple[str, ...]
    ) -> Iterator[PipelineProposal]:
        """Yield the pull requests to the environment's branch, and ours to its GitOps branches.

        Until schedule has run for the head of the environment's branch, ours may be outdated.
        """
        is_current = record is not None and record.kind == "scheduled"
        held = self._closed_to_tree(item, tracked).brief
        own_branch = item.environment.control_plane.branch
        for pull in self._read.control_plane.pull_requests:
            if pull.base == own_branch:
                yield PipelineProposal(
                    self._context.control_plane, pull, held=self._held(item, pull.head)
                )
        places = {(each.repository, each.branch): each for each in item.gitops}
        for (repository, branch), place in places.items():
            for pull in self._read.gitops[repository].pull_requests:
                if pull.base == branch and may_be_own_branch(pull.head, item.environment.name):
                    proposed = "" if is_current else self._proposed_commit(place, pull.head)
                    yield PipelineProposal(repository, pull, proposed, held)

    def _held(self, item: EnvironmentBranches, head: str) -> str:
        """Return why the policy keeps out what cd proposes from its branch; "" if it does not."""
        context, environment = self._context, item.environment
        is_of_cd = head == EnvironmentBranch(environment, "").own_name
        if not is_of_cd or self._closed(item, "").is_fulfilled:
            return ""
        try:
            files = context.repositories.open(context.url(context.control_plane), branch=head)
            base = read_base_file(files, environment.control_plane.path)
        except KalypsoError:  # somebody may have deleted the branch since
            return ""
        return self._closed(item, base.promoted_commit or "").brief

    def _proposed_commit(self, place: GitOpsBranch, head: str) -> str:
        """Return the commit of main that the tree of our branch names; "" if it cannot be read."""
        try:
            files = self._context.repositories.open(place.url, branch=head)
            tree = read_base_tree(files, head, place.folder)
        except KalypsoError:  # somebody may have deleted the branch since
            return ""
        return tracked_commit(tree.promoted_commit) or ""

    def _gitops(self, item: EnvironmentBranches) -> Iterator[GitOpsBranchEntry]:
        for place in item.gitops:
            head = self._read.gitops[place.repository].heads.get(place.branch)
            tree = self._read.trees.get(place)
            paths = manifest_entries(tree) if tree else ()
            yield GitOpsBranchEntry(
                repository=place.repository,
                branch=place.branch,
                commit=head.id if head else "",
                promoted_commit=self._tracked_commit(item, place),
                assignments=len(assignment_names(item.environment.name, paths)),
            )

    def _issues(self, item: EnvironmentBranches) -> Iterator[tuple[str, OpenIssue]]:
        """Yield the open issues about the environment."""
        for repository in dict.fromkeys(place.repository for place in item.gitops):
            for issue in self._read.gitops[repository].issues:
                if failure_issues.is_of_environment(issue.title, item.environment.name):
                    yield repository, issue


def _state(moment: EnvironmentMoment, clusters: dict[str, int] | None) -> StateEntry:
    """Return the state, e.g. `Deploying 4/8`: from reports, else as check-promote recorded it."""
    posted = moment.status
    text = moment.description
    numbers = moment.compliant
    if clusters:
        numbers = clusters.get("compliant", 0), sum(clusters.values())
    if numbers and moment.state is State.DEPLOYING:
        text += " {}/{}".format(*numbers)
    if posted is None:
        return StateEntry(text=text, state="")
    return StateEntry(
        text=text,
        state=posted.state,
        author=posted.author,
        at=posted.created_at,
        url=posted.target_url,
    )


def _waits(waits: Iterable[rules.Wait]) -> tuple[WaitEntry, ...]:
    return tuple(
        WaitEntry(waits_for=wait.waits_for, text=wait.text, url=wait.url) for wait in waits
    )


def _proposal(proposal: PipelineProposal) -> ProposalEntry:
    pull = proposal.pull_request
    return ProposalEntry(
        repository=proposal.repository,
        number=pull.number,
        title=pull.title,
        url=pull.url,
        author=pull.author,
        created_at=pull.created_at,
    )


INTERVAL: Final = 15.0
"""Seconds between two reads with --watch: an hour takes a tenth of a token's requests."""


def watch(
    inputs: StatusInputs, runtime: Runtime, show: Callable[[StatusDocument], None]
) -> NoReturn:
    """Show the pipeline until Ctrl-C; log a failure to read it, and try again."""
    while True:
        try:
            with open_context(inputs, runtime) as context:
                show(status(inputs, context))
        except KalypsoError as error:
            runtime.log(f"{error.problem.message}; looking again in {INTERVAL:.0f} s")
        runtime.sleep(INTERVAL)
