"""`kalypso poll`: start schedule for changed inputs, and repeat lost starts.

    read → decide → writes → carry out → record → document

`Repairs` decides which starts an environment needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from kalypso_actions.clients.github import commits, pull_requests, statuses, workflows
from kalypso_actions.commands.shared.carry_out import Done, carry_out_each
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.environment_branch import (
    EnvironmentBranch,
    read_head,
    read_promotion,
)
from kalypso_actions.commands.shared.looks.recorder import Recorder
from kalypso_actions.commands.shared.policy_entry import (
    first_of_queue,
    policy_of,
    read_verdict,
    statuses_between,
)
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.commands.shared.schedule_sources import PresentInputs, read_inputs
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.gitops.proposal_decision import why_schedule
from kalypso_actions.inputs.chain import PollInputs
from kalypso_actions.model.github import ON_BRANCH, ActiveRun, CommitStatus
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.own_account import Identity
from kalypso_actions.model.writes import PostStatus, StartWorkflow, Write
from kalypso_actions.promotion import lost_starts, start_records
from kalypso_actions.promotion import statuses as table
from kalypso_actions.promotion.environments import FROM_CI, first_environments, previous_of
from kalypso_actions.promotion.policy import is_closed, policy_of_proposal
from kalypso_actions.promotion.start_records import Command, StartRecord
from kalypso_actions.promotion.starts import (
    ENTERS,
    LOST,
    cd_start,
    check_promote_start,
    may_repeat_cd,
    may_repeat_checks,
    next_schedule_start,
    record_of,
    schedule_start,
)
from kalypso_actions.report.chain_document import PollDocument, StartEntry, poll_summary
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.pull_request import read_mark

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
    done = carry_out_each(writes, context, repairs.problems)
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


Statuses = Mapping[str, Mapping[str, CommitStatus]]
"""The latest statuses of commits by context, in lower case; main's newest commit first."""


@dataclass(frozen=True, slots=True)
class Start:
    """A start to make, with the `record` to post on `commit` under `status_context`.

    `repository` is the GitOps repository, for check-promote.
    """

    command: Command
    environment: str
    commit: str
    status_context: str
    record: StartRecord
    reason: str = LOST
    repository: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """The values in the title of its run."""
        facts = {"environment": self.environment}
        if self.command == "cd":
            return {**facts, "commit": self.commit}
        if self.command == "check-promote":
            return {**facts, "commit": self.record.subject, "repository": self.repository}
        return facts


