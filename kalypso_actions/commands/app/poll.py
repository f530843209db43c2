"""`kalypso app poll`: start an application's deployments and checks that are due.

    read → decide → writes → carry out → document

It compares what each environment should have with the records, so that a lost dispatch, a change of
the configs that nobody told, and a killed run cost time and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from kalypso_actions.clients.github import commits, statuses, workflows
from kalypso_actions.commands.app.environment import (
    ApplicationMoment,
    ApplicationPlaces,
    environment_names,
    read_moment,
)
from kalypso_actions.commands.shared.carry_out import Done, carry_out_each
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.gitops.proposal_decision import why_schedule
from kalypso_actions.inputs.app import AppPollInputs
from kalypso_actions.model.github import ActiveRun
from kalypso_actions.model.writes import StartWorkflow, Write
from kalypso_actions.promotion import lost_starts
from kalypso_actions.promotion.application import (
    ApplicationState,
    check_context,
    check_due,
    deploy_context,
    deploy_digest,
    deploy_due,
    state_of,
)
from kalypso_actions.promotion.lost_starts import Repair
from kalypso_actions.promotion.start_records import StartRecord, read_record
from kalypso_actions.promotion.starts import CHANGED, LOST, check_start, deploy_start, record_of
from kalypso_actions.report.application_document import AppPollDocument
from kalypso_actions.report.chain_document import StartEntry, poll_summary
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.pull_request import read_mark

UNTOLD: Final = "nobody has told the merge"


def app_poll(inputs: AppPollInputs, context: CommandContext) -> CommandResult:
    """Start an application's deployments and checks that are due, and repeat lost starts.

    An environment that cannot be read is a problem, and the others are repaired all the same.
    Raises KalypsoError if the source cannot be read, and UsageError for a run on another branch.
    """
    checked_start(context)
    places = ApplicationPlaces.of(inputs, context)
    repairs = ApplicationRepairs(inputs, context)
    writes: list[list[Write]] = []
    for name in environment_names(inputs.environments, places, context):
        try:
            writes.append([*repairs.of(read_moment(places, name, context))])
        except KalypsoError as error:
            repairs.problems += [
                replace(problem, message=f"environment {name}: {problem.message}")
                for problem in error.problems
            ]
    if inputs.dry_run:
        every = (write for of_environment in writes for write in of_environment)
        return dry_run_result("app poll", repairs.document(Done()), every, context)
    done = carry_out_each(writes, context, repairs.problems)
    document = repairs.document(done)
    summary = poll_summary(document, "app poll", "deploy")
    return CommandResult(document, summary, failed=bool(document.problems))


@dataclass(slots=True)
class ApplicationRepairs:
    """Decides on the starts of environments, and remembers them with their problems.

    It reads the unfinished runs of a workflow once, when a start is due.
    """

    inputs: AppPollInputs
    context: CommandContext
    starts: list[tuple[StartWorkflow, StartEntry]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _runs: dict[str, tuple[ActiveRun, ...]] = field(default_factory=dict)

    def of(self, moment: ApplicationMoment) -> Iterable[Write]:
        """Yield the writes that an environment needs. Raises KalypsoError."""
        yield from self._deploy(moment)
        yield from self._check(moment)

    def _deploy(self, moment: ApplicationMoment) -> Iterable[Write]:
        closed, _ = moment.earlier()
        commit = moment.wanted(closed)
        if not commit:
            return
        digest = deploy_digest(commit, moment.release(commit), moment.configs_head)
        record = moment.record(commit)
        now, repair_after = self.context.runtime.now(), self.inputs.repair_after
        repair = deploy_due(record, digest, now=now, repair_after=repair_after)
        reason = LOST if record and record.kind == "starting" else CHANGED
        if repair is None and record and record.kind == "scheduled":
            reason = _pull_request_reason(moment)
            repair = Repair(1) if reason else None
        if repair is None:
            return
        origin = record.subject if record and reason == LOST else digest
        start = deploy_start(
            self.context.control_plane,
            self.inputs.deploy_workflow,
            environment=moment.name,
            commit=commit,
            origin=origin,
            attempt=repair.attempt,
        )
        given_up = StartRecord("given up", origin)
        name = deploy_context(moment.name)
        yield from self._make("app-deploy", moment, commit, start, repair, reason, name, given_up)

    def _check(self, moment: ApplicationMoment) -> Iterable[Write]:
        """Yield the start of a check; the head of a branch without our records needs none."""
        named, head = moment.named, moment.branch.head
        if not moment.trees(named):
            return
        record = read_record(moment.status(named, check_context(moment.name)))
        merged = commits.get(self.context.github, moment.branch.repository, head)
        repair = check_due(
            record,
            head,
            merged_at=merged.committed_at,
            is_open=_is_open(moment),
            made=lambda: self._made(moment, named, head),
            now=self.context.runtime.now(),
            repair_after=self.inputs.repair_after,
        )
        if repair is None:
            return
        start = check_start(
            self.context.control_plane,
            self.inputs.check_workflow,
            environment=moment.name,
            commit=named,
            gitops_commit=head,
            attempt=repair.attempt,
        )
        reason = LOST if record and record.subject == head else UNTOLD
        given_up, name = StartRecord("given up", head), check_context(moment.name)
        yield from self._make("app-check", moment, named, start, repair, reason, name, given_up)

    def _made(self, moment: ApplicationMoment, commit: str, head: str) -> int:
        """Return how often check was started for a head, as the records tell."""
        name = check_context(moment.name).lower()
        posted = statuses.history(self.context.github, moment.places.source, commit)
        records = (read_record(each) for each in posted if each.context.lower() == name)
        return sum(
            record is not None and (record.kind, record.subject) == ("starting", head)
            for record in records
        )

    def _make(
        self,
        command: str,
        moment: ApplicationMoment,
        commit: str,
        start: StartWorkflow,
        repair: Repair,
        reason: str,
        status_context: str,
        given_up: StartRecord,
    ) -> Iterable[Write]:
        """Yield a start, unless a run of it is active; for attempt 0, give up."""
        workflow, source = start.workflow, self.context.control_plane
        if workflow not in self._runs:
            self._runs[workflow] = workflows.unfinished(self.context.github, source, workflow)
        facts = {"environment": moment.name}
        if any(
            lost_starts.may_be_run_of(each.title, command, facts) for each in self._runs[workflow]
        ):
            return
        if not repair.attempt:
            yield record_of(source, commit, status_context, given_up)
            self.problems.append(
                Problem(
                    f"environment {moment.name}: {lost_starts.MOST_ATTEMPTS} starts of {workflow} "
                    f"for {commit[:7]} came to nothing",
                    Location(self.context.url(source)),
                    "see why under Actions, correct that, and start the workflow by hand",
                )
            )
            return
        entry = StartEntry(
            workflow=workflow,
            environment=moment.name,
            commit=commit,
            attempt=repair.attempt,
            reason=reason,
            url="",
        )
        self.starts.append((start, entry))
        yield start

    def document(self, done: Done) -> AppPollDocument:
        """Return the document of the starts that are `done`."""
        pages = {id(start): page for start, page in done.pages}
        started = tuple(
            entry.model_copy(update={"url": pages[id(start)]})
            for start, entry in self.starts
            if id(start) in pages
        )
        deploys = (each for each in started if each.workflow == self.inputs.deploy_workflow)
        return AppPollDocument(
            environments=tuple(entry.environment for entry in deploys),
            started=started,
            problems=ProblemEntry.all_of(self.problems),
        )


def _is_open(moment: ApplicationMoment) -> bool:
    """Whether the head of the branch has no verdict: its commit, or its configs, are awaited."""
    awaited = {ApplicationState.PROMOTED, ApplicationState.DEPLOYING}
    state = state_of(moment.status(moment.named, moment.name))
    if state is None or state is ApplicationState.DEPLOYED:
        return state_of(moment.configuration_status()) in awaited
    return state in awaited


def _pull_request_reason(moment: ApplicationMoment) -> str:
    """Return why our open pull request needs deploy; "" if it does not."""
    pull = moment.pull
    if pull is None:
        return ""
    mark = read_mark(pull.body)
    reason = why_schedule(
        base_head=moment.branch.head,
        mergeable=pull.mergeable,
        merge_state=pull.merge_state,
        auto_merge=bool(mark and mark.auto_merge),
        tried=mark.tried if mark else None,
    )
    return f"{moment.branch.repository}#{pull.number} {reason}" if reason else ""