@dataclass(slots=True)
class Repairs:
    """Decides on the starts of environments; adds them to `starts`, and `problems`.

    `known` are all environments, `first` those for which ci starts cd. It reads the runs of a
    workflow once, when a start is due.
    """

    inputs: PollInputs
    context: CommandContext
    statuses: Statuses
    known: Mapping[str, Environment]
    first: frozenset[str]
    starts: list[tuple[StartWorkflow, StartEntry]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _runs: dict[str, tuple[ActiveRun, ...]] = field(default_factory=dict)

    def of(self, environment: PresentInputs) -> list[Write]:
        """Return all writes that an environment needs; a refusal of GitHub ends them."""
        writes: list[Write] = []
        try:
            self._schedule(environment, writes)
            for lost in self._lost_cd(environment, writes):
                if self._repeat(lost, writes):
                    break  # the newer commit replaces older ones
            self._start_waiting(environment, writes)
            for lost in self._lost_checks(environment, writes):
                self._repeat(lost, writes)
        except KalypsoError as error:
            self.problems += error.problems
        return writes

    def _schedule(self, environment: PresentInputs, writes: list[Write]) -> None:
        status_context = start_records.schedule_context(environment.name)
        record = self._record(environment.head, status_context)
        start = next_schedule_start(
            record,
            environment.digest,
            now=self.context.runtime.now(),
            repair_after=self.inputs.repair_after,
            pull_request_reason=partial(self._pull_request_reason, environment),
        )
        if start:
            repair, reason = start
            new = start_records.starting(environment.digest, repair.attempt, force=repair.force)
            name, head = environment.name, environment.head
            self._make(Start("schedule", name, head, status_context, new, reason), writes)

    def _pull_request_reason(self, environment: PresentInputs) -> str:
        """Return the reason why an open pull request of ours needs schedule; "" if none does."""
        for branch in environment.branches:
            for number in branch.own_pulls:
                pull = pull_requests.get(self.context.github, branch.repository, number)
                mark = read_mark(pull.body)
                reason = why_schedule(
                    base_head=branch.head,
                    mergeable=pull.mergeable,
                    merge_state=pull.merge_state,
                    auto_merge=bool(mark and mark.auto_merge),
                    tried=mark.tried if mark else None,
                )
                if reason:
                    return f"{branch.repository}#{pull.number} {reason}"
        return ""

    def _lost_cd(self, environment: PresentInputs, writes: list[Write]) -> Iterator[Start]:
        """Yield recorded starts of cd, main's newest commit first.

        A start is not needed if the environment has its commit or a later one.
        """
        status_context = start_records.cd_context(environment.name)
        for commit in self.statuses:
            record = self._record(commit, status_context)
            if record is None or record.kind != "starting":
                continue
            if not may_repeat_cd(
                environment.name, record.subject, first=self.first, known=self.known
            ):
                continue
            if self._has(environment, commit):
                self._replace(
                    commit, status_context, StartRecord("not needed", record.subject), writes
                )
                self._show_newer(environment, commit, writes)
            else:
                yield Start("cd", environment.name, commit, status_context, record)

    def _show_newer(self, environment: PresentInputs, commit: str, writes: list[Write]) -> None:
        """Replace the status of a commit whose cd never told its result."""
        name, newer = environment.name, environment.promoted_commit
        posted = table.posted_by_chain(self.statuses.get(commit, {}), self._identity())
        status = posted.get(table.context(name).lower())
        if status is None or table.has_begun(status) or newer is None:
            return
        shown = table.promoted(name) if newer == commit else table.superseded(name, newer)
        writes.append(PostStatus(self.context.control_plane, commit, shown, is_record=True))

    def _start_waiting(self, environment: PresentInputs, writes: list[Write]) -> None:
        """Start cd for a commit that waits, if the environment's policy lets it in now.

        Only an environment with a policy, or with a newer commit that waits, is read.
        """
        context, name = self.context, environment.name
        key = table.context(name).lower()
        url, promoted_commit = context.url(context.control_plane), environment.promoted_commit
        branch = EnvironmentBranch(self.known[name], url, environment.head, promoted_commit)
        policy = policy_of(branch, context)
        newest = (table.is_waiting(posted.get(key)) for posted in self.statuses.values())
        if not (policy.has_file or any(newest)):
            return
        if policy.has_file:
            self._post_policy(branch, writes)
        main = context.remotes.heads(branch.url, [context.main()])[context.main()]
        waiting = list(self._waiting(branch, main, writes))
        if policy.policy and policy.policy.queue == "oldest":
            queue = [(start.commit, posted) for start, posted in waiting]
            first = first_of_queue(queue, policy.policy, self.known, context)
            waiting = [each for each in waiting if each[0].commit == first]
        for start, _ in waiting:
            verdict = read_verdict(policy, branch, start.commit, self.known, context)
            if verdict.is_fulfilled:
                self._make(start, writes)
                return
            if is_closed(policy.policy, verdict):
                return

    def _waiting(
        self, branch: EnvironmentBranch, main: str, writes: list[Write]
    ) -> Iterator[tuple[Start, Mapping[str, CommitStatus]]]:
        """Yield the start of cd, and the statuses, for each commit that waits, the newest first.

        A start that was recorded is expected, or repeated: then nothing else is started.
        """
        name = branch.environment.name
        key, status_context = table.context(name).lower(), start_records.cd_context(name)
        ancestry, starts = self.context.remotes.ancestry(branch.url, main), []
        for commit, own in statuses_between(branch, main, self.context, with_last=True):
            if not table.is_waiting(own.get(key)):
                continue
            record = start_records.read_record(own.get(status_context.lower()))
            if record and record.kind == "starting":
                lost = Start("cd", name, commit, status_context, record)
                if commit in self.statuses or self._repeat(lost, writes):
                    return
            origin = record.subject if record else self._origin(name, commit, ancestry)
            if may_repeat_cd(name, origin, first=self.first, known=self.known):
                new = start_records.starting(origin)
                starts.append((Start("cd", name, commit, status_context, new, ENTERS), own))
        yield from starts

    def _origin(self, name: str, commit: str, main: Ancestry) -> str:
        """Return where a commit that waits comes from; only a person's start has no record.

        That is ci for a first environment, else an environment that has the commit: cd checks it.
        Return "" if none has it: then the person must start cd once more.
        """
        if name in self.first:
            return FROM_CI
        for each in previous_of(name, self.known) or self.known:
            present = read_head(self.known[each], self.context).promoted_commit
            if each != name and present in main and main.contains(present or "", commit):
                return each
        return ""

    def _post_policy(self, branch: EnvironmentBranch, writes: list[Write]) -> None:
        """Post on our open pull request whether the policy would let its commit in now."""
        context = self.context
        branch = read_promotion(branch, context, proposals=True)
        proposed = branch.proposal
        if proposed and proposed.pull and proposed.promoted_commit:
            commit = proposed.promoted_commit
            policy = policy_of(branch, context)  # the branch may have moved
            verdict = read_verdict(policy, branch, commit, self.known, context)
            status = policy_of_proposal(verdict.description)
            writes.append(PostStatus(context.control_plane, branch.own_head, status))

    def _lost_checks(self, environment: PresentInputs, writes: list[Write]) -> Iterator[Start]:
        """Yield recorded starts of check-promote; none while people have to act."""
        status_context = start_records.schedule_context(environment.name)
        scheduled = self._record(environment.head, status_context)
        has_open_pull_request = environment.has_open_pull_request
        if not may_repeat_checks(scheduled, has_open_pull_request=has_open_pull_request):
            return
        name = environment.name
        for repository in dict.fromkeys(branch.repository for branch in environment.branches):
            status_context = start_records.check_promote_context(name, repository)
            for commit, recorded in self.statuses.items():
                record = self._record(commit, status_context)
                if record is None or record.kind != "starting" or not is_commit_id(record.subject):
                    continue
                own = table.posted_by_chain(recorded, self._identity())
                if table.has_ended(own.get(table.context(name).lower())):
                    not_needed = StartRecord("not needed", record.subject)
                    self._replace(commit, status_context, not_needed, writes)
                else:
                    start = Start("check-promote", name, commit, status_context, record)
                    yield replace(start, repository=repository)

    def _repeat(self, lost: Start, writes: list[Write]) -> bool:
        """Repeat a recorded start if it is overdue; return whether a run is expected."""
        repair = lost_starts.overdue(
            lost.record, now=self.context.runtime.now(), repair_after=self.inputs.repair_after
        )
        if repair is None:
            return True
        record = replace(lost.record, attempt=repair.attempt, since=None)
        return self._make(replace(lost, record=record), writes)

    def _make(self, start: Start, writes: list[Write]) -> bool:
        """Make a start unless a run of it is active; for attempt 0, give up and return False."""
        workflow = {
            "cd": self.inputs.cd_workflow,
            "check-promote": self.inputs.check_promote_workflow,
            "schedule": self.inputs.schedule_workflow,
        }[start.command]
        if workflow not in self._runs:
            self._runs[workflow] = workflows.unfinished(
                self.context.github, self.context.control_plane, workflow
            )
        if any(
            lost_starts.may_be_run_of(run.title, start.command, start.facts)
            for run in self._runs[workflow]
        ):
            return True
        if not start.record.attempt:
            self._give_up(start, workflow, writes)
            return False
        write = self._start(start, workflow)
        entry = StartEntry(
            workflow=workflow,
            environment=start.environment,
            commit="" if start.command == "schedule" else start.commit,
            attempt=start.record.attempt,
            reason=start.reason,
            url="",
        )
        self.starts.append((write, entry))
        writes.append(write)
        return True

    def _start(self, start: Start, workflow: str) -> StartWorkflow:
        attempt, control_plane = start.record.attempt, self.context.control_plane
        match start.command:
            case "cd":
                return cd_start(
                    control_plane,
                    workflow,
                    environment=start.environment,
                    promoted_commit=start.commit,
                    promoted_from=start.record.subject,
                    attempt=attempt,
                )
            case "check-promote":
                return check_promote_start(
                    control_plane,
                    workflow,
                    environment=start.environment,
                    promoted_commit=start.commit,
                    gitops_commit=start.record.subject,
                    repository=start.repository,
                    attempt=attempt,
                )
            case "schedule":
                return schedule_start(
                    control_plane,
                    workflow,
                    environment=start.environment,
                    environment_commit=start.commit,
                    digest=start.record.subject,
                    attempt=attempt,
                    force=start.record.force,
                )

    def _give_up(self, start: Start, workflow: str, writes: list[Write]) -> None:
        given_up = StartRecord("given up", start.record.subject)
        self._replace(start.commit, start.status_context, given_up, writes)
        message = (
            f"environment {start.environment}: {lost_starts.MOST_ATTEMPTS} starts of {workflow} "
            f"for {start.commit[:7]} came to nothing"
        )
        where = Location(self.context.url(self.context.control_plane))
        advice = "see why under Actions, correct that, and start the workflow by hand"
        self.problems.append(Problem(message, where, advice))

    def _replace(
        self, commit: str, status_context: str, record: StartRecord, writes: list[Write]
    ) -> None:
        """Replace the record of a start."""
        writes.append(record_of(self.context.control_plane, commit, status_context, record))

    def _record(self, commit: str, status_context: str) -> StartRecord | None:
        status = self.statuses.get(commit, {}).get(status_context.lower())
        return start_records.trusted_record(status, self._identity())

    def _identity(self) -> Identity:
        return self.context.github.identity(self.context.control_plane)

    def _has(self, environment: PresentInputs, commit: str) -> bool:
        """Whether the environment has a commit of main, or a later one."""
        context, promoted_commit = self.context, environment.promoted_commit
        if promoted_commit is None:
            return False
        relation = commits.relation(context.github, context.control_plane, commit, promoted_commit)
        return relation in ON_BRANCH
